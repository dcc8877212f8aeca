"""Lines made of texts side by side, and numbers as Python writes them."""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from shortlist.matching.kernels.compiling import kernel

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

BLOCK = 256
"""Lines that are written together, one column after the other, while they are in the cache."""
LONGEST = 24
"""Bytes of the longest double, as -2.2250738585072014e-308 is one."""

QUOTE, BACKSLASH, SPACE = ord('"'), ord("\\"), ord(" ")
ZERO, POINT, MINUS, PLUS, TIMES_TEN_TO = (ord(letter) for letter in "0.-+e")


class Cells(NamedTuple):
    """A column of texts: line i has `before`, then text `places[i]`, or text i if there are none.

    Text j is content[offsets[j]:offsets[j + 1]].
    """

    before: Bytes
    content: Bytes
    offsets: Longs
    places: Ints


_copy_memory: Any = cgutils.raw_memcpy


def _typed_copy(_context: Any, target: Any, _at: Any, source: Any, _start: Any, _count: Any) -> Any:
    """Bytes of a source into a target that has room for them; a loop takes several times as long
    for texts as short as names."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        into, at, out_of, start, count = arguments
        into = context.make_array(signature.args[0])(context, builder, into).data
        out_of = context.make_array(signature.args[2])(context, builder, out_of).data
        to, since = builder.gep(into, [at]), builder.gep(out_of, [start])
        _copy_memory(builder, to, since, count, 1)
        return context.get_dummy_value()

    longs = types.int64
    return types.void(target, longs, source, longs, longs), generate


_copy: Any = intrinsic(_typed_copy)


@kernel
def has_escapes(content: Bytes) -> bool:
    """Whether JSON writes any byte of names in another way.

    >>> has_escapes(np.frombuffer(b"a b", np.uint8)), has_escapes(np.frombuffer(b'"', np.uint8))
    (False, True)
    """
    count = 0
    # without a way out on the first one, so that it is made of vectors
    for byte in content:
        count += (byte < SPACE) | (byte == QUOTE) | (byte == BACKSLASH)
    return count > 0


@kernel(nogil=True)
def line_ends(columns: tuple[Cells, ...], end: Bytes, count: int) -> Longs:
    """Where each of so many lines begins, and where the last one ends."""
    ends = np.empty(count + 1, np.int64)
    ends[0] = 0
    ends[1:] = end.size
    for column in columns:
        before, _, offsets, places = column
        if places.size == 0:
            for row in range(count):
                ends[row + 1] += before.size + offsets[row + 1] - offsets[row]
        else:
            for row in range(count):
                place = places[row]
                ends[row + 1] += before.size + offsets[place + 1] - offsets[place]
    for row in range(count):
        ends[row + 1] += ends[row]
    return ends


@kernel(nogil=True)
def write_lines(columns: tuple[Cells, ...], end: Bytes, ends: Longs, lines: Bytes) -> None:
    """Writes the lines that begin where `line_ends` says."""
    cursors = np.empty(BLOCK, np.int64)
    for first in range(0, ends.size - 1, BLOCK):
        count = min(BLOCK, ends.size - 1 - first)
        cursors[:count] = ends[first : first + count]
        for column in columns:
            before, content, offsets, places = column
            for at in range(count):
                place = first + at
                if places.size:
                    place = places[first + at]
                cursor = cursors[at]
                _copy(lines, cursor, before, 0, before.size)
                cursor += before.size
                length = offsets[place + 1] - offsets[place]
                _copy(lines, cursor, content, offsets[place], length)
                cursors[at] = cursor + length
        for at in range(count):
            _copy(lines, cursors[at], end, 0, end.size)


@kernel(nogil=True)
def as_python_writes(
    numbers: NDArray[np.float64], content: Bytes, offsets: Longs
) -> tuple[Bytes, Longs]:
    """Numbers as `repr` writes them, from texts of the same digits as Arrow writes them.

    Arrow writes 1 for 1.0, 1e+10 for 10000000000.0, 0.00001 for 1e-05 and 1e-7 for 1e-07.

    >>> numbers, texts = np.array([-1, 1e-7, 0.5]), np.frombuffer(b"-11e-70.5", np.uint8)
    >>> content, offsets = as_python_writes(numbers, texts, np.array([0, 2, 6, 9]))
    >>> bytes(content), offsets
    (b'-1.01e-070.5', array([ 0,  4,  9, 12]))
    """
    written = np.empty(numbers.size * LONGEST, np.uint8)
    ends = np.zeros_like(offsets)
    digits = np.empty(LONGEST, np.uint8)
    cursor = 0
    for at in range(numbers.size):
        start, stop = offsets[at], offsets[at + 1]
        size = abs(numbers[at])
        if (1e-4 <= size < 1e10 and size != np.floor(size)) or not np.isfinite(size):
            _copy(written, cursor, content, start, stop - start)
            cursor += stop - start
        else:
            if content[start] == MINUS:
                written[cursor] = MINUS
                cursor += 1
                start += 1
            count, point = _read_digits(content, start, stop, digits)
            cursor = _write_digits(digits, count, point, written, cursor)
        ends[at + 1] = cursor
    return written[:cursor], ends


@kernel
def _read_digits(content: Bytes, start: int, stop: int, digits: Bytes) -> tuple[int, int]:
    """The digits of a number without the zeros around them, and how many stand before its point.

    They are fewer than 0 if zeros follow the point first.
    """
    count, kept, point, exponent = 0, 0, 0, 0
    has_point = False
    at = start
    while at < stop and content[at] != TIMES_TEN_TO:
        byte = content[at]
        at += 1
        if byte == POINT:
            has_point = True
            continue
        if count or byte != ZERO:
            digits[count] = byte
            count += 1
            if byte != ZERO:
                kept = count
            point += not has_point
        else:
            point -= has_point
    if at < stop:
        for place in range(at + 2, stop):
            exponent = 10 * exponent + content[place] - ZERO
        if content[at + 1] == MINUS:
            exponent = -exponent
    return kept, point + exponent


@kernel
def _write_digits(digits: Bytes, count: int, point: int, written: Bytes, cursor: int) -> int:
    """Writes a number; where it ends."""
    if count == 0:
        point = 1
    if -4 < point <= 16:
        if point <= 0:
            written[cursor] = ZERO
            written[cursor + 1] = POINT
            written[cursor + 2 : cursor + 2 - point] = ZERO
            _copy(written, cursor + 2 - point, digits, 0, count)
            return cursor + 2 - point + count
        for place in range(point):
            written[cursor + place] = digits[place] if place < count else ZERO
        cursor += point
        written[cursor] = POINT
        if count <= point:
            written[cursor + 1] = ZERO
            return cursor + 2
        _copy(written, cursor + 1, digits, point, count - point)
        return cursor + 1 + count - point
    written[cursor] = digits[0]
    cursor += 1
    if count > 1:
        written[cursor] = POINT
        _copy(written, cursor + 1, digits, 1, count - 1)
        cursor += count
    exponent = point - 1
    written[cursor] = TIMES_TEN_TO
    written[cursor + 1] = MINUS if exponent < 0 else PLUS
    cursor += 2
    exponent = abs(exponent)
    if exponent >= 100:
        written[cursor] = ZERO + exponent // 100
        cursor += 1
    written[cursor] = ZERO + exponent // 10 % 10
    written[cursor + 1] = ZERO + exponent % 10
    return cursor + 2
