"""Digests, quiet hours and caps in whole engines, by the clocks of odd zones on odd dates."""

import json

import pytest

from shortlist.engine.engine import Engine
from shortlist.engine.explanation import Question
from shortlist.engine.replay import read_items, replay
from shortlist.intake.documents import POLICY
from shortlist.intake.files import registry_from_documents
from shortlist.matching.scan import Scan
from shortlist.model.settings import Settings
from shortlist.model.times import format_time, parse_time
from tests.engine.test_bulk import everything_of, in_bulk
from tests.engine.test_oracle import agree, whole_engine_agrees
from tests.selector_calls import calls
from tests.strategies import CHAINS, START, WINDOW_POLICIES, cuts, registry, seeded, timeline

DAY = 86_400_000_000
CHANGES = [
    ("Europe/Oslo", "2026-03-29T01:00:00Z"),
    ("Europe/Oslo", "2026-10-25T01:00:00Z"),
    ("Pacific/Apia", "2011-12-30T10:00:00Z"),
    ("America/Havana", "2026-03-08T05:00:00Z"),
    ("America/Havana", "2026-11-01T05:00:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T15:00:00Z"),
    ("America/Sao_Paulo", "2018-11-04T03:00:00Z"),
    ("Africa/Monrovia", "1972-01-07T00:44:30Z"),
]
"""When a zone changes its offset: gaps, folds, dates and midnights that do not exist."""
CLOCKS = ["00:00", "01:00", "02:00", "02:30", "03:00", "18:00", "23:30"]
DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


def for_people(pick, zone):
    rhythm = pick(
        [
            {"every": "day", "at": pick(CLOCKS), "zone": zone},
            {"every": "week", "on": pick(DAYS), "at": pick(CLOCKS), "zone": zone},
            {"every": pick(["1h", "7h", "1d"])},
        ]
    )
    match pick(["digest", "quiet", "cap"]):
        case "digest":
            return {"kind": "digest", "k": pick([1, 2, None]), **rhythm}
        case "cap":
            return {"kind": "cap", "most": pick([1, 2, 4]), "per": rhythm.pop("every"), **rhythm}
    begin, end = pick(CLOCKS), pick(["07:00", "23:59", "00:30", "02:45"])
    days = {"days": [pick(DAYS), pick(DAYS), pick(DAYS)]} if pick([False, True]) else {}
    return {
        "kind": "quiet",
        "from": begin,
        "to": end,
        "zone": zone,
        "k": pick([1, 2, None]),
        **days,
    }


def drawn_policy(pick, zone):
    """One of them, or a chain with another one, or with any other policy."""
    one, other = for_people(pick, zone), for_people(pick, zone)
    others = pick([[other], pick(CHAINS), [pick(WINDOW_POLICIES)], []])
    return pick([one, one, [one, *others], [*others, one], [other, *others, one]])


def story(seed, most=40):
    """A registry and a timeline as others have them, about a day or a week around a change."""
    pick = seeded(seed)
    zone, change = pick(CHANGES)
    slower, middle = pick([600, 1800, 7200]), parse_time(change)
    document = registry(pick, advertised=False)
    lines = timeline(pick, most)
    origin = middle - pick([0, 5, 10, 12]) * slower * 1_000_000

    def later(text):
        return format_time(origin + (parse_time(text) - START) * slower)

    def told(value):
        """The same with times of here, and policies for people."""
        if isinstance(value, dict):
            changed = {name: told(part) for name, part in value.items()}
            for name in ("time", "expirytime"):
                if name in value and str(value[name]).endswith("Z"):
                    changed[name] = later(value[name])
            if isinstance(value.get("policy"), dict | list):
                changed["policy"] = drawn_policy(pick, zone)
            return changed
        return [*map(told, value)] if isinstance(value, list) else value

    for name in ("shortlists", "subscriptions"):
        document[name] = told(document[name])
    retold = []
    for line in lines:
        try:
            retold.append(json.dumps(told(json.loads(line))))
        except ValueError:
            retold.append(line)
    return pick, document, retold


def test_thousands_of_streams():
    """Selectors beside their naive twins."""
    for seed in range(800):
        pick = seeded(seed)
        zone, change = pick(CHANGES)
        policy = POLICY.validate_python(drawn_policy(pick, zone))
        scale = pick([600, 1800, 7200]) * 1_000_000
        agree(policy, calls(pick, scale=scale, origin=parse_time(change)))


