"""Publications that are taken back or replaced, subscriptions and shortlists that change."""

import pytest

from shortlist.intake.documents import ADAPTERS, POLICY
from shortlist.intake.files import registry_from_documents
from shortlist.model.command import Subscribe, Unsubscribe, Update
from shortlist.model.policy_changes import kept_by
from shortlist.model.publication import Publication
from shortlist.model.settings import Settings
from shortlist.model.subscription import Subscription
from tests.engine.stories import SECOND, command, entries, names, publish, told
from tests.engine.test_bulk import everything_of, in_bulk, plain
from tests.strategies import (
    CHAINS,
    DIVERSE_POLICIES,
    FRESH_POLICIES,
    NOVELTY_POLICIES,
    TOP_K_POLICIES,
    WINDOW_POLICIES,
    cuts,
    seeded,
    seeds,
)

WINDOW = {"score": "x", "policy": {"kind": "window", "k": 1, "window": "10s"}}
TOP_1 = {"score": "x", "policy": {"kind": "top-k", "k": 1}}


def retract(name, seconds, source="s"):
    return command("retract", seconds, {"source": source, "id": name})


def test_a_place_that_is_given_up_is_filled_at_that_instant():
    story = [publish("a", 0, x=9), publish("b", 1, x=5), retract("a", 2)]
    assert entries(told(WINDOW, story)) == [("a", 0, 1, "arrival"), ("b", 2, 1, "promotion")]


def test_what_is_unknown_or_gone_can_be_taken_back():
    story = [
        retract("a", 0),
        publish("a", 1, x=9),
        retract("a", 2, source="t"),
        publish("b", 3, x=5),
        retract("a", 11),
        retract("a", 12),
    ]
    result = told(WINDOW, story)
    assert entries(result) == [("a", 1, 1, "arrival"), ("b", 11, 1, "promotion")]
    assert result.rejects == []


def test_what_waits_for_a_place_does_not_get_it_once_it_is_taken_back():
    story = [publish("a", 0, x=9), publish("b", 1, x=5), retract("b", 2), publish("c", 20, x=1)]
    assert names(told(WINDOW, story)) == ["a", "c"]


def test_what_is_taken_back_is_not_delivered_at_that_very_instant():
    story = [publish("a", 0, x=9), publish("b", 1, x=5), publish("c", 2, x=4), retract("b", 10)]
    assert entries(told(WINDOW, story))[1:] == [("c", 10, 1, "promotion")]


def test_an_id_that_was_taken_back_is_not_free():
    story = [publish("a", 0, x=9), retract("a", 1), publish("a", 2, x=9)]
    result = told(WINDOW, story)
    assert names(result) == ["a"]
    assert [reject.reason for reject in result.rejects] == ["duplicate"]


def test_a_top_k_forgets_what_is_taken_back():
    story = [publish("a", 0, x=9), publish("b", 1, x=5), retract("a", 2), publish("c", 3, x=1)]
    assert names(told(TOP_1, story)) == ["a", "c"]


def test_what_was_outlasted_does_not_count_again():
    """Nobody keeps it: with k better ones that end no earlier it could not matter."""
    story = [publish("a", 0, x=5), publish("b", 1, x=9), retract("b", 2), publish("c", 3, x=1)]
    assert names(told(TOP_1, story)) == ["a", "b", "c"]


def test_what_is_taken_back_still_counts_in_a_count_window():
    counted = {"score": "x", "policy": {"kind": "window", "k": 1, "window": 2}}
    story = [publish("a", 0, x=9), publish("b", 1, x=5), retract("b", 2), publish("c", 3, x=1)]
    assert entries(told(counted, story))[1:] == [("c", 3, 1, "arrival")]


def test_novelty_and_everything_take_no_notice():
    for policy in ({"kind": "everything"}, {"kind": "novelty", "rate": 0.5, "period": 4}):
        story = [publish(name, second) for second, name in enumerate("abcdefgh")]
        expected = entries(told({"policy": policy}, story))
        taken_back = [item for each in story for item in (each, retract(each["id"], 9))]
        assert entries(told({"policy": policy}, taken_back)) == expected


