"""Rank-cover of very many ranges at once: ancestors, and depth in its three readings."""

import numpy as np
from numpy.typing import NDArray

from shortlist.covering.condition_graph import Boxes, strict_order, tightness
from shortlist.covering.slices import CoveringOrder
from shortlist.overlay.kernels.depths import ranked_covering, shortest_depths, tree_depths

Counts = NDArray[np.int32]


def cover_counts(boxes: Boxes, places: NDArray[np.int64]) -> tuple[Counts, Counts]:
    """Rank-cover of boxes whose places in a ranking are given, 0 for the best: how many rank-cover
    each of them, and the longest chain of these that ends in it (1 where nothing covers it).

    >>> nested = Boxes.closed(np.array([[0.0], [1.0], [2.0]]), np.array([[9.0], [8.0], [7.0]]))
    >>> [found.tolist() for found in cover_counts(nested, np.array([0, 2, 1]))]
    [[0, 1, 1], [1, 2, 2]]
    """
    best_first = np.argsort(places)
    ranked = boxes.taken(best_first)
    order = strict_order(ranked)
    ranks = np.empty(len(best_first), np.int64)  # of the nodes
    ranks[order.nodes] = np.arange(len(best_first))
    children = np.repeat(np.arange(ranks.size), np.diff(order.starts))
    if (ranks[order.parents] < ranks[children]).all():  # no ranking contradicts the covering
        ancestors, depths = order.ancestors[order.nodes], order.depths[order.nodes]
    else:
        ancestors, depths = ranked_covering(tightness(ranked))
    back = np.empty_like(best_first)
    back[best_first] = np.arange(len(best_first))
    return ancestors[back], depths[back]


def depth_readings(order: CoveringOrder) -> tuple[Counts, Counts, Counts]:
    """The depths of boxes that arrived in the order of `nodes`, where the larger ranks higher, as
    three people may read it; all of them are sound. By the longest chain, which is the rule, since
    it forwards least; in a tree where each hangs under the immediate coverer that arrived first; by
    the shortest path.

    >>> some = Boxes.closed(np.array([[2.0], [0.0], [1.0]]), np.array([[3.0], [9.0], [4.0]]))
    >>> depth_readings(strict_order(some))[2].tolist()
    [3, 1, 2]
    """
    arrivals = np.empty_like(order.nodes)
    arrivals[order.nodes] = np.arange(order.nodes.size)
    return (
        order.depths[order.nodes],
        tree_depths(order.starts, order.parents, arrivals)[order.nodes],
        shortest_depths(order.starts, order.parents)[order.nodes],
    )
