"""Which of many boxes cover which, all at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.covering.boxes import Boxes
from shortlist.covering.kernels.containment import covering_of_pairs, covering_of_rows


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
