"""Offers to shortlists of several banks, put together bank by bank."""

from typing import Any

import numpy as np
import numpy.typing as npt

from shortlist.matching.arrays import Ints, Longs
from shortlist.matching.kernels.compiling import kernel


@kernel
def parted(banks: Ints, ends: Longs) -> Longs:
    """Where each offer goes, so that those of one bank stand together in their own order.

    Where those of each bank end is written down; there are as many banks as ends.

    >>> ends = np.empty(2, np.int64)
    >>> parted(np.array([1, 0, 1]), ends), ends
    (array([1, 0, 2]), array([1, 3]))
    """
    ends[:] = 0
    for bank in banks:
        ends[bank] += 1
    for bank in range(1, ends.size):
        ends[bank] += ends[bank - 1]
    next_places = np.zeros(ends.size, np.int64)
    next_places[1:] = ends[:-1]
    to = np.empty(banks.size, np.int64)
    for at in range(banks.size):
        to[at] = next_places[banks[at]]
        next_places[banks[at]] += 1
    return to


@kernel
def moved(column: npt.NDArray[Any], to: Longs) -> npt.NDArray[Any]:
    """A column in another order.

    >>> moved(np.array([7, 8, 9]), np.array([1, 0, 2]))
    array([8, 7, 9])
    """
    made = np.empty_like(column)
    for at in range(to.size):
        made[to[at]] = column[at]
    return made


@kernel
def taken(column: npt.NDArray[Any], numbers: Ints) -> npt.NDArray[Any]:
    """What a column has at some places: as NumPy, which takes longer.

    >>> taken(np.array([7, 8, 9]), np.array([2, 0, 2], np.int32))
    array([9, 7, 9])
    """
    made = np.empty(numbers.size, column.dtype)
    for at in range(numbers.size):
        made[at] = column[numbers[at]]
    return made


@kernel
def run_end(places: Ints, first: int) -> int:
    """Where the offers of another place start; those of one place stand together."""
    end = first + 1
    while end < places.size and places[end] == places[first]:
        end += 1
    return end
