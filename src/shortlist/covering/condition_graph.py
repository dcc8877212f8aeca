"""The covering graph of subscriptions' conditions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shortlist.covering.boxes import Boxes, boxes
from shortlist.covering.covers import exactly_covers
from shortlist.covering.graph import CoveringGraph, Entry
from shortlist.covering.kernels.containment import covering_of_pairs, covering_of_rows
from shortlist.language.tree import Where
from shortlist.model.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class IntervalOrder:
    """Distinct boxes as nodes, each after all that cover it. Parents cover it directly."""

    nodes: NDArray[np.int64]
    """At which node each box stands."""
    starts: NDArray[np.int64]
    """Where the parents of each node start, and at last where they end."""
    parents: NDArray[np.int32]
    ancestors: NDArray[np.int32]
    """How many nodes cover each."""
    depths: NDArray[np.int32]
    """The longest chain that ends in each; 1 where nothing covers it."""

    def edges(self) -> list[tuple[int, int]]:
        """From each parent to its child, the children in order."""
        children = np.repeat(np.arange(self.ancestors.size), np.diff(self.starts))
        return list(zip(self.parents.tolist(), children.tolist(), strict=True))


def interval_order(boxes: Boxes) -> IntervalOrder:
    """Orders boxes by covering; in one attribute by a sweep, which takes little more than sorting.

    >>> order = interval_order(Boxes.closed(np.array([[2.0], [0.0], [1.0], [2.0]]),
    ...                                     np.array([[3.0], [9.0], [4.0], [3.0]])))
    >>> order.nodes.tolist(), order.edges()
    ([2, 0, 1, 2], [(0, 1), (1, 2)])
    >>> order.ancestors.tolist(), order.depths.tolist()
    ([0, 1, 2], [1, 2, 3])
    """
    rows, nodes = np.unique(_tightness(boxes), axis=0, return_inverse=True)
    covering = covering_of_rows(rows) if rows.shape[1] > 2 else covering_of_pairs(_places(rows))
    return IntervalOrder(nodes, *covering)


def _tightness(boxes: Boxes) -> NDArray[np.int32]:
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


def _places(rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """Each row's place by its second number, if any, from the largest; of equals the last first."""
    second = rows[:, 1:].sum(axis=1)
    places = np.empty(len(rows), np.int32)
    places[np.argsort(second, kind="stable")[::-1]] = np.arange(len(rows))
    return places


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
    >>> [list(root.scores) for root in graph.roots], graph.depth(graph.node("cheap flat"))
    ([['home']], 3)
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
