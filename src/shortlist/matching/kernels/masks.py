"""Masks: one bit per publication of a block, in rows of a table that slots point into."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import uint64

from shortlist.matching.arrays import Ints, Longs
from shortlist.matching.kernels.compiling import kernel

Table = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.unsignedinteger[Any]]


@kernel
def set_bits(places: Ints, table: Table, row: int) -> None:
    """A row with the bits of these places only."""
    table[row] = 0
    for place in places:
        table[row, place >> 6] |= uint64(1) << uint64(place & 63)


@kernel
def prefix_rows(keys: Longs, places: Ints, table: Table, first: int) -> Longs:
    """Row `first + n` has the bits of those with the first n keys, which come ascending.

    The answer is every key once. Few rows stay in the cache.
    """
    distinct = np.empty_like(keys)
    row, count = first, 0
    table[row] = 0
    for n in range(keys.size):
        if n == 0 or keys[n] != keys[n - 1]:
            distinct[count] = keys[n]
            count += 1
            row += 1
            table[row] = table[row - 1]
        table[row, places[n] >> 6] |= uint64(1) << uint64(places[n] & 63)
    return distinct[:count]


@kernel
def end_rows(ends: Longs, first_slot: int, values: Longs, first_row: int, rows: Rows) -> None:
    """Every end's row: that of the values before it, of one order; both come ascending."""
    done = 0
    for n in range(values.size):
        low, high = done, ends.size
        while low < high:
            middle = (low + high) >> 1
            if ends[middle] <= values[n]:
                low = middle + 1
            else:
                high = middle
        rows[first_slot + done : first_slot + low] = first_row + n
        done = low
    rows[first_slot + done : first_slot + ends.size] = first_row + values.size


@kernel
def value_rows(
    slots: Ints, values: Ints, starts: Ints, places: Ints, table: Table, next_row: int, rows: Rows
) -> int:
    """Gives slots the bits of the publications that have a value; the answer is the next free row.

    A slot may come with several values.
    """
    for n in range(slots.size):
        slot = slots[n]
        row = rows[slot]
        if row == 0:
            row = next_row
            next_row += 1
            rows[slot] = row
            table[row] = 0
        for at in range(starts[values[n]], starts[values[n] + 1]):
            place = places[at]
            table[row, place >> 6] |= uint64(1) << uint64(place & 63)
    return next_row


@kernel
def between_rows(
    lows: Longs,
    highs: Longs,
    first_slot: int,
    least: Longs,
    least_row: int,
    most: Longs,
    most_row: int,
    table: Table,
    next_row: int,
    rows: Rows,
) -> int:
    """Gives slots the bits of those who may have a value from low to before high.

    `least` is the order of what each may have at least, `most` of what each may have at most, with
    the first rows of their prefixes.
    """
    for n in range(lows.size):
        if lows[n] >= highs[n]:
            continue
        start, stop = np.searchsorted(most, lows[n]), np.searchsorted(least, highs[n])
        found = uint64(0)
        for word in range(table.shape[1]):
            table[next_row, word] = table[least_row + stop, word] & ~table[most_row + start, word]
            found |= table[next_row, word]
        if found != 0:
            rows[first_slot + n] = next_row
            next_row += 1
    return next_row


@kernel
def add_bits(row: int, first_slot: int, count: int, table: Table, next_row: int, rows: Rows) -> int:
    """Gives slots the bits of a row besides their own."""
    for slot in range(first_slot, first_slot + count):
        if rows[slot] == 0:
            rows[slot] = next_row
            table[next_row] = 0
            next_row += 1
        table[rows[slot]] |= table[row]
    return next_row


@kernel
def element_between_rows(
    lows: Longs,
    highs: Longs,
    first_slot: int,
    elements: Longs,
    places: Ints,
    table: Table,
    next_row: int,
    rows: Rows,
) -> int:
    """As `between_rows`, where one may have several values."""
    for n in range(lows.size):
        start, stop = np.searchsorted(elements, lows[n]), np.searchsorted(elements, highs[n])
        if start < stop:
            table[next_row] = 0
            for at in range(start, stop):
                table[next_row, places[at] >> 6] |= uint64(1) << uint64(places[at] & 63)
            rows[first_slot + n] = next_row
            next_row += 1
    return next_row


@kernel
def any_of_rows(
    offsets: Ints, members: Ints, first_slot: int, table: Table, next_row: int, rows: Rows
) -> int:
    """Gives slots the bits of any of their members."""
    for n in range(offsets.size - 1):
        used = False
        for at in range(offsets[n], offsets[n + 1]):
            row = rows[members[at]]
            if row != 0:
                if not used:
                    table[next_row] = table[row]
                    used = True
                else:
                    table[next_row] |= table[row]
        if used:
            rows[first_slot + n] = next_row
            next_row += 1
    return next_row
