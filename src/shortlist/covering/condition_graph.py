"""The covering graph of subscriptions' conditions; ranges of numbers are compared as arrays."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf

import numpy as np
from numpy.typing import NDArray

from shortlist.covering.conjunctions import cases, predicate_type
from shortlist.covering.covers import exactly_covers
from shortlist.covering.graph import CoveringGraph, Entry
from shortlist.covering.slices import CoveringOrder, FindCovering, covering_order
from shortlist.fuzzy.intervals import REALS, Interval
from shortlist.language.tree import Between, Comparison, In, Where
from shortlist.matching.predicates import holds_on
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

    def taken(self, places: NDArray[np.int64]) -> "Boxes":
        """Some of them, in this order."""
        return Boxes(
            self.lows[places],
            self.highs[places],
            self.low_open[places],
            self.high_open[places],
        )


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
    return boxes_of(found)


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


def boxes_of(found: Sequence[Ranges]) -> Boxes:
    """Ranges as boxes: a row each, with a column for every attribute that some of them has."""
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


def interval_order(boxes: Boxes) -> CoveringOrder:
    """Orders boxes by covering; in one attribute by a sweep, which takes little more than sorting.

    >>> order = interval_order(Boxes.closed(np.array([[2.0], [0.0], [1.0], [2.0]]),
    ...                                     np.array([[3.0], [9.0], [4.0], [3.0]])))
    >>> order.nodes.tolist(), order.edges()
    ([2, 0, 1, 2], [(0, 1), (1, 2)])
    >>> order.ancestors.tolist(), order.depths.tolist()
    ([0, 1, 2], [1, 2, 3])
    """
    rows, nodes = np.unique(tightness(boxes), axis=0, return_inverse=True)
    return covering_order(rows)._replace(nodes=nodes)


def strict_order(boxes: Boxes, find: FindCovering = covering_order) -> CoveringOrder:
    """Orders boxes by covering, each a node of its own: of equal ones the earlier covers the later.
    Who covers whom may be found elsewhere.

    >>> order = strict_order(Boxes.closed(np.array([[2.0], [0.0], [2.0]]),
    ...                                   np.array([[3.0], [9.0], [3.0]])))
    >>> order.nodes.tolist(), order.edges(), order.depths.tolist()
    ([1, 0, 2], [(0, 1), (1, 2)], [1, 2, 3])
    """
    rows = tightness(boxes)
    first_come = np.lexsort(rows.T[::-1]) if rows.shape[1] else np.arange(len(rows))
    nodes = np.empty(len(rows), np.int64)
    nodes[first_come] = np.arange(len(rows))
    return find(rows[first_come])._replace(nodes=nodes)


def tightness(boxes: Boxes) -> NDArray[np.int32]:
    """A row of ranks per box; one box covers another if none of its ranks is higher."""
    ends = (boxes.lows, boxes.low_open), (-boxes.highs, boxes.high_open)
    columns = [
        _ranks(values, is_open)
        for all_values, all_open in ends
        for values, is_open in zip(all_values.T, all_open.T, strict=True)
    ]
    decisive = [column for column in columns if column.any()]
    return np.array(decisive, np.int32).reshape(len(decisive), len(boxes.lows)).T


def _ranks(lows: NDArray[np.float64], is_open: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Equal ends have one rank; later ones have a higher, and so have open ones."""
    order = np.lexsort((is_open, lows))
    sorted_lows, sorted_open = lows[order], is_open[order]
    rises = (sorted_lows[1:] != sorted_lows[:-1]) | (sorted_open[1:] != sorted_open[:-1])
    ranks = np.zeros(len(lows), np.int32)
    ranks[order[1:]] = np.cumsum(rises)
    return ranks


ConditionGraph = CoveringGraph[Where | None]

FEW = 64
"""As many are inserted one by one before the kernels are loaded that order more of them."""


def condition_graph(
    vocabulary: Vocabulary, entries: Sequence[Entry[Where | None]] = ()
) -> ConditionGraph:
    """The graph of these entries: numeric ranges are ordered all at once, others one by one.

    >>> from shortlist.language.parser import parse_where
    >>> texts = {"flat": "rent < 1000", "cheap flat": "rent < 500", "home": None}
    >>> entries = [Entry(name, text and parse_where(text)) for name, text in texts.items()]
    >>> graph = condition_graph(Vocabulary(), entries)
    >>> [list(root.scores) for root in graph.roots], len(graph.ancestors(graph.node("cheap flat")))
    ([['home']], 2)
    """
    covers = partial(exactly_covers, vocabulary=vocabulary)
    if len(entries) > FEW:
        ranges = boxes([entry.condition for entry in entries], vocabulary)
        if ranges is not None:
            order = interval_order(ranges)
            return CoveringGraph.linked(covers, entries, order.nodes.tolist(), order.edges())
    graph: ConditionGraph = CoveringGraph(covers)
    for entry in entries:
        graph.insert(*entry)
    return graph