@pytest.mark.parametrize("part", range(2))
def test_the_whole_engine_and_the_naive_one(part):
    for seed in range(15 * part, 15 * (part + 1)):
        _, document, lines = story(seed)
        whole_engine_agrees(document, lines, "1d")


@pytest.mark.parametrize("part", range(2))
def test_plain_and_bulk_whatever_the_batches_and_saves(part):
    compare(range(10_000 + 20 * part, 10_000 + 20 * (part + 1)))


@pytest.mark.soak
def test_plain_bulk_and_naive_for_long():
    for seed in range(1000, 4000):
        _, document, lines = story(seed, most=80)
        whole_engine_agrees(document, lines, "1d")
    compare(range(20_000, 22_000))


def compare(seeds):
    for seed in seeds:
        pick, document, lines = story(seed)
        made, settings = registry_from_documents(document), Settings(lateness=0)
        items, _ = read_items(made, lines, settings)
        expected = Engine(made, settings, matcher=Scan).process(items, last=True)
        found = in_bulk(
            made,
            settings,
            cuts(pick, items),
            saved=lambda number, pick=pick: pick([None, None, "snapshot", "changes", "changes"]),
        )
        assert everything_of(found) == everything_of(expected), seed


def told(policy, *items, shortlists=()):
    """Deliveries as texts: `name#rank @time cause`."""
    registry = registry_from_documents(
        {"subscriptions": [{"id": "s", "score": "x", "policy": policy}], "shortlists": shortlists}
    )
    lines = [json.dumps({"time": f"2026-{time}", **item}) for time, item in items]
    result = replay(registry, lines)
    assert not result.rejects, result.rejects
    return [
        f"{made.publication.id}#{made.rank} @{format_time(made.time)[5:16]} {made.cause}"
        for made in result.deliveries
    ]


def flat(name, x, **more):
    return {"id": name, "source": "ads", "data": {"x": x}, **more}


DIGEST = {"kind": "digest", "k": 2, "every": "day", "at": "18:00", "zone": "Europe/Oslo"}
NIGHT = {"kind": "quiet", "from": "22:00", "to": "07:00", "zone": "Europe/Oslo"}


def test_the_daily_best():
    """Summer time begins on the 29th: six in the evening is an hour earlier in UTC."""
    assert told(
        DIGEST,
        ("03-28T16:59:59Z", flat("a", 1)),
        ("03-28T17:00:00Z", flat("b", 2)),
        ("03-28T18:00:00Z", flat("c", 3)),
        ("03-29T15:00:00Z", flat("d", 9, expirytime="2026-03-29T16:00:00Z")),
        ("03-29T15:59:59Z", flat("e", 2)),
    ) == [
        "a#1 @03-28T17:00 promotion",
        "c#1 @03-29T16:00 promotion",
        "e#2 @03-29T16:00 promotion",
    ]


def test_what_happens_at_a_boundary_finds_everything_released():
    gone = {"retract": {"source": "ads", "id": "a"}}
    before, at = ("03-02T16:59:59Z", gone), ("03-02T17:00:00Z", gone)
    news = ("03-02T10:00:00Z", flat("a", 1))
    assert told(DIGEST, news, before) == []
    assert told(DIGEST, news, at) == ["a#1 @03-02T17:00 promotion"]
    assert told(DIGEST, news, ("03-02T17:00:00Z", {"unsubscribe": "s"})) == [
        "a#1 @03-02T17:00 promotion"
    ]
    assert told(DIGEST, news, ("03-02T16:00:00Z", {"unsubscribe": "s"})) == []
    replacing = ("03-02T17:00:00Z", flat("b", 1, replaces="a"))
    assert told(DIGEST, news, replacing) == [
        "a#1 @03-02T17:00 promotion",
        "b#1 @03-03T17:00 promotion",
    ]


def test_other_hours_release_what_waits_if_they_are_not_quiet():
    news = ("03-02T23:00:00Z", flat("a", 1))
    shorter = {"update": {"subscription": "s", "policy": {**NIGHT, "to": "06:00"}}}
    assert told(NIGHT, news, ("03-03T01:00:00Z", shorter)) == ["a#1 @03-03T05:00 promotion"]
    over = {"update": {"subscription": "s", "policy": {**NIGHT, "from": "05:00"}}}
    assert told(NIGHT, news, ("03-03T01:00:00Z", over)) == ["a#1 @03-03T01:00 promotion"]
    elsewhere = {"update": {"subscription": "s", "policy": {**NIGHT, "zone": "UTC"}}}
    assert told(NIGHT, news, ("03-03T01:00:00Z", elsewhere)) == []


