"""Rank-cover of very many ranges at once: ancestors, and depth in its three readings."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.covering.condition_graph import Boxes, IntervalOrder, strict_order, tightness
from shortlist.overlay.kernels.depths import ranked_covering, shortest_depths, tree_depths

Counts = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class CoverCounts:
    """Of each subscription: how many rank-cover it, and the longest chain of them that ends in it
    (1 where nothing covers it)."""

    ancestors: Counts
    depths: Counts


def cover_counts(boxes: Boxes, places: NDArray[np.int64] | None = None) -> CoverCounts:
    """Rank-cover of boxes whose places in the ranking are given, 0 for the best.

    Without places the larger box ranks higher, and the earlier of two equal ones.

    >>> nested = Boxes.closed(np.array([[0.0], [1.0], [2.0]]), np.array([[9.0], [8.0], [7.0]]))
    >>> cover_counts(nested).ancestors.tolist()
    [0, 1, 2]
    >>> cover_counts(nested, np.array([0, 2, 1])).ancestors.tolist()
    [0, 1, 1]
    """
    if places is None:
        return _of_order(strict_order(boxes))
    best_first = np.argsort(places)
    ranked = boxes.taken(best_first)
    order = strict_order(ranked)
    ranks = np.empty(len(best_first), np.int64)  # of the nodes
    ranks[order.nodes] = np.arange(len(best_first))
    children = np.repeat(np.arange(ranks.size), np.diff(order.starts))
    if (ranks[order.parents] < ranks[children]).all():  # no ranking contradicts the covering
        found = _of_order(order)
    else:
        found = CoverCounts(*ranked_covering(tightness(ranked)))
    back = np.empty_like(best_first)
    back[best_first] = np.arange(len(best_first))
    return CoverCounts(found.ancestors[back], found.depths[back])


@dataclass(frozen=True, slots=True)
class DepthReadings:
    """Depth as three people may read it, of each subscription; all of them are sound."""

    longest_chain: Counts
    """The rule, since it forwards least."""
    first_arrived: Counts
    """In a tree where each hangs under the immediate coverer that arrived first."""
    shortest_path: Counts


def depth_readings(order: IntervalOrder) -> DepthReadings:
    """The depths of boxes that arrived in the order of `nodes`, where the larger ranks higher.

    >>> some = Boxes.closed(np.array([[2.0], [0.0], [1.0]]), np.array([[3.0], [9.0], [4.0]]))
    >>> depth_readings(strict_order(some)).shortest_path.tolist()
    [3, 1, 2]
    """
    arrivals = np.empty_like(order.nodes)
    arrivals[order.nodes] = np.arange(order.nodes.size)
    return DepthReadings(
        order.depths[order.nodes],
        tree_depths(order.starts, order.parents, arrivals)[order.nodes],
        shortest_depths(order.starts, order.parents)[order.nodes],
    )


def _of_order(order: IntervalOrder) -> CoverCounts:
    return CoverCounts(order.ancestors[order.nodes], order.depths[order.nodes])
