"""What must not change, or change only so, when the question changes a little."""

import json
from copy import deepcopy

from hypothesis import given
from hypothesis import strategies as st

from shortlist.engine.replay import replay
from shortlist.intake.files import registry_from_documents
from shortlist.model.times import format_time, parse_time
from tests.strategies import (
    COMBINES,
    ORDINAL_POLICIES,
    VOCABULARY,
    WINDOW_POLICIES,
    drawn,
    maybe,
    policy,
    publication_lines,
    registries,
    subset,
    where,
)

LINEAR_SCORES = ["price", "-price", "size", "price + 2 * size", "price / 4", "-distance(price: 3)"]


def subscription(pick):
    """The fields of a single subscription that may match and score in many ways."""
    condition = where(pick)[0] if pick([False, True]) else None
    fields = {"id": "sub", "score": pick(LINEAR_SCORES)}
    return fields if condition is None else {**fields, "where": condition}


subscriptions = drawn(subscription)


def deliveries(document, lines):
    if "subscriptions" not in document:
        document = {"vocabulary": VOCABULARY, "subscriptions": [document]}
    return replay(registry_from_documents(document), lines).deliveries


def facts(made, *left_out):
    """A delivery as a file has it, without some of its fields."""
    return [
        {name: value for name, value in delivery.document().items() if name not in left_out}
        for delivery in made
    ]


def without_end(lines):
    documents = map(json.loads, lines)
    return [
        json.dumps({name: value for name, value in document.items() if name != "expirytime"})
        for document in documents
    ]


@given(subscriptions(), publication_lines(), st.integers(1, 4))
def test_a_window_without_end_is_top_k_without_expiry(fields, lines, k):
    """Where nothing ever leaves, the two are one: whoever has k better ones before it has k better
    *delivered* ones before it, since each of those was delivered or had k better ones itself."""
    lines = without_end(lines)
    window = {**fields, "policy": {"kind": "window", "k": k, "window": None}}
    top_k = {**fields, "policy": {"kind": "top-k", "k": k}}
    assert deliveries(window, lines) == deliveries(top_k, lines)


@given(subscriptions(), publication_lines(), st.sampled_from(["2s", "1h", 3, None]))
def test_a_window_that_fits_into_k_delivers_everything(fields, lines, size):
    window = {**fields, "policy": {"kind": "window", "k": len(lines) + 1, "window": size}}
    found = deliveries(window, lines)
    assert facts(found, "rank") == facts(deliveries(fields, lines), "rank")
    assert all(made.rank is not None for made in found)


@given(subscriptions(), publication_lines())
def test_top_k_with_room_for_all_delivers_everything(fields, lines):
    top_k = {**fields, "policy": {"kind": "top-k", "k": len(lines) + 1}}
    assert facts(deliveries(top_k, lines), "rank") == facts(deliveries(fields, lines), "rank")


@given(
    subscriptions(),
    publication_lines(),
    st.sampled_from(
        [
            {"kind": "top-k", "k": 1},
            {"kind": "window", "k": 1, "window": "2s"},
            {"kind": "window", "k": 1, "window": 3},
            {"kind": "window", "k": 1, "window": None},
        ]
    ),
)
def test_a_boolean_subscription_is_one_of_equal_scores_with_k_1(fields, lines, bounded):
    """As all scores are equal the newest always wins; what does not match is never delivered."""
    boolean = {**fields, "score": 1}
    found = deliveries({**boolean, "policy": bounded}, lines)
    assert facts(found, "rank") == facts(deliveries(boolean, lines), "rank")
    assert {made.rank for made in found} <= {1}


@given(subscriptions(), publication_lines(), st.integers(1, 3))
def test_a_larger_k_only_adds_at_arrival(fields, lines, k):
    """With top-k, whoever enters among k enters among k + 1, where nothing leaves."""
    lines = without_end(lines)
    few, more = (
        {made.publication.position for made in deliveries({**fields, "policy": made}, lines)}
        for made in ({"kind": "top-k", "k": k}, {"kind": "top-k", "k": k + 1})
    )
    assert few <= more


@given(subscriptions(), publication_lines(), drawn(policy)())
def test_what_lets_everything_through_changes_no_chain(fields, lines, chosen):
    """Only who comes last gives ranks."""
    alone = deliveries({**fields, "policy": chosen}, lines)
    policies = chosen if isinstance(chosen, list) else [chosen]
    everything = {"kind": "everything"}
    for before in (policies, [everything, *policies]):
        assert facts(deliveries({**fields, "policy": before}, lines)) == facts(alone)
    behind = deliveries({**fields, "policy": [*policies, everything]}, lines)
    assert facts(behind, "rank") == facts(alone, "rank")
    assert all(made.rank is None for made in behind)


@given(subscriptions(), publication_lines(), st.sampled_from(WINDOW_POLICIES))
def test_fresh_for_ever_is_a_window(fields, lines, window):
    positive = {**fields, "score": f"abs({fields['score']}) + 1"}
    fresh = {**window, "kind": "fresh", "half_life": "1000000000d"}
    found = deliveries({**positive, "policy": fresh}, lines)
    assert facts(found) == facts(deliveries({**positive, "policy": window}, lines))


