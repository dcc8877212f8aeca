"""Sorting by counting, for keys that are small whole numbers."""

import numpy as np
import numpy.typing as npt

from shortlist.matching.arrays import Ints
from shortlist.matching.kernels.compiling import kernel


@kernel
def order_by(first: Ints, second: Ints) -> npt.NDArray[np.int32]:
    """The places of pairs in order of both keys, the first one first; keys are 0 or more.

    >>> order_by(np.array([1, 0, 1], np.int32), np.array([5, 7, 2], np.int32))
    array([1, 2, 0], dtype=int32)
    """
    order = np.arange(first.size).astype(np.int32)
    for keys in (second, first):
        starts = np.zeros(keys.max() + 2 if keys.size else 1, np.int64)
        for key in keys:
            starts[key + 1] += 1
        for key in range(1, starts.size):
            starts[key] += starts[key - 1]
        moved = np.empty_like(order)
        for place in order:
            key = keys[place]
            moved[starts[key]] = place
            starts[key] += 1
        order = moved
    return order
