"""The two time bases: what items are late, ahead or of which time."""

import json
from dataclasses import replace

import pytest

from shortlist.engine.engine import Engine
from shortlist.engine.replay import line_reader, replay
from shortlist.intake.files import registry_from_documents
from shortlist.model.settings import Settings
from shortlist.model.times import format_time, parse_time
from tests.strategies import SECOND, START, cuts, seeded, timeline
from tests.strategies import registry as drawn_registry

ARRIVAL = Settings(time="arrival")
EVENT = Settings(time="event", lateness="10s", ahead="1m")
ALL = registry_from_documents({"subscriptions": [{"id": "all"}]})


def flat(name, time=None, **more):
    return json.dumps({"id": name, "source": "ads", "time": time, "data": {"rent": 900}, **more})


def clock(seconds):
    return format_time(START + round(seconds * SECOND))


def told(lines, seconds, settings, registry=ALL):
    appended = [START + round(each * SECOND) for each in seconds]
    result = replay(registry, lines, settings, appended=appended)
    delivered = [(one.publication.id, (one.time - START) / SECOND) for one in result.deliveries]
    return delivered, [(one.position, one.reason) for one in result.rejects]


def test_on_arrival_the_log_tells_the_time_and_the_order():
    lines = [flat("a", clock(9e8)), flat("b"), flat("c", "tonight"), flat("d", clock(-9e8))]
    assert told(lines, [0, 1, 1, 5], ARRIVAL) == ([("a", 0), ("b", 1), ("c", 1), ("d", 5)], [])


@pytest.mark.parametrize("time", [None, 5, "", [], {"a": {"b": [1]}}, True, "2026-99-99T00:00:00Z"])
def test_on_arrival_a_time_may_be_anything(time):
    assert told([flat("a", time)], [3], ARRIVAL) == ([("a", 3)], [])


def test_on_arrival_a_publications_own_time_is_an_attribute_and_nothing_more():
    early = {"id": "early", "where": f"event.time < time '{clock(10)}'"}
    none = {"id": "none", "where": "not event.time exists"}
    registry = registry_from_documents({"subscriptions": [early, none]})
    lines = [flat("a", clock(5)), flat("b", clock(20)), flat("c"), flat("d", "tonight")]
    result = replay(registry, lines, ARRIVAL, appended=[START + 3600 * SECOND] * 4)
    found = [(one.publication.id, one.subscription) for one in result.deliveries]
    assert found == [("a", "early"), ("c", "none"), ("d", "none")]


def test_on_arrival_expiry_is_compared_with_arrivals():
    lines = [
        flat("a", clock(-50), expirytime=clock(4)),
        flat("b", clock(-50), expirytime=clock(5)),
        flat("c", clock(50), expirytime=clock(6)),
    ]
    assert told(lines, [5, 5, 5], ARRIVAL) == ([("c", 5)], [])


def test_on_arrival_ids_are_remembered_from_their_arrival_on():
    lines = [flat("a", clock(0)), flat("a", clock(900_000))]
    assert told(lines, [0, 5], ARRIVAL)[1] == [(2, "duplicate")]
    day = 24 * 3600
    assert told([flat("a")] * 3, [0, day - 1, day], ARRIVAL)[0] == [("a", 0), ("a", day)]


def test_commands_are_of_the_time_of_their_arrival_too():
    lines = [
        '{"subscribe": {"id": "s"}}',
        flat("a"),
        json.dumps({"time": clock(-9e8), "unsubscribe": "s"}),
        flat("b"),
        json.dumps({"time": "never", "unsubscribe": "s"}),
    ]
    none = registry_from_documents({})
    delivered, rejects = told(lines, [0, 1, 2, 3, 4], ARRIVAL, none)
    assert delivered == [("a", 1)]
    assert rejects == [(5, "there is no live subscription 's'")]


def test_a_window_goes_by_arrivals():
    best = {"id": "s", "policy": {"kind": "window", "k": 1, "window": "5s"}, "score": "n"}
    registry = registry_from_documents({"subscriptions": [best]})
    lines = [
        json.dumps({"id": str(n), "source": "s", "time": clock(1000 - n), "data": {"n": n}})
        for n in (9, 5, 7, 1)
    ]
    delivered, _ = told(lines, [0, 1, 2, 9], ARRIVAL, registry)
    assert delivered == [("9", 0), ("7", 5), ("1", 9)]


def test_a_clock_that_is_set_back_repeats_its_last_instant():
    lines = [flat(name) for name in "abcd"]
    assert told(lines, [5, 2, 3, 6], ARRIVAL)[0] == [("a", 5), ("b", 5), ("c", 5), ("d", 6)]


def test_a_heartbeat_closes_the_instant_before_it_though_the_clock_was_set_back():
    beat = '{"heartbeat": true}'
    delivered, _ = told([flat("a"), beat, flat("b"), beat, flat("c")], [5, 2, 2, 3, 6], ARRIVAL)
    assert delivered == [("a", 5), ("b", 5.000001), ("c", 6)]


