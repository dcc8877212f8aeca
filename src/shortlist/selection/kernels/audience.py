"""The order of ids and the rounding of scores, for many candidates at once."""

import numpy as np
from numba import njit

from shortlist.matching.kernels.rounding import round9
from shortlist.scoring.kernels.layout import Floats, Ints, Longs
from shortlist.scoring.numbers import Spelled


@njit(cache=True)
def round_all(values: Floats) -> None:
    for at in range(values.size):
        values[at] = round9(values[at])


@njit(cache=True)
def with_smallest_ids(spelled: Spelled, numbers: Ints, count: int) -> Longs:
    """The places of so many numbers, those with the smallest ids, in any order.

    They are kept as a heap with the largest id on top.
    """
    heap = np.empty(min(count, numbers.size), np.int64)
    for at in range(heap.size):
        _rise(spelled, numbers, heap, at, at)
    for at in range(heap.size, numbers.size if count else 0):
        if _precedes(spelled, numbers[at], numbers[heap[0]]):
            _sink(spelled, numbers, heap, at)
    return heap


@njit(cache=True)
def _rise(spelled: Spelled, numbers: Ints, heap: Longs, hole: int, new: int) -> None:
    """Puts a new one into a hole at the end, then up as far as it is larger."""
    while hole:
        above = (hole - 1) // 2
        if not _precedes(spelled, numbers[heap[above]], numbers[new]):
            break
        heap[hole] = heap[above]
        hole = above
    heap[hole] = new


@njit(cache=True)
def _sink(spelled: Spelled, numbers: Ints, heap: Longs, new: int) -> None:
    """Puts a new one in the place of the top, then down as far as it is smaller."""
    hole = 0
    while 2 * hole + 1 < heap.size:
        below = 2 * hole + 1
        if below + 1 < heap.size and _precedes(
            spelled, numbers[heap[below]], numbers[heap[below + 1]]
        ):
            below += 1
        if not _precedes(spelled, numbers[new], numbers[heap[below]]):
            break
        heap[hole] = heap[below]
        hole = below
    heap[hole] = new


@njit(cache=True)
def _precedes(spelled: Spelled, left: int, right: int) -> bool:
    """Whether the id of one number is smaller than that of another."""
    first, second = spelled.starts[left], spelled.starts[right]
    while first < spelled.ends[left] and second < spelled.ends[right]:
        if spelled.letters[first] != spelled.letters[second]:
            return bool(spelled.letters[first] < spelled.letters[second])
        first += 1
        second += 1
    return bool(first == spelled.ends[left] and second < spelled.ends[right])