def test_every_policy_of_a_chain_hears_of_it():
    chain = [
        {"kind": "window", "k": 2, "window": "10s"},
        {"kind": "window", "k": 1, "window": "5s"},
    ]
    story = [publish("a", 0, x=9), publish("b", 1, x=5), retract("a", 2)]
    assert entries(told({"score": "x", "policy": chain}, story)) == [
        ("a", 0, 1, "arrival"),
        ("b", 2, 1, "promotion"),
    ]


def test_a_replacement_takes_the_place_itself():
    """The old one leaves and the new one comes in one step: nobody slips in between."""
    story = [publish("a", 0, x=9), publish("b", 1, x=5)]
    better = [*story, publish("a2", 2, x=8) | {"replaces": "a"}]
    assert entries(told(WINDOW, better))[1:] == [("a2", 2, 1, "arrival")]
    worse = [*story, publish("a2", 2, x=1) | {"replaces": "a"}]
    assert entries(told(WINDOW, worse))[1:] == [
        ("b", 2, 1, "promotion"),
        ("a2", 11, 1, "promotion"),
    ]


def test_a_replacement_that_does_not_match_leaves_a_place():
    only = {**WINDOW, "where": "x > 4"}
    story = [publish("a", 0, x=9), publish("b", 1, x=5)]
    story.append(publish("a2", 2, x=1) | {"replaces": "a"})
    assert entries(told(only, story))[1:] == [("b", 2, 1, "promotion")]


def test_who_replaces():
    """Not who is turned away, nor somebody of another source; but who is dead on arrival."""
    top_1 = [publish("a", 0, x=9), publish("b", 1, x=1)]
    replacements = {
        "another source": publish("c", 2, source="t", x=2),
        "duplicate": publish("b", 2, x=2),
        "dead on arrival": publish("c", 2, ends=2, x=2),
        "unmatched": publish("c", 2),
    }
    for why, replacement in replacements.items():
        story = [*top_1, replacement | {"replaces": "a"}, publish("d", 3, x=1)]
        is_replaced = "d" in names(told(TOP_1, story))
        assert is_replaced == (why in ("dead on arrival", "unmatched")), why


def test_an_update_counts_for_what_comes_later():
    story = [
        publish("a", 0, x=9),
        publish("b", 1, x=5),
        command("update", 2, {"subscription": "sub", "where": "x < 3", "score": "10 * x"}),
        publish("c", 3, x=4),
        publish("d", 4, x=1),
    ]
    assert [(made.publication.id, made.score) for made in told(WINDOW, story).deliveries] == [
        ("a", 9.0),
        ("d", 10.0),
    ]


def test_a_smaller_k_keeps_what_is_held():
    wide = {"score": "x", "policy": {"kind": "window", "k": 2, "window": "10s"}}
    narrow = {"kind": "window", "k": 1, "window": "10s"}
    story = [
        publish("a", 0, x=9),
        publish("b", 1, x=5),
        publish("c", 2, x=4),
        command("update", 3, {"shortlist": "sub", "policy": narrow}),
        publish("d", 4, x=8),
    ]
    assert entries(told(wide, story)) == [
        ("a", 0, 1, "arrival"),
        ("b", 1, 2, "arrival"),
        ("d", 10, 1, "promotion"),
    ]


def test_a_larger_k_starts_over():
    story = [
        publish("a", 0, x=9),
        publish("b", 1, x=5),
        command("update", 10, {"shortlist": "sub", "policy": {**WINDOW["policy"], "k": 2}}),
        publish("c", 10, x=1),
        publish("d", 11, x=0),
    ]
    assert entries(told(WINDOW, story)) == [
        ("a", 0, 1, "arrival"),
        ("b", 10, 1, "promotion"),
        ("c", 10, 1, "arrival"),
        ("d", 11, 2, "arrival"),
    ]


def test_a_subscriber_changes_for_later_deliveries_only():
    story = [
        publish("a", 0, x=9),
        publish("b", 1, x=5),
        command("update", 10, {"subscription": "sub", "subscriber": "new"}),
        publish("c", 12, x=1),
    ]
    subscribers = [made.subscriber for made in told(WINDOW, story).deliveries]
    assert subscribers == ["sub", "sub", "new"]


KEEPING = [
    *TOP_K_POLICIES,
    *WINDOW_POLICIES,
    *FRESH_POLICIES,
    *DIVERSE_POLICIES,
    *NOVELTY_POLICIES[:4],
]


