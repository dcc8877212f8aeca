"""Tables and lists of numbers, many entries at a time."""

import numpy as np
from numba import njit

from shortlist.matching.arrays import Ints, Longs

EMPTY, GONE = -1, -2
"""Entries of a table where no number is: none ever was, or one was taken out."""


@njit(cache=True)
def enter_all(old: Longs, entries: Longs) -> None:
    """Enters what one table holds into another, which has room for it.

    The upper half of an entry tells where to look for it first.
    """
    last = entries.size - 1
    for entry in old:
        if entry >= 0:
            place = (entry >> 32) & last
            while entries[place] >= 0:
                place = (place + 1) & last
            entries[place] = entry


@njit(cache=True)
def link_all(numbers: Ints, lists: Ints, heads: Ints, following: Ints, preceding: Ints) -> None:
    """Puts every number before the head of its list."""
    for n in range(numbers.size):
        number, head = numbers[n], heads[lists[n]]
        following[number], preceding[number] = head, -1
        if head >= 0:
            preceding[head] = number
        heads[lists[n]] = number


@njit(cache=True)
def listed(head: int, following: Ints) -> Ints:
    """The numbers of a list, from its head on."""
    count, number = 0, head
    while number >= 0:
        count += 1
        number = following[number]
    numbers = np.empty(count, np.int32)
    number = head
    for n in range(count):
        numbers[n] = number
        number = following[number]
    return numbers
