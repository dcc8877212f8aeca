"""Who covers whom, of conditions that are rows of numbers: one covers those that exceed it nowhere.

Rows are in lexicographic order, so that each stands after all that cover it; of equal ones the
earlier counts as covering the later.
"""

import numpy as np
from numpy.typing import NDArray

from shortlist.matching.kernels.compiling import kernel

Places = NDArray[np.int32]
Covering = tuple[NDArray[np.int64], Places, Places]
"""Of neighbouring rows: where each one's direct coverers start, and these in order; how many cover
it in all."""


@kernel
def covering_of_pairs(places: Places, first: int, last: int) -> Covering:
    """For rows of two numbers, of which `places` has the second one's: 0 for the largest.

    A sweep, with time for each row and each direct coverer that grows as the logarithm of the rows.
    It begins with all rows before the `first`, and ends before the `last`.

    >>> starts, parents, ancestors = covering_of_pairs(np.array([2, 0, 1], np.int32), 0, 3)
    >>> [parents[start:end].tolist() for start, end in zip(starts, starts[1:])]
    [[], [0], [0]]
    """
    count = places.size
    starts = np.zeros(last - first + 1, np.int64)
    parents = np.empty(max(last - first, 1), np.int32)
    ancestors = np.zeros(last - first, np.int32)
    leaves = 1
    while leaves <= count:
        leaves *= 2
    latest = np.full(2 * leaves, -1, np.int32)  # of the rows before, by place: a tree of maxima
    before = np.zeros(count + 1, np.int32)  # how many, up to a place: a Fenwick tree
    for row in range(first):
        latest[leaves + places[row]] = row
        before[places[row] + 1] = 1
    for node in range(leaves - 1, 0, -1):
        latest[node] = max(latest[2 * node], latest[2 * node + 1])
    for node in range(1, count + 1):
        above = node + (node & -node)
        if above <= count:
            before[above] += before[node]
    for row in range(first, last):
        end = starts[row - first]
        place, bound = places[row], -1
        while True:
            # Coverers come nearest first. One is direct if it stands after all nearer ones.
            place = _next_above(latest, leaves, place + 1, bound)
            if place == leaves:
                break
            bound = latest[leaves + place]
            parents = _with_room(parents, end)
            parents[end] = bound
            end += 1
        starts[row - first + 1] = end
        ancestors[row - first] = row - _counted_up_to(before, places[row])
        _enter(latest, leaves, places[row], row)
        _count(before, places[row])
    return starts, parents[: starts[last - first]].copy(), ancestors


@kernel
def covering_of_rows(rows: NDArray[np.int32], first: int, last: int) -> Covering:
    """For rows of any width, from the `first` to before the `last`: every one is compared with all
    before it.

    >>> rows = np.array([[0, 0, 1], [0, 1, 0], [1, 1, 1], [2, 1, 1]], np.int32)
    >>> starts, parents, ancestors = covering_of_rows(rows, 0, 4)
    >>> [parents[start:end].tolist() for start, end in zip(starts, starts[1:])]
    [[], [], [0, 1], [2]]
    >>> ancestors.tolist()
    [0, 0, 2, 3]
    """
    columns = np.ascontiguousarray(rows.T)
    coverers = np.empty(rows.shape[0], np.int32)
    starts = np.zeros(last - first + 1, np.int64)
    parents = np.empty(max(last - first, 1), np.int32)
    ancestors = np.zeros(last - first, np.int32)
    for row in range(first, last):
        start = end = starts[row - first]
        ancestors[row - first] = _find_coverers(columns, row, coverers)
        # Nearest first: what covers a direct coverer stands before it, and is not direct itself.
        for other in coverers[: ancestors[row - first]][::-1]:
            known = start
            while known < end and not _covers(rows, other, parents[known]):
                known += 1
            if known < end:
                continue
            parents = _with_room(parents, end)
            parents[end] = other
            end += 1
        parents[start:end] = parents[start:end][::-1].copy()
        starts[row - first + 1] = end
    return starts, parents[: starts[last - first]].copy(), ancestors


@kernel
def longest_depths(starts: NDArray[np.int64], parents: Places) -> Places:
    """The length of the longest chain that ends in each row, of all of them.

    >>> longest_depths(np.array([0, 0, 1, 3]), np.array([0, 0, 1], np.int32)).tolist()
    [1, 2, 3]
    """
    depths = np.ones(starts.size - 1, np.int32)
    for row in range(depths.size):
        for place in range(starts[row], starts[row + 1]):
            depths[row] = max(depths[row], depths[parents[place]] + 1)
    return depths


@kernel
def _find_coverers(columns: NDArray[np.int32], row: int, coverers: Places) -> int:
    """Writes down, in order, the rows before that cover this one, and says how many they are."""
    covers = np.ones(row, np.bool_)
    for number in range(1, columns.shape[0]):  # the rows before exceed none in the first
        column = columns[number]
        limit = column[row]
        for other in range(row):  # without a branch, so that it compiles to vector instructions
            covers[other] &= column[other] <= limit
    found = 0
    for other in range(row):
        coverers[found] = other
        found += covers[other]
    return found


@kernel
def _covers(rows: NDArray[np.int32], general: int, special: int) -> bool:
    column = 0
    while column < rows.shape[1] and rows[general, column] <= rows[special, column]:
        column += 1
    return bool(column == rows.shape[1])


@kernel
def _next_above(tree: Places, leaves: int, place: int, bound: int) -> int:
    """The first place from here on whose leaf is above the bound; `leaves` if there is none."""
    node = leaves + place
    while tree[node] <= bound:
        while node & 1:
            node >>= 1
        if node == 0:
            return leaves
        node += 1
    while node < leaves:
        node *= 2
        if tree[node] <= bound:
            node += 1
    return node - leaves


@kernel
def _enter(tree: Places, leaves: int, place: int, row: int) -> None:
    node = leaves + place
    while node:
        tree[node] = row  # rows come in order: this one is the maximum
        node >>= 1


@kernel
def _counted_up_to(tree: Places, place: int) -> int:
    found = 0
    place += 1
    while place:
        found += tree[place]
        place &= place - 1
    return found


@kernel
def _count(tree: Places, place: int) -> None:
    place += 1
    while place < tree.size:
        tree[place] += 1
        place += place & -place


@kernel
def _with_room(values: Places, size: int) -> Places:
    """The same, or a larger copy if they are so many already."""
    if size < values.size:
        return values
    larger = np.empty(2 * values.size, np.int32)
    larger[: values.size] = values
    return larger
