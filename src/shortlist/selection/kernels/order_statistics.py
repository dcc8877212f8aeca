"""The k-th highest of numbers: of all that came, and of the last n, as rows of a place.

Both are heaps. A `sign` of 1 puts the lowest number at the root, -1 the highest.
"""

from typing import Any

from numba import njit

from shortlist.selection.kernels.arena import Records

HIGHEST_ROW = [("novelty", "f8")]
"""A heap of the highest, the lowest of them at its root."""
RECENT_ROW = [("novelty", "f8"), ("cell", "i4"), ("slot", "i4")]
"""Row n tells what the number in slot n is and in which cell it stands, and which slot stands in
cell n. The first k cells are a heap of the k highest, the lowest of them at its root; the others
are a heap of the rest, the highest at its root."""


@njit(cache=True)
def keep_highest(rows: Records, head: Any, most: int, novelty: float) -> None:
    """Adds a number to the highest; there is room for one more, or there are as many as may be."""
    root = head.start
    if head.length < most:
        child = head.length
        head.length += 1
        while child > 0 and rows[root + (child - 1) // 2].novelty > novelty:
            rows[root + child].novelty = rows[root + (child - 1) // 2].novelty
            child = (child - 1) // 2
        rows[root + child].novelty = novelty
        head.touched = 1
    elif novelty > rows[root].novelty:
        parent = 0
        while True:
            child = 2 * parent + 1
            if child + 1 < most and rows[root + child + 1].novelty < rows[root + child].novelty:
                child += 1
            if child >= most or rows[root + child].novelty >= novelty:
                break
            rows[root + parent].novelty = rows[root + child].novelty
            parent = child
        rows[root + parent].novelty = novelty
        head.touched = 1


@njit(cache=True)
def kth_highest(rows: Records, head: Any, k: int) -> float:
    """Of the recent numbers, 0 while there are fewer than k."""
    return _in_cell(rows, head.start, 0) if head.length >= k else 0.0


@njit(cache=True)
def put_recent(rows: Records, head: Any, k: int, slot: int, novelty: float) -> None:
    """Puts a number into a slot; the first slot that was never used has room."""
    start = head.start
    if slot == head.length:
        rows[start + slot].cell = slot
        rows[start + slot].slot = slot
        head.length += 1
    rows[start + slot].novelty = novelty
    head.touched = 1
    if rows[start + slot].cell < k:
        _settle(rows, start, 0, min(k, head.length), 1.0, rows[start + slot].cell)
    else:
        _settle(rows, start, k, head.length - k, -1.0, rows[start + slot].cell - k)
    if head.length > k and _in_cell(rows, start, k) > _in_cell(rows, start, 0):
        _swap(rows, start, 0, k)
        _settle(rows, start, 0, k, 1.0, 0)
        _settle(rows, start, k, head.length - k, -1.0, 0)


@njit(cache=True)
def _settle(rows: Records, start: int, first: int, size: int, sign: float, at: int) -> None:
    """Moves what stands in one cell of the heap from `first` on to where it belongs."""
    while at > 0:
        parent = (at - 1) // 2
        if sign * _in_cell(rows, start, first + parent) <= sign * _in_cell(rows, start, first + at):
            break
        _swap(rows, start, first + at, first + parent)
        at = parent
    while True:
        least = at
        for child in range(2 * at + 1, min(2 * at + 3, size)):
            least_number = sign * _in_cell(rows, start, first + least)
            if sign * _in_cell(rows, start, first + child) < least_number:
                least = child
        if least == at:
            return
        _swap(rows, start, first + at, first + least)
        at = least


@njit(cache=True)
def _in_cell(rows: Records, start: int, cell: int) -> float:
    novelty: float = rows[start + rows[start + cell].slot].novelty
    return novelty


@njit(cache=True)
def _swap(rows: Records, start: int, one: int, other: int) -> None:
    slot_of_one, slot_of_other = rows[start + one].slot, rows[start + other].slot
    rows[start + one].slot, rows[start + other].slot = slot_of_other, slot_of_one
    rows[start + slot_of_one].cell, rows[start + slot_of_other].cell = other, one
