"""Tables and lists of numbers, and texts by hash, many entries at a time."""

import numpy as np
import numpy.typing as npt
from numba import uint64

from shortlist.matching.arrays import Ints, Longs
from shortlist.matching.kernels.compiling import kernel

EMPTY, GONE = -1, -2
"""Entries of a table where no number is: none ever was, or one was taken out."""


@kernel
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


@kernel
def link_all(numbers: Ints, lists: Ints, heads: Ints, following: Ints, preceding: Ints) -> None:
    """Puts every number before the head of its list."""
    for n in range(numbers.size):
        number, head = numbers[n], heads[lists[n]]
        following[number], preceding[number] = head, -1
        if head >= 0:
            preceding[head] = number
        heads[lists[n]] = number


@kernel
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


_FNV_START = uint64(0xCBF29CE484222325)
_FNV_PRIME = uint64(0x100000001B3)


@kernel
def hash_texts(
    data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint64]:
    """FNV-1a of every text."""
    hashes = np.empty(offsets.size - 1, np.uint64)
    for text in range(hashes.size):
        code = _FNV_START
        for at in range(offsets[text], offsets[text + 1]):
            code = (code ^ uint64(data[at])) * _FNV_PRIME
        hashes[text] = code
    return hashes


@kernel
def find_texts(
    wanted_hashes: npt.NDArray[np.uint64],
    wanted: npt.NDArray[np.uint8],
    wanted_offsets: npt.NDArray[np.int64],
    hashes: npt.NDArray[np.uint64],
    data: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
) -> npt.NDArray[np.int32]:
    """The place of every wanted text among others in order of hash, or -1."""
    places = np.full(wanted_hashes.size, -1, np.int32)
    for want in range(wanted_hashes.size):
        place = np.searchsorted(hashes, wanted_hashes[want])
        length = wanted_offsets[want + 1] - wanted_offsets[want]
        while place < hashes.size and hashes[place] == wanted_hashes[want]:
            if offsets[place + 1] - offsets[place] == length:
                same = True
                for at in range(length):
                    if data[offsets[place] + at] != wanted[wanted_offsets[want] + at]:
                        same = False
                        break
                if same:
                    places[want] = place
                    break
            place += 1
    return places
