"""Conditions that are conjunctions of numeric ranges, as arrays of their ends."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from shortlist.covering.conjunctions import cases
from shortlist.covering.counterexamples import predicate_type
from shortlist.fuzzy.intervals import REALS, Interval
from shortlist.language.tree import Between, Comparison, In, Where
from shortlist.matching.number_sets import holds_on
from shortlist.model.paths import CONTEXT, Path
from shortlist.model.vocabulary import Vocabulary

Ranges = dict[Path, Interval]

NOWHERE = Interval(inf, -inf)
"""Where not even a fuzzy number can be: `x between 5 and 3`."""


@dataclass(frozen=True, slots=True)
class Boxes:
    """The ends of ranges: a row per condition, a column per attribute.

    Where nothing is asked of an attribute both ends are infinite and closed; it may be absent. A
    range that holds every number has infinite ends too, but open ones.
    """

    lows: NDArray[np.float64]
    highs: NDArray[np.float64]
    low_open: NDArray[np.bool_]
    high_open: NDArray[np.bool_]

    @staticmethod
    def closed(lows: NDArray[np.float64], highs: NDArray[np.float64]) -> "Boxes":
        """Ranges that hold both of their ends.

        >>> Boxes.closed(np.array([[1.0]]), np.array([[2.0]])).low_open.tolist()
        [[False]]
        """
        neither = np.zeros(lows.shape, np.bool_)
        return Boxes(lows, highs, neither, neither)


def boxes(conditions: Iterable[Where | None], vocabulary: Vocabulary) -> Boxes | None:
    """All the conditions' ranges; None where some condition asks for anything else.

    >>> from shortlist.language.parser import parse_where
    >>> found = boxes([None, parse_where("x > 3"), parse_where("x <= 5 and y = 2")], Vocabulary())
    >>> found.lows.tolist()
    [[-inf, -inf], [3.0, -inf], [-inf, 2.0]]
    >>> found.low_open.tolist()
    [[False, False], [True, False], [True, False]]
    >>> boxes([parse_where("x > 3"), parse_where("genre = 'drama'")], Vocabulary())
    """
    found: list[Ranges] = []
    for condition in conditions:
        ranges = ranges_of(condition, vocabulary)
        if ranges is None:
            return None
        found.append(ranges)
    return _filled(found)


def ranges_of(where: Where | None, vocabulary: Vocabulary) -> Ranges | None:
    """The range of each attribute, if the condition asks for nothing but ranges.

    Those that exclude each other leave one that ends before it starts. That is not nowhere: a fuzzy
    number may reach into both.

    >>> from shortlist.language.parser import parse_where
    >>> ranges_of(parse_where("x > 5 and x <= 3"), Vocabulary())
    {('x',): Interval(low=5.0, high=3.0, low_open=True, high_open=False)}
    >>> ranges_of(parse_where("x != 5"), Vocabulary())
    """
    members, *alternatives = cases(where)
    ranges: Ranges = {}
    for member in members:
        found = _range(member, vocabulary)
        if found is None:
            return None
        path, held = found
        ranges[path] = held.intersection(ranges.get(path, REALS))
    return None if alternatives or _lead_into_each_other(ranges) else ranges


def _range(member: Where, vocabulary: Vocabulary) -> tuple[Path, Interval] | None:
    """The attribute of a predicate on numbers, and where it holds, if that is one range."""
    if (
        not isinstance(member, Comparison | In | Between)
        or predicate_type(member) is not float
        or member.path in CONTEXT
        or vocabulary.of(member.path).many
    ):
        return None
    held, *more = holds_on(member) or (NOWHERE,)
    return None if more else (member.path, held)


def _lead_into_each_other(paths: Iterable[Path]) -> bool:
    """Whether one attribute lies within another, of which only one can be a number."""
    known = set(paths)
    return any(path[:length] in known for path in known for length in range(1, len(path)))


def _filled(found: Sequence[Ranges]) -> Boxes:
    columns: dict[Path, int] = {}
    for ranges in found:
        for path in ranges:
            columns.setdefault(path, len(columns))
    cells = (
        [row for row, ranges in enumerate(found) for _ in ranges],
        [columns[path] for ranges in found for path in ranges],
    )
    held = [interval for ranges in found for interval in ranges.values()]
    shape = len(found), len(columns)
    lows, low_open = np.full(shape, -inf), np.zeros(shape, np.bool_)
    highs, high_open = np.full(shape, inf), np.zeros(shape, np.bool_)
    lows[cells] = [interval.low for interval in held]
    highs[cells] = [interval.high for interval in held]
    low_open[cells] = [interval.low_open for interval in held]
    high_open[cells] = [interval.high_open for interval in held]
    impossible = (lows == inf).any(axis=1)  # what holds nowhere in one attribute holds nowhere
    lows[impossible], highs[impossible] = inf, -inf
    low_open[impossible] = high_open[impossible] = True
    return Boxes(lows, highs, low_open, high_open)
