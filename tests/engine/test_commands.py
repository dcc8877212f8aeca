"""Commands in between: who sees what, who goes with whom, what is refused."""

import pytest

from shortlist.model.times import parse_time
from tests.engine.stories import SECOND, command, entries, names, publish, told

WINDOW = {"kind": "window", "k": 1, "window": "10s"}


def reasons(result):
    return [(reject.position, reject.reason) for reject in result.rejects]


def test_a_subscription_sees_only_what_comes_after_it():
    story = [
        publish("before", 0),
        command("subscribe", 1, {"id": "s"}),
        publish("after", 1),
        publish("early", 0),
    ]
    assert names(told({"subscriptions": []}, story)) == ["after"]


def test_an_id_used_again_starts_empty():
    top_1 = {"id": "s", "score": "value", "policy": {"kind": "top-k", "k": 1}}
    story = [
        command("subscribe", 0, top_1),
        publish("a", 1, value=9),
        publish("b", 2, value=1),
        command("unsubscribe", 3, "s"),
        command("subscribe", 4, top_1),
        publish("c", 5, value=1),
    ]
    assert names(told({"subscriptions": []}, story)) == ["a", "c"]


def test_closing_a_shortlist_cancels_its_subscriptions():
    story = [
        command("open", 0, {"id": "L", "subscriber": "u"}),
        command("subscribe", 0, {"id": "s", "shortlist": "L"}),
        publish("a", 1),
        command("close", 2, "L"),
        publish("b", 3),
        command("unsubscribe", 4, "s"),
        command("open", 5, {"id": "L", "subscriber": "u"}),
        publish("c", 6),
        command("subscribe", 7, {"id": "s", "shortlist": "L"}),
        publish("d", 8),
    ]
    result = told({"subscriptions": []}, story)
    assert names(result) == ["a", "d"]
    assert reasons(result) == [(6, "there is no live subscription 's'")]


def test_who_joined_a_shortlist_goes_when_its_owner_does():
    story = [
        command("subscribe", 0, {"id": "guest", "shortlist": "owner", "score": 1}),
        publish("a", 1),
        command("unsubscribe", 2, "owner"),
        publish("b", 3),
        command("subscribe", 4, {"id": "guest"}),
        publish("c", 5),
    ]
    result = told({"subscriptions": [{"id": "owner", "score": 0.5}]}, story)
    assert names(result) == ["a", "c"]
    assert [made.shortlist for made in result.deliveries] == ["owner", "guest"]


def test_a_cancelled_subscriptions_place_is_filled_at_that_instant():
    registry = {
        "shortlists": [{"id": "L", "subscriber": "u", "policy": WINDOW}],
        "subscriptions": [
            {"id": "red", "shortlist": "L", "where": "colour = 'red'", "score": "value"},
            {"id": "blue", "shortlist": "L", "where": "colour = 'blue'", "score": "value"},
        ],
    }
    story = [
        publish("a", 0, colour="red", value=9),
        publish("b", 1, colour="blue", value=1),
        command("unsubscribe", 2, "red"),
    ]
    assert entries(told(registry, story)) == [("a", 0, 1, "arrival"), ("b", 2, 1, "promotion")]


@pytest.mark.parametrize(
    ("closed_at", "expected"), [(9, ["a"]), (10, ["a", "b"]), (11, ["a", "b"])]
)
def test_departures_due_at_a_close_are_filled_first(closed_at, expected):
    story = [
        publish("a", 0, value=9),
        publish("b", 1, value=1),
        command("unsubscribe", closed_at, "sub"),
    ]
    assert names(told({"score": "value", "policy": WINDOW}, story)) == expected


def test_a_refused_command_changes_nothing():
    story = [
        command("subscribe", 0, {"id": "sub", "where": "value > 5"}),
        command("subscribe", 0, {"id": "other", "shortlist": "nowhere"}),
        command("unsubscribe", 0, "nobody"),
        command("close", 0, "nowhere"),
        command("unadvertise", 0, "nothing"),
        publish("a", 1, value=1),
    ]
    result = told({"where": "value < 5"}, story)
    assert names(result) == ["a"]
    assert [reject.position for reject in result.rejects] == [1, 2, 3, 4, 5]


def test_the_advertisement_with_the_smallest_id_decides_and_the_largest_k_counts():
    registry = {
        "subscriptions": [
            {"id": "x", "score": 1},
            {"id": "y", "score": 0.5},
            {"id": "z", "score": 0},
        ],
        "advertisements": [
            {"id": "ad1", "source": "s", "k": 1, "score": "-subscription.score"},
            {"id": "ad2", "source": "s", "k": 2},
            {"id": "ad3", "source": "s", "k": 3, "where": "wide = true"},
            {"id": "ad4", "source": "t", "k": 0},
        ],
    }
    story = [
        publish("two", 0),
        publish("three", 1, wide=True),
        publish("one", 2, audience=1),
        publish("none", 3, source="t"),
        publish("all", 4, source="u", audience=1),
    ]
    result = told(registry, story)
    assert [made.publication.id + made.shortlist for made in result.deliveries] == [
        *("twoy", "twoz", "threex", "threey", "threez", "onez", "allx", "ally", "allz"),
    ]
    required = told(registry, story, advertised="required")
    assert reasons(required) == [(5, "unadvertised")]


def test_what_is_late_is_rejected_and_the_rest_goes_on():
    story = [publish("a", 10), publish("late", 7), publish("b", 8), publish("c", 10)]
    result = told({}, story, lateness="2s")
    assert names(result) == ["b", "a", "c"]
    assert reasons(result) == [(2, "late by 1 s")]


def test_duplicates_are_rejected_for_a_while():
    story = [
        publish("a", 0),
        publish("a", 4),
        publish("a", 4, source="t"),
        publish("a", 5),
        publish("a", 9),
        publish("dead", 20, ends=20),
        publish("dead", 21),
    ]
    result = told({}, story, dedup="5s")
    assert names(result) == ["a", "a", "a"]
    assert reasons(result) == [(2, "duplicate"), (5, "duplicate"), (7, "duplicate")]


def test_time_ends_where_times_can_no_longer_be_written():
    """A promotion that falls due after the year 9999 does not happen, nor stop the rest."""
    end = parse_time("9999-12-31T23:59:59Z") // SECOND
    story = [
        publish("a", end - 12, value=9),
        publish("b", end - 5, value=2),
        publish("c", end - 4, value=1),
    ]
    result = told({"score": "value", "policy": WINDOW}, story)
    assert names(result) == ["a", "b"]
    assert result.deliveries[1].document()["time"] == "9999-12-31T23:59:57.000Z"
