"""The k-th highest of the last n numbers, as rows of a place.

There are two heaps. A `sign` of 1 puts the lowest number at the root, -1 the highest.
"""

from shortlist.matching.kernels.compiling import kernel
from shortlist.selection.kernels.arena import Records

RECENT_ROW = [("novelty", "f8"), ("cell", "i4"), ("slot", "i4")]
"""Row n tells what the number in slot n is and in which cell it stands, and which slot stands in
cell n. The first k cells are a heap of the k highest, the lowest of them at its root; the others
are a heap of the rest, the highest at its root."""


@kernel
def kth_highest(rows: Records, start: int, size: int, k: int) -> float:
    """Of so many recent numbers, 0 if they are fewer than k."""
    return _in_cell(rows, start, 0) if size >= k else 0.0


@kernel
def put_recent(rows: Records, start: int, size: int, k: int, slot: int, novelty: float) -> None:
    """Puts a number into a slot, in place of the one there or, in slot `size`, as one more.

    >>> import numpy as np
    >>> rows = np.zeros(3, RECENT_ROW)
    >>> for came, novelty in enumerate([0.9, 0.5, 0.2, 0.3]):
    ...     put_recent(rows, 0, min(came, 3), 2, came % 3, novelty)
    >>> kth_highest(rows, 0, 3, k=2)
    0.3
    """
    if slot == size:
        rows[start + slot].cell = slot
        rows[start + slot].slot = slot
        size += 1
    rows[start + slot].novelty = novelty
    if rows[start + slot].cell < k:
        _settle(rows, start, 0, min(k, size), 1.0, rows[start + slot].cell)
    else:
        _settle(rows, start, k, size - k, -1.0, rows[start + slot].cell - k)
    if size > k and _in_cell(rows, start, k) > _in_cell(rows, start, 0):
        _swap(rows, start, 0, k)
        _settle(rows, start, 0, k, 1.0, 0)
        _settle(rows, start, k, size - k, -1.0, 0)


@kernel
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


@kernel
def _in_cell(rows: Records, start: int, cell: int) -> float:
    novelty: float = rows[start + rows[start + cell].slot].novelty
    return novelty


@kernel
def _swap(rows: Records, start: int, one: int, other: int) -> None:
    slot_of_one, slot_of_other = rows[start + one].slot, rows[start + other].slot
    rows[start + one].slot, rows[start + other].slot = slot_of_other, slot_of_one
    rows[start + slot_of_one].cell, rows[start + slot_of_other].cell = other, one
