"""Whatever matches meets: a publication and a subscription have a lane in common."""

import pytest

from shortlist.intake.files import registry_from_documents
from shortlist.live.keys import ByCell, ByValue, Meeting
from shortlist.matching.scan import Scan
from shortlist.matching.values import Many, Values
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription, Weights
from shortlist.model.times import Instant
from tests.strategies import NORMS, SOURCES, VOCABULARY, data, seeded, where

DECLARED = registry_from_documents({"vocabulary": VOCABULARY}).vocabulary
PATHS = [
    *((name,) for name in ("price", "size", "mood", "genre", "scores", "open", "released")),
    ("address", "city"),
    ("event", "source"),
]
LANES = 8
EVERY = (1 << LANES) - 1


def by_value(*path):
    return Meeting(ByValue(path, LANES), LANES, DECLARED, Limits())


def by_cell(path, *bounds):
    return Meeting(ByCell((path,), bounds), len(bounds) + 1, DECLARED, Limits())


def lanes_of(meeting, condition, **settings):
    return meeting.of_subscription(Subscription(id="s", where=condition, **settings))


@pytest.mark.parametrize("seed", range(30))
def test_what_matches_meets(seed):
    pick = seeded(seed)
    scan, values, subscriptions = Scan(DECLARED), Values(DECLARED), {}
    for number in range(60):
        condition, width = where(pick)
        norm = pick([*NORMS, Weights((3.0, 1.0, 2.0)[:width])] if width else NORMS)
        made = Subscription(id=f"s{number}", where=condition, norm=norm)
        subscriptions[made.id] = made
        scan.add(made)
    meetings = [
        Meeting(key, LANES, DECLARED, Limits())
        for path in PATHS
        for key in (ByValue(path, LANES), ByCell(path, (1.0, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0)))
    ]
    held = [
        {name: m.of_subscription(made) for name, made in subscriptions.items()} for m in meetings
    ]
    for position in range(60):
        publication = Publication(
            id="p", source=pick(SOURCES), time=0, position=position, data=data(pick) or {}
        )
        read = values.of(publication)
        matches = scan.match(read)
        for meeting, lanes in zip(meetings, held, strict=True):
            value = read(meeting.key.path)
            visited = meeting.of_publication(value, position)
            assert 0 < visited <= EVERY
            for match in matches:
                assert visited & lanes[match.subscription], (meeting.key, match, value)


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("size = 1", 1.0),
        ("size = 1.0 and price > 3", 1.0),
        ("size = -0.0", 0.0),
        ("size = '1'", "1"),
        ("open = true", True),
        ("released = '2026-01-01'", Instant(1_767_225_600_000_000)),
        ("(mood = 'happy' and price > 3) and size > 1", "happy"),
    ],
)
def test_a_value_has_one_lane(condition, value):
    path = next(name for name in ("mood", "size", "open", "released") if name in condition)
    meeting = by_value(path)
    assert lanes_of(meeting, condition) == meeting.of_publication(value, position=0)


def test_types_are_told_apart():
    key = ByValue(("x",), 2**16)
    values = [1.0, "1", "1.0", True, "true", "True", Instant(1)]
    assert len({key.of_value(value) for value in values}) == len(values)


def test_a_list_has_the_lanes_of_its_values():
    meeting = by_value("size")
    lanes = [meeting.of_publication(value, position=0) for value in (1.0, 2.0)]
    assert lanes_of(meeting, "size in (1, 2)") == lanes[0] | lanes[1]


def test_several_elements_go_to_the_lanes_of_each():
    meeting = by_value("genre")
    lanes = [meeting.of_publication(value, position=0) for value in ("war", 3.0)]
    assert meeting.of_publication(Many(("war", 3.0)), position=0) == lanes[0] | lanes[1]


@pytest.mark.parametrize(
    "condition",
    [
        None,
        "price < 3",
        "size != 1",
        "not size = 1",
        "size not in (1, 2)",
        "size = 1 or size = 2",
        "size exists",
        "size is around(2, 1)",
    ],
)
def test_what_lists_no_values_is_held_by_every_lane(condition):
    assert lanes_of(by_value("size"), condition) == EVERY


@pytest.mark.parametrize("norm", ["average", "max", Weights((1.0, 1.0))])
def test_a_member_that_may_fail_tells_nothing(norm):
    assert lanes_of(by_value("size"), "size = 1 and price = 2", norm=norm) == EVERY
    assert lanes_of(by_value("size"), "size = 1", norm=norm) != EVERY


def test_fuzzy_values_go_to_every_lane_and_absent_ones_by_position():
    meeting, values = by_value("price"), Values(DECLARED)
    assert meeting.of_publication(values.typed(("price",), {"between": [2, 4]}), 3) == EVERY
    assert meeting.of_publication(None, position=LANES + 3) == 1 << 3


def test_what_only_a_fuzzy_value_can_satisfy_is_held_somewhere():
    assert lanes_of(by_cell("price", 2.0, 4.0), "price < 1 and price > 5") == 1


@pytest.mark.parametrize(
    ("condition", "lanes"),
    [
        ("size < 2", 0b0011),
        ("size >= 2 and size <= 3.5", 0b0110),
        ("not size < 4", 0b1000),
        ("size in (1, 5)", 0b1001),
        ("size = 3 and size = 'x'", 0b0100),
        ("size = 'x'", 0b1111),
        ("size between 3 and 2", 0b0001),
    ],
)
def test_ranges_have_the_lanes_of_their_cells(condition, lanes):
    assert lanes_of(by_cell("size", 2.0, 3.0, 4.0), condition) == lanes


def test_ranges_of_several_elements_are_not_put_together():
    meeting = by_cell("scores", 2.0, 3.0, 4.0)
    assert lanes_of(meeting, "scores > 3.5 and scores < 2.5") == 0b1100
    assert meeting.of_publication(Many((2.2, 3.7)), position=0) == 0b0110