def test_hours_that_touch_are_two():
    all_day = {"kind": "quiet", "from": "12:00", "to": "11:59"}
    touching = [{**all_day, "to": "00:00"}, {**all_day, "from": "00:00", "to": "12:00"}]
    assert told(touching, ("03-02T13:00:00Z", flat("a", 1))) == ["a#1 @03-03T12:00 promotion"]


def test_a_cap_counts_from_its_boundary():
    cap = {"kind": "cap", "most": 1, "per": "day", "zone": "Europe/Oslo"}
    assert told(
        cap,
        ("03-02T22:59:59Z", flat("a", 1)),
        ("03-02T22:59:59Z", flat("b", 1)),
        ("03-02T23:00:00Z", flat("c", 1)),
        ("03-02T23:00:00Z", {"update": {"subscription": "s", "policy": {**cap, "most": 2}}}),
        ("03-02T23:00:01Z", flat("d", 1)),
        ("03-02T23:00:02Z", flat("e", 1)),
    ) == [
        "a#None @03-02T22:59 arrival",
        "c#None @03-02T23:00 arrival",
        "d#None @03-02T23:00 arrival",
    ]


def test_the_daily_best_at_six_nothing_at_night_at_most_three_a_week():
    policy = [DIGEST, NIGHT, {"kind": "cap", "most": 3, "per": "week"}]
    items = [
        (f"03-{day:02d}T12:00:00Z", flat(f"p{day}{x}", x)) for day in (2, 3, 4) for x in (1, 2, 3)
    ]
    assert told(policy, *items) == [
        "p22#None @03-02T17:00 promotion",
        "p23#None @03-02T17:00 promotion",
        "p33#None @03-03T17:00 promotion",
    ]


def reasons(policy, *items, **question):
    """Explanations as texts: `time name reason`."""
    registry = registry_from_documents(
        {
            "shortlists": [{"id": "list", "subscriber": "you", "policy": policy}],
            "subscriptions": [{"id": "s", "shortlist": "list", "score": "x"}],
        }
    )
    lines = [json.dumps({"time": f"2026-{time}", **item}) for time, item in items]
    return [
        f"{each['time'][8:16]} {each['publication']} {each['reason']}"
        for each in replay(registry, lines, question=Question(**question)).explanations
    ]


def test_reasons_of_a_digest():
    items = [
        ("03-02T10:00:00Z", flat("a", 1)),
        ("03-02T11:00:00Z", flat("b", 2)),
        ("03-02T12:00:00Z", flat("c", 3)),
        ("03-02T13:00:00Z", flat("d", 9, expirytime="2026-03-02T14:00:00Z")),
        ("03-02T15:00:00Z", flat("e", 9)),
        ("03-02T16:00:00Z", {"retract": {"source": "ads", "id": "e"}}),
    ]
    assert [line for line in reasons(DIGEST, *items) if " waits " not in line] == [
        "02T14:00 d it expired while it waited",
        "02T16:00 e its publisher took it back while it waited",
        "02T17:00 a 2 better ones in the digest",
        "02T17:00 b released: it had waited",
        "02T17:00 c released: it had waited",
    ]
    assert reasons(DIGEST, *items, publication="a") == [
        "02T10:00 a waits until 18:00 in Europe/Oslo",
        "02T17:00 a 2 better ones in the digest",
    ]


def test_reasons_of_quiet_hours_and_caps():
    news = ("03-02T23:00:00Z", flat("a", 1)), ("03-02T23:30:00Z", flat("b", 2))
    gone = ("03-03T01:00:00Z", {"unsubscribe": "s"})
    assert reasons(NIGHT, news[0], gone) == [
        "02T23:00 a waits until 07:00 in Europe/Oslo",
        "03T01:00 a its subscription was cancelled while it waited",
    ]
    best = {**NIGHT, "k": 1}
    assert reasons(best, *news, publication="a")[1:] == ["03T06:00 a a better one waited"]
    cap = {"kind": "cap", "most": 1, "per": "day", "zone": "Europe/Oslo"}
    assert reasons(cap, *news) == [
        "02T23:00 a delivered at arrival",
        "02T23:30 b 1 since midnight in Europe/Oslo",
    ]
    assert reasons([WINDOW_POLICIES[0], NIGHT], *news)[-1] == (
        "03T06:00 b released: it had waited, or better ones left"
    )
