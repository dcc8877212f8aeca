"""What leaves shortlists: a client that hears of it has what they show, at every instant."""

import json

import pytest

from shortlist.engine.contents import Return, content
from shortlist.engine.replay import read_items
from shortlist.intake.files import registry_from_documents
from shortlist.model.settings import Settings
from shortlist.model.times import parse_time
from tests.defining import defining_documents, defining_registry, lines_of
from tests.engine.mirrors import (
    PlainReflection,
    Reflection,
    facts,
    key_of,
    showing_in,
    ticks,
)
from tests.engine.stories import command, publish
from tests.strategies import SECOND, registry, seeded, seeds, timeline


def told(change):
    """A change as the plain reflection tells it."""
    if isinstance(change, Return):
        key = key_of(change.entry.publication)
        return change.time, change.shortlist, key, facts(change.entry)
    return change.time, change.shortlist, key_of(change.publication), change.reason


def kept_by_client(client):
    return {name: set(shown) for name, shown in client.items() if shown}


def shown_by(halves, now):
    shown = {
        name: {
            key_of(entry.publication) for entry in content(halves, name, now) if not entry.waiting
        }
        for name in showing_in(halves)
    }
    return {name: some for name, some in shown.items() if some}


def follow(seed, drawn_registry=registry, drawn_timeline=timeline):
    """A client that hears of all changes of a drawn timeline, beside a plain one."""
    pick = seeded(seed)
    made = registry_from_documents(drawn_registry(pick))
    items, _ = read_items(made, drawn_timeline(pick, 60), Settings())
    reflection, expected = Reflection(made), PlainReflection(made)
    for time, some in ticks(items):
        if pick([False] * 20 + [True]):
            reflection.restore(time)
        reflection.play(time, some)
        expected.play(time, some)
        assert kept_by_client(reflection.client) == shown_by(reflection.shard, time)
        assert [*map(told, reflection.changes)] == expected.changes, (seed, time)


@pytest.mark.parametrize("part", range(4))
def test_a_client_has_what_is_shown(part):
    for seed in seeds(12)[part::4]:
        follow(seed)


def test_terms_that_are_defined_take_nothing_away():
    for seed in seeds(6):
        follow(seed, defining_registry, lambda pick, most: lines_of(defining_documents(pick, most)))


def items_of(made, story):
    items, problems = read_items(made, [json.dumps(line) for line in story], Settings())
    assert not problems
    return items


def changes(made, story):
    reflection = Reflection(made)
    for time, some in ticks(items_of(made, story)):
        reflection.play(time, some)
    return reflection.changes


WINDOW = {"kind": "window", "k": 1, "window": "5s"}
ONE = [{"id": "s", "shortlist": "home", "score": "fit"}]


def reasons(policy, story, subscriptions=ONE):
    """What leaves or returns to the one shortlist of a story, and when, in seconds."""
    home = {"id": "home", "subscriber": "you", "policy": policy}
    made = registry_from_documents({"shortlists": [home], "subscriptions": subscriptions})
    documents = [change.document() for change in changes(made, story)]
    return [
        (parse_time(each["time"]) / SECOND, each["publication"], each["reason"])
        for each in documents
    ]


def test_one_that_returns():
    story = [publish("a", 0, fit=5), publish("b", 1, fit=9, ends=3)]
    assert reasons(WINDOW, story) == [
        (1, "a", "outranked"),
        (3, "a", "returned"),
        (3, "b", "expired"),
        (5, "a", "window"),
    ]


def test_delivered_and_outranked_at_one_instant():
    story = [publish("a", 0, fit=5), publish("b", 0, fit=9)]
    assert reasons(WINDOW, story) == [(0, "a", "outranked"), (5, "b", "window")]


def test_outranked_and_back_at_one_instant_is_nothing():
    two = [{"id": name, "shortlist": "home", "score": name} for name in "xy"]
    story = [publish("a", 0, x=5), publish("b", 1, y=9), command("unsubscribe", 1, "y")]
    assert reasons(WINDOW, story, subscriptions=two) == [(1, "b", "cancelled"), (5, "a", "window")]


def test_pushed_out_of_a_count_window():
    window = {"kind": "window", "k": 2, "window": 4}
    fits = {"x": 9, "y": 5, "z": 7, "u": 1, "v": 1}
    story = [publish(name, n, fit=fit) for n, (name, fit) in enumerate(fits.items())]
    assert reasons(window, story) == [
        (2, "y", "outranked"),
        (4, "x", "window"),
        (4, "y", "returned"),
    ]


def test_equal_scores_in_top_k_show_what_is_valid_longest():
    best = {"kind": "top-k", "k": 1}
    story = [publish("a", 0, fit=5, ends=9), publish("b", 1, fit=5, ends=4)]
    assert reasons(best, story) == [(1, "b", "outranked"), (9, "a", "expired")]


def test_documents():
    made = registry_from_documents(
        {"subscriptions": [{"id": "s", "score": "fit", "policy": WINDOW}]}
    )
    story = [publish("a", 0, fit=5), publish("b", 1, fit=9, ends=3)]
    left, returned, *_ = changes(made, story)
    assert left.document() == {
        "time": "1970-01-01T00:00:01.000Z",
        "shortlist": "s",
        "source": "s",
        "publication": "a",
        "reason": "outranked",
    }
    assert returned.document(with_data=True) == {
        "time": "1970-01-01T00:00:03.000Z",
        "shortlist": "s",
        "reason": "returned",
        "rank": 1,
        "source": "s",
        "publication": "a",
        "published": "1970-01-01T00:00:00.000Z",
        "subscription": "s",
        "score": 5.0,
        "possibility": 1.0,
        "necessity": 1.0,
        "until": "1970-01-01T00:00:05.000Z",
        "data": {"fit": 5},
    }
