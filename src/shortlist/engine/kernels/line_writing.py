"""Lines made of texts side by side."""

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

QUOTE, BACKSLASH, SPACE = ord('"'), ord("\\"), ord(" ")


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
        for row in range(count):
            place = places[row] if places.size else row
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
                place = places[first + at] if places.size else first + at
                cursor = cursors[at]
                _copy(lines, cursor, before, 0, before.size)
                cursor += before.size
                length = offsets[place + 1] - offsets[place]
                _copy(lines, cursor, content, offsets[place], length)
                cursors[at] = cursor + length
        for at in range(count):
            _copy(lines, cursors[at], end, 0, end.size)
