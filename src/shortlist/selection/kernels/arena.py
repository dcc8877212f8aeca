"""Room for the rows of many places in one array.

`heads` has one record a place, with at least the fields of `HEAD`; `tail` holds how much of `rows`
is taken, by whoever, and how much of that is still somebody's. Both kinds of records may have more
fields: numba compiles what is here for each.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from shortlist.matching.arrays import Longs
from shortlist.matching.kernels.compiling import kernel

Records = npt.NDArray[Any]

HEAD = [
    ("start", "i8"),
    ("length", "i4"),
    ("capacity", "i4"),
    ("is_open", "u1"),
    ("is_restored", "u1"),  # nothing was offered since
]
TAKEN, OWNED = 0, 1


@kernel
def with_room(
    rows: Records, heads: Records, tail: Longs, place: int, needed: int, part: int = 16
) -> Records:
    """The rows, in which a place has room for so many; they may be a new array.

    Whoever expects a place to grow lets it have a larger part of what it holds as spare room.
    """
    if needed <= heads[place].capacity:
        return rows
    capacity = padded(needed, part)
    if tail[TAKEN] + capacity > rows.size:
        rows = repacked(rows, heads, tail, capacity, part)
    start, old = tail[TAKEN], heads[place].start
    for row in range(heads[place].length):
        rows[start + row] = rows[old + row]
    tail[TAKEN] += capacity
    tail[OWNED] += capacity - heads[place].capacity
    heads[place].start = start
    heads[place].capacity = capacity
    return rows


@kernel
def padded(length: int, part: int = 16) -> int:
    """Some more than so many rows, so that the next one seldom has to move them."""
    return length + length // part + 1


@kernel
def repacked(rows: Records, heads: Records, tail: Longs, more: int, part: int = 16) -> Records:
    """All rows in a new array without gaps, in which at least so many more have room."""
    total = 0
    for place in range(heads.size):
        if heads[place].capacity > 0:
            total += padded(heads[place].length, part)
    packed = np.empty(total + max(total // part, heads.size) + more, rows.dtype)
    start = 0
    for place in range(heads.size):
        if heads[place].capacity > 0:
            old = heads[place].start
            for row in range(heads[place].length):
                packed[start + row] = rows[old + row]
            heads[place].start = start
            heads[place].capacity = padded(heads[place].length, part)
            start += heads[place].capacity
    tail[TAKEN] = start
    tail[OWNED] = start
    return packed


@kernel
def insert(rows: Records, heads: Records, place: int, at: int, new: Any) -> None:
    """Puts a record among a place's rows, where there is room for it."""
    start, length = heads[place].start, heads[place].length
    for row in range(start + length, start + at, -1):
        rows[row] = rows[row - 1]
    rows[start + at] = new
    heads[place].length = length + 1


@kernel
def mark(numbers: Longs, starts: Longs, lengths: Longs, is_held: npt.NDArray[np.bool_]) -> None:
    """Notes which numbers the rows of all places have in a field, but for -1."""
    for place in range(starts.size):
        for row in range(starts[place], starts[place] + lengths[place]):
            if numbers[row] >= 0:
                is_held[numbers[row]] = True


@kernel
def renumber(numbers: Longs, starts: Longs, lengths: Longs, new: Longs) -> None:
    """Puts new[n] for every number n that the rows of all places have in a field, but for -1."""
    for place in range(starts.size):
        for row in range(starts[place], starts[place] + lengths[place]):
            if numbers[row] >= 0:
                numbers[row] = new[numbers[row]]
