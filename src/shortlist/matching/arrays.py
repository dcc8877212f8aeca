"""Arrays: their types, defined once, and how they grow."""

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


def with_length(array: Array, length: int, fill: int = 0) -> Array:
    """The array, or a copy of at least that length and twice its own, filled up.

    >>> with_length(np.array([7, 8]), 3, fill=-1)
    array([ 7,  8, -1, -1])
    """
    if length <= len(array):
        return array
    larger = np.full((max(length, 2 * len(array)), *array.shape[1:]), fill, array.dtype)
    larger[: len(array)] = array
    return larger  # type: ignore[return-value]
