"""Depths in a covering order, and chains in one that ranks decide too.

Nodes stand after all that cover them; `starts` says where the direct coverers of each begin.
"""

import numpy as np
from numpy.typing import NDArray

from shortlist.matching.kernels.compiling import kernel

Counts = NDArray[np.int32]


@kernel
def shortest_depths(starts: NDArray[np.int64], parents: Counts) -> Counts:
    """The length of the shortest path from a root.

    >>> shortest_depths(np.array([0, 0, 1, 3]), np.array([0, 0, 1], np.int32)).tolist()
    [1, 2, 2]
    """
    depths = np.ones(starts.size - 1, np.int32)
    for node in range(depths.size):
        for place in range(starts[node], starts[node + 1]):
            above = depths[parents[place]] + 1
            depths[node] = above if place == starts[node] else min(depths[node], above)
    return depths


@kernel
def tree_depths(starts: NDArray[np.int64], parents: Counts, arrivals: NDArray[np.int64]) -> Counts:
    """The depth in a tree where each hangs under the direct coverer that arrived first.

    >>> starts, parents = np.array([0, 0, 1, 3]), np.array([0, 0, 1], np.int32)
    >>> tree_depths(starts, parents, np.array([2, 0, 1])).tolist()
    [1, 2, 3]
    """
    depths = np.ones(starts.size - 1, np.int32)
    for node in range(depths.size):
        first = -1
        for parent in parents[starts[node] : starts[node + 1]]:
            if first < 0 or arrivals[parent] < arrivals[first]:
                first = parent
        if first >= 0:
            depths[node] = depths[first] + 1
    return depths


@kernel
def ranked_covering(rows: NDArray[np.int32]) -> tuple[Counts, Counts]:
    """How many earlier rows exceed each row nowhere, and the longest chain of such that ends in it.

    Rows are in order of rank; every pair of them is compared.

    >>> ancestors, depths = ranked_covering(np.array([[0, 2], [1, 1], [1, 2], [0, 0]], np.int32))
    >>> ancestors.tolist(), depths.tolist()
    ([0, 0, 2, 0], [1, 1, 2, 1])
    """
    count, width = rows.shape
    columns = np.ascontiguousarray(rows.T)
    ancestors, depths = np.zeros(count, np.int32), np.ones(count, np.int32)
    for row in range(count):
        covers = np.ones(row, np.bool_)
        for number in range(width):
            column, limit = columns[number], rows[row, number]
            for other in range(row):  # without a branch, so that it compiles to vector instructions
                covers[other] &= column[other] <= limit
        longest = 0
        for other in range(row):
            longest = max(longest, depths[other] * covers[other])
        ancestors[row], depths[row] = covers.sum(), longest + 1
    return ancestors, depths
