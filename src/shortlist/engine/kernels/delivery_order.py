"""Merge sort of deliveries by two numbers and a text, in few steps where they come as runs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.matching.kernels.borrowing import borrowed
from shortlist.matching.kernels.compiling import kernel

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

WORD = 8


class Keys(NamedTuple):
    """What deliveries are sorted by; the name of one is text `places[i]`, or text i if there are
    no places. Text j is content[offsets[j]:offsets[j + 1]]."""

    times: Longs
    positions: Longs
    content: Bytes
    offsets: Longs
    places: Ints


class _Rows(NamedTuple):
    times: Longs
    positions: Longs
    words: NDArray[np.uint64]
    """The first bytes of names that not all have, the first one highest, with zeros behind."""
    starts: Longs
    stops: Longs
    content: Bytes


def order_of(keys: Keys) -> Longs:
    """The numbers of deliveries in order; nothing if they are in order already.

    Names are compared byte by byte, which in UTF-8 is the order of their characters.

    >>> content, offsets = np.frombuffer(b"bab", np.uint8), np.array([0, 1, 3])
    >>> same, none = np.zeros(2, np.int64), np.empty(0, np.int32)
    >>> order_of(Keys(same, same, content, offsets, none))
    array([1, 0])
    >>> order_of(Keys(np.array([1, 2]), same, content, offsets, none))
    array([], dtype=int64)
    """
    return _order(_rows(keys))


@kernel(nogil=True)
def _order(rows: _Rows) -> Longs:
    rows = borrowed(rows)
    count = rows.times.size
    bounds = np.empty(count + 1, np.int64)
    bounds[0] = 0
    runs = 0
    for row in range(1, count + 1):
        if row == count or _precedes(rows, row, row - 1):
            runs += 1
            bounds[runs] = row
    if runs <= 1:
        return np.empty(0, np.int64)
    order, merged = np.arange(count), np.empty(count, np.int64)
    while runs > 1:
        for run in range(0, runs, 2):
            middle, stop = bounds[run + 1], bounds[min(run + 2, runs)]
            _merge(rows, order, bounds[run], middle, stop, merged)
            bounds[run // 2 + 1] = stop
        runs = (runs + 1) // 2
        order, merged = merged, order
    return order


@kernel(nogil=True)
def _rows(keys: Keys) -> _Rows:
    count = keys.times.size
    starts, stops = np.empty(count, np.int64), np.empty(count, np.int64)
    for row in range(count):
        place = keys.places[row] if keys.places.size else row
        starts[row] = keys.offsets[place]
        stops[row] = keys.offsets[place + 1]
    content = keys.content
    shared = stops[0] - starts[0] if count else 0
    for row in range(1, count):
        shared = min(shared, stops[row] - starts[row])
        same = 0
        while same < shared and content[starts[row] + same] == content[starts[0] + same]:
            same += 1
        shared = same
    words = np.empty(count, np.uint64)
    for row in range(count):
        word = np.uint64(0)
        first = starts[row] + shared
        for at in range(first, first + WORD):
            byte = np.uint64(content[at]) if at < stops[row] else np.uint64(0)
            word = (word << np.uint64(8)) | byte
        words[row] = word
    return _Rows(keys.times, keys.positions, words, starts, stops, content)


@kernel(forceinline=True)
def _precedes(rows: _Rows, one: int, other: int) -> bool:
    if rows.times[one] != rows.times[other]:
        return bool(rows.times[one] < rows.times[other])
    if rows.positions[one] != rows.positions[other]:
        return bool(rows.positions[one] < rows.positions[other])
    if rows.words[one] != rows.words[other]:
        return bool(rows.words[one] < rows.words[other])
    return _is_lower(rows, one, other)


@kernel(forceinline=True)
def _is_lower(rows: _Rows, one: int, other: int) -> bool:
    """Whether one name is before the other."""
    start, start_of_other = rows.starts[one], rows.starts[other]
    length, length_of_other = rows.stops[one] - start, rows.stops[other] - start_of_other
    for at in range(min(length, length_of_other)):
        byte, byte_of_other = rows.content[start + at], rows.content[start_of_other + at]
        if byte != byte_of_other:
            return bool(byte < byte_of_other)
    return bool(length < length_of_other)


@kernel
def _merge(rows: _Rows, order: Longs, start: int, middle: int, stop: int, merged: Longs) -> None:
    """Two runs as one; of equals, those of the first run come first."""
    left, right = start, middle
    for at in range(start, stop):
        if right < stop and (left == middle or _precedes(rows, order[right], order[left])):
            merged[at] = order[right]
            right += 1
        else:
            merged[at] = order[left]
            left += 1