@given(subscriptions(), publication_lines(), st.sampled_from(WINDOW_POLICIES))
def test_diverse_where_all_differ_and_only_scores_count_is_a_window(fields, lines, window):
    over = {"event.id": None, "event.source": None}
    diverse = {**window, "kind": "diverse", "over": over, "weight": 0}
    found = deliveries({**fields, "policy": diverse}, lines)
    assert facts(found) == facts(deliveries({**fields, "policy": window}, lines))


def scored_registry(pick, affine):
    """Several scored subscriptions in shortlists of every kind that scores only order."""
    combines = [how for how in COMBINES if how != "sum"] if affine else COMBINES
    shortlists = [
        {
            "id": name,
            "subscriber": "u",
            "policy": policy(pick, ORDINAL_POLICIES),
            "combine": pick(combines),
        }
        for name in subset(pick, ["A", "B"])
    ]
    members = [
        {
            **subscription(pick),
            "id": f"{made['id']}.{letter}",
            "shortlist": made["id"],
            "weight": pick([1, 2, 0.5]),
        }
        for made in shortlists
        for letter in subset(pick, "pqr")
    ]
    advertisement = maybe(pick, [{"id": "ad", "source": "a", "k": 1}])
    return {
        "vocabulary": VOCABULARY,
        "shortlists": shortlists,
        "subscriptions": members,
        "advertisements": [] if advertisement is None else [advertisement],
    }


def rescored(document, text):
    changed = deepcopy(document)
    for made in changed["subscriptions"]:
        made["score"] = text.format(made["score"])
    return changed


def is_novelty(document, shortlist):
    kinds = {made["id"]: made["policy"]["kind"] for made in document["shortlists"]}
    return kinds[shortlist] == "novelty"


@given(
    drawn(scored_registry)(affine=True), publication_lines(), st.sampled_from([(4, -8), (0.5, 16)])
)
def test_scores_may_be_shifted_and_scaled(document, lines, change):
    """Factors and values are dyadic, so that rounding adds no ties and takes none away."""
    factor, offset = change
    plain = deliveries(document, lines)
    changed = deliveries(rescored(document, f"{factor} * ({{}}) + {offset}"), lines)
    assert facts(changed, "score") == facts(plain, "score")
    for one, other in zip(plain, changed, strict=True):
        if is_novelty(document, one.shortlist):
            assert other.score == one.score
        else:
            assert abs(other.score - (factor * one.score + offset)) < 1e-8


@given(drawn(scored_registry)(affine=False), publication_lines(), st.sampled_from([4, 0.5]))
def test_scores_may_be_scaled_under_every_combination(document, lines, factor):
    plain = deliveries(document, lines)
    changed = deliveries(rescored(document, f"{factor} * ({{}})"), lines)
    assert facts(changed, "score") == facts(plain, "score")


@given(registries(), publication_lines())
def test_what_is_dead_on_arrival_changes_nothing(document, lines):
    """Not even a count of novelty; only its own id is taken."""
    expected = facts(deliveries(document, lines))
    found = []
    for number, line in enumerate(lines):
        living = json.loads(line)
        dead = {**living, "id": f"dead {number}", "expirytime": living["time"]}
        found += [json.dumps(dead), line]
    assert facts(deliveries(document, found)) == expected


@given(registries(advertised=False), publication_lines())
def test_another_shortlist_changes_nothing_for_the_others(document, lines):
    one_more = deepcopy(document)
    one_more["subscriptions"].append({"id": "one more", "score": "price"})
    others = [made for made in deliveries(one_more, lines) if made.shortlist != "one more"]
    assert others == deliveries(document, lines)


@given(registries(), publication_lines())
def test_a_subscription_that_never_matches_changes_nothing(document, lines):
    one_more = deepcopy(document)
    for made in document["shortlists"]:
        one_more["subscriptions"].append(
            {"id": f"{made['id']} never", "shortlist": made["id"], "where": "event.id = 'nobody'"}
        )
    assert deliveries(one_more, lines) == deliveries(document, lines)


def without_calendars(policy):
    if isinstance(policy, list):
        return [without_calendars(each) for each in policy]
    return {"kind": "everything"} if policy["kind"] in ("digest", "quiet", "cap") else policy


@given(registries(), publication_lines(), st.sampled_from([70, 35_000, 86_450_000]))
def test_time_may_start_later(document, lines, seconds):
    """By whole periods of every policy that does not go by a calendar, and for conditions that do
    not ask for the time."""
    timeless = deepcopy(document)
    for made in [*timeless["shortlists"], *timeless["subscriptions"]]:
        if "policy" in made:
            made["policy"] = without_calendars(made["policy"])
    for made in [*timeless["subscriptions"], *timeless["advertisements"]]:
        if "event.time" in made.get("where", ""):
            made.pop("where")
            made.pop("norm", None)

    def later(text):
        return format_time(parse_time(text) + seconds * 1_000_000)

    moved = []
    for line in lines:
        fields = json.loads(line)
        for name in ("time", "expirytime"):
            if name in fields:
                fields[name] = later(fields[name])
        moved.append(json.dumps(fields))
    expected = facts(deliveries(timeless, lines))
    for made in expected:
        made["time"] = later(made["time"])
    assert facts(deliveries(timeless, moved)) == expected