def test_on_event_what_is_far_ahead_is_rejected_and_moves_no_time():
    lines = [
        flat("a", clock(0)),
        flat("b", clock(7201)),
        flat("c", clock(1)),
        flat("d", clock(61)),
        flat("e", clock(52)),
        flat("f", clock(50)),
        json.dumps({"time": clock(86_400 * 3650), "heartbeat": True}),
        json.dumps({"time": clock(90_062), "unsubscribe": "all"}),
    ]
    delivered, rejects = told(lines, [0, 1, 1, 1, 2, 2, 2, 2], EVENT)
    assert delivered == [("a", 0), ("c", 1), ("e", 52), ("d", 61)]
    assert rejects == [
        (2, "ahead by 2 h"),
        (6, "late by 1 s"),
        (7, "ahead by 3,650 d"),
        (8, "ahead by 1 d"),
    ]


def test_ahead_is_compared_with_the_largest_instant_so_far():
    lines = [flat("a", clock(100)), flat("b", clock(160)), flat("c", clock(161))]
    assert told(lines, [100, 1, 50], EVENT) == ([("a", 100), ("b", 160)], [(3, "ahead by 1 min")])
    off = replace(EVENT, ahead=None)
    assert told(lines, [100, 1, 50], off)[1] == []


def arrived(line, micros):
    """A line whose own time is what a log has recorded; `event.time` is not asked for."""
    document = json.loads(line)
    return json.dumps({**document, "time": format_time(micros)})


def is_readable(line):
    try:
        document = json.loads(line)
        parse_time(document["time"])
    except (ValueError, TypeError, LookupError):
        return False
    return isinstance(document, dict)


def check_seeds(seeds):
    """On arrival a log gives what an input gives whose items say when they arrived."""
    for seed in seeds:
        pick = seeded(seed)
        document = drawn_registry(pick)
        registry = registry_from_documents(document)
        lines = [line for line in timeline(pick, 30) if is_readable(line)]
        if "event.time" in json.dumps([document, lines]):
            continue  # which differs
        micros, appended = START, []
        for line in lines:
            # a heartbeat closes the instant before it
            steps = [1] if "heartbeat" in line else [0, 1, SECOND // 2, SECOND, 5 * SECOND]
            micros += pick(steps)
            appended.append(micros)
        found = replay(registry, lines, ARRIVAL, appended=appended)
        same = [arrived(*each) for each in zip(lines, appended, strict=True)]
        expected = replay(registry, same, Settings(lateness=0))
        assert [one.document() for one in found.deliveries] == [
            one.document() for one in expected.deliveries
        ], seed
        assert found.rejects == expected.rejects, seed


@pytest.mark.parametrize("part", range(4))
def test_a_log_is_an_input_whose_items_say_when_they_arrived(part):
    check_seeds(range(20 * part, 20 * (part + 1)))


def run_in_cuts(pick, registry, lines, appended, settings):
    """The same input, a few lines at a time, through engines that are saved in between."""
    engine, deliveries, rejects = Engine(registry, settings), [], []
    for batch in cuts(pick, [*zip(range(1, len(lines) + 1), lines, appended, strict=True)]):
        positions, some, when = zip(*batch, strict=True) if batch else ((), (), ())
        read = line_reader(engine, registry, settings)
        found = engine.run(read.lines(positions, [line.encode() for line in some], when))
        deliveries += found.deliveries
        rejects += found.rejects
        if pick([True, False]):
            engine = Engine.restore(engine.snapshot(), settings)
    found = engine.process([], last=True)
    return deliveries + found.deliveries, sorted(
        rejects + found.rejects, key=lambda reject: reject.position
    )


def check_cuts(seeds):
    for seed in seeds:
        pick = seeded(seed)
        registry = registry_from_documents(drawn_registry(pick))
        lines = timeline(pick, 30)
        appended = [START + pick(range(40)) * SECOND for _ in lines]
        settings = pick([ARRIVAL, EVENT, replace(EVENT, ahead="1s", lateness=0)])
        expected = replay(registry, lines, settings, appended=appended)
        deliveries, rejects = run_in_cuts(pick, registry, lines, appended, settings)
        assert rejects == expected.rejects, seed
        assert sorted(deliveries, key=lambda one: one.order) == expected.deliveries, seed


@pytest.mark.parametrize("part", range(4))
def test_the_cut_into_batches_changes_nothing(part):
    check_cuts(range(15 * part, 15 * (part + 1)))


@pytest.mark.soak
@pytest.mark.parametrize("part", range(4))
def test_many_more(part):
    check_seeds(range(1000 * (part + 1), 1000 * (part + 2)))
    check_cuts(range(1000 * (part + 1), 1000 * (part + 2)))
