"""Arrays: their types, defined once, how they grow, and runs of different lengths in flat ones."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.signedinteger[Any]]
Longs = Ints
"""The same to a type checker: of eight bytes, where that matters to a reader."""
Bytes = npt.NDArray[np.int8]
Bools = npt.NDArray[np.bool_]
Array = TypeVar("Array", bound=npt.NDArray[Any])
FEW = 16
"""Numbers are sorted where no more than one in so many occurs."""


def with_length(array: Array, length: int, fill: int = 0) -> Array:
    """The array, or a copy of at least that length and twice its own, filled up.

    >>> with_length(np.array([7, 8]), 3, fill=-1)
    array([ 7,  8, -1, -1])
    """
    if length <= len(array):
        return array
    shape = max(length, 2 * len(array)), *array.shape[1:]
    # memory of zeros is nobody's before something is written there
    larger = np.full(shape, fill, array.dtype) if fill else np.zeros(shape, array.dtype)
    larger[: len(array)] = array
    return larger  # type: ignore[return-value]


def offsets_of(lengths: npt.ArrayLike) -> Ints:
    """Where each run starts, and where the last one ends.

    >>> offsets_of([2, 0, 3])
    array([0, 2, 2, 5], dtype=int32)
    """
    return np.append(0, np.cumsum(lengths)).astype(np.int32)


def picked(offsets: Ints, which: Ints) -> tuple[Longs, Ints]:
    """The places of some runs' members, one run after the other, and the offsets there.

    >>> members, offsets = picked(np.array([0, 2, 5, 6]), np.array([2, 0]))
    >>> members.tolist(), offsets.tolist()
    ([5, 0, 1], [0, 1, 3])
    """
    starts, lengths = offsets[which], offsets[which + 1] - offsets[which]
    new = offsets_of(lengths)
    return np.arange(new[-1]) + np.repeat(starts - new[:-1], lengths), new


def distinct(numbers: Ints) -> tuple[Longs, Longs]:
    """The numbers that occur, ascending, and the place of each among them.

    >>> distinct(np.array([7, 2, 7]))
    (array([2, 7]), array([1, 0, 1]))
    """
    first = numbers.min(initial=np.iinfo(numbers.dtype).max)
    span = int(numbers.max(initial=first)) - int(first) + 1
    if numbers.size * FEW < span:
        found, places = np.unique(numbers, return_inverse=True)
        return found, places
    is_there = np.zeros(span, np.bool_)
    is_there[numbers - first] = True
    return np.flatnonzero(is_there) + first, (np.cumsum(is_there) - 1)[numbers - first]


def joined(some: Sequence[Ints]) -> Ints:
    """The offsets of all runs, after those that came before.

    >>> joined([np.array([0, 2]), np.array([0, 1, 4])])
    array([0, 2, 3, 6], dtype=int32)
    """
    return offsets_of(np.concatenate([np.diff(offsets) for offsets in some]))