def changed(pick, policy):
    """A policy that keeps what the other one holds."""
    if isinstance(policy, list):
        return [changed(pick, each) for each in policy]
    after = dict(policy)
    if "k" in policy:
        after["k"] = pick(range(1, policy["k"] + 1))
    if policy["kind"] == "top-k":
        after["refresh"], after["period"] = pick([None, "1s", "4s"]), pick([None, "3s"])
    return after


def drawn_items(pick, policy):
    """Publications, retractions and updates that keep what a shortlist holds."""
    time, items = 0, []
    for position in range(pick(range(40))):
        time += int(pick([0, 0, 0.5, 1, 2]) * SECOND)
        if pick([False] * 5 + [True]):
            policy = changed(pick, policy)
            changes = {"policy": policy}
            if pick([False, True]):
                changes["refresh"] = pick(["1s", "3s", None])
            update = {"kind": "subscription", "id": "s", "changes": changes}
            items.append(Update(time=time, position=position, **update))
            continue
        items.append(
            Publication(
                id=f"p{position}",
                source="s",
                time=time,
                position=position,
                expiry=pick([None, None, time + 3 * SECOND]),
                replaces=pick([None, None, None, f"p{max(0, position - pick(range(1, 6)))}"]),
                data={"x": pick(range(6)), "price": pick(range(4)), "mood": pick("abc")},
            )
        )
    return items


@pytest.mark.parametrize("policies", [KEEPING, CHAINS], ids=["single", "chains"])
def test_policies_that_change_and_keep_equal_the_plain_ones(policies):
    for seed in seeds(12):
        pick = seeded(seed)
        policy = pick(policies)
        subscription = {"id": "s", "score": "x", "policy": policy}
        made = registry_from_documents({"subscriptions": [subscription]})
        items, settings = drawn_items(pick, policy), Settings(lateness=0)
        found = in_bulk(
            made,
            settings,
            cuts(pick, items),
            saved=lambda number, pick=pick: pick([False, False, True]),
        )
        assert everything_of(found) == everything_of(plain(made, settings, items)), seed


def many_that_change(pick, wishes):
    """Publications, and commands of many shortlists between them: each starts over, goes on, or
    has nothing to change, ends, and may begin again."""
    time, items, live = 0, [], dict(wishes)
    for position in range(60):
        time += int(pick([0, 0.5, 1]) * SECOND)
        place, name = {"time": time, "position": position}, pick([*wishes])
        event = pick(["publish"] * 3 + ["update", "update", "unsubscribe"])
        if event == "publish":
            data = {"x": pick(range(6)), "price": pick(range(4)), "mood": pick("abc")}
            items.append(Publication(id=f"p{position}", source="s", data=data, **place))
        elif name not in live:
            live[name] = wishes[name]
            items.append(
                Subscribe(subscription=ADAPTERS[Subscription].validate_python(live[name]), **place)
            )
        elif event == "unsubscribe":
            del live[name]
            items.append(Unsubscribe(subscription=name, **place))
        else:
            other = pick([changed(pick, live[name]["policy"]), pick([*KEEPING, *CHAINS])])
            changes = pick([{"where": "x > 1"}, {"policy": other}, {"subscriber": f"of {time}"}])
            live[name] = live[name] | changes
            items.append(Update(kind="subscription", id=name, changes=changes, **place))
    return items


def test_many_that_change_come_and_go_together_equal_the_plain_ones():
    for seed in seeds(12):
        pick = seeded(seed)
        policies = [pick([*KEEPING, *CHAINS]) for _ in range(8)]
        wishes = {
            f"s{n}": {"id": f"s{n}", "score": "x", "policy": policy}
            for n, policy in enumerate(policies)
        }
        made = registry_from_documents({"subscriptions": [*wishes.values()]})
        items, settings = many_that_change(pick, wishes), Settings(lateness=0)
        found = in_bulk(made, settings, [items], saved=lambda number: False)
        assert everything_of(found) == everything_of(plain(made, settings, items)), seed
        assert found.rejects == []


def test_what_is_drawn_to_keep_keeps():
    for seed in range(60):
        pick = seeded(seed)
        before = pick([*KEEPING, *CHAINS])
        after = changed(pick, before)
        assert kept_by(POLICY.validate_python(before), POLICY.validate_python(after))
