"""Which conditions are nothing but ranges, and what their ends are."""

from math import inf

import numpy as np
import pytest

from shortlist.covering.condition_graph import boxes, ranges_of
from shortlist.language.parser import parse_where
from shortlist.model.vocabulary import Attribute, Vocabulary

VOCABULARY = Vocabulary({("genre",): Attribute(many=True), ("when",): Attribute(type="time")})


@pytest.mark.parametrize(
    "text",
    [
        "x != 3",
        "x in (1, 2)",
        "x not between 1 and 2",
        "x > 1 or x < 0",
        "x > 1 and (y < 2 or y > 3)",
        "x > 1 and x exists",
        "not x exists",
        "x is around(3, 1)",
        "x = true",
        "x > 'a'",
        "x > 1 and title contains 'a'",
        "genre > 3",
        "when > time '2026-01-01'",
        "event.time > 3",
        "place > 3 and place.height > 2",
    ],
)
def test_what_is_more_than_ranges(text: str) -> None:
    assert ranges_of(parse_where(text, VOCABULARY), VOCABULARY) is None
    assert boxes([None, parse_where(text, VOCABULARY)], VOCABULARY) is None


@pytest.mark.parametrize(
    ("text", "low", "low_open", "high", "high_open"),
    [
        ("x >= 1", 1, False, inf, True),
        ("not x >= 1", -inf, True, 1, True),
        ("x = 2", 2, False, 2, False),
        ("x in (2, 2)", 2, False, 2, False),
        ("x between 1 and 4 and x < 4", 1, False, 4, True),
        ("x > 1 and (x >= 1 and x <= 3)", 1, True, 3, False),
        ("x > 5 and x < 3", 5, True, 3, True),
        ("x not between 5 and 3", -inf, True, inf, True),
        ("x between 5 and 3", inf, True, -inf, True),
        ("x between 5 and 3 and x > 1", inf, True, -inf, True),
    ],
)
def test_ends(text: str, low: float, low_open: bool, high: float, high_open: bool) -> None:
    found = boxes([parse_where(text)], VOCABULARY)
    assert found is not None
    ends = found.lows, found.low_open, found.highs, found.high_open
    assert [end.tolist() for end in ends] == [[[low]], [[low_open]], [[high]], [[high_open]]]


def test_what_is_not_asked_for_is_closed_at_infinity() -> None:
    found = boxes([None, parse_where("x > 1"), parse_where("y < 2")], VOCABULARY)
    assert found is not None
    assert found.lows.tolist() == [[-inf, -inf], [1.0, -inf], [-inf, -inf]]
    assert found.low_open.tolist() == [[False, False], [True, False], [False, True]]


def test_what_holds_nowhere_in_one_attribute_holds_nowhere() -> None:
    found = boxes([parse_where("x > 1 and y between 5 and 3")], VOCABULARY)
    assert found is not None
    assert found.lows.tolist() == [[inf, inf]]
    assert np.all(found.low_open)


def test_no_conditions() -> None:
    found = boxes([], VOCABULARY)
    assert found is not None
    assert found.lows.shape == (0, 0)
