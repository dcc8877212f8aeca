"""Sorting by digits, for keys that are whole numbers."""

import numpy as np

from shortlist.matching.arrays import Ints, Longs
from shortlist.matching.kernels.compiling import kernel

WIDEST = 11
"""Bits of a digit at most: the counts of all its values stay in the fastest cache."""


@kernel
def in_order(keys: Longs) -> tuple[Longs, Ints]:
    """The keys in order, and the places where they stood; keys are 0 or more, equal ones stay.

    >>> in_order(np.array([7, 5, 9, 5]))
    (array([5, 5, 7, 9]), array([1, 3, 0, 2], dtype=int32))
    """
    places = np.arange(keys.size).astype(np.int32)
    largest, is_sorted = 0, True
    for at in range(keys.size):
        largest = max(largest, keys[at])
        is_sorted &= at == 0 or keys[at - 1] <= keys[at]
    if is_sorted:
        return keys, places
    bits = 0
    while largest >> bits:
        bits += 1
    width = -(-bits // -(-bits // WIDEST))
    keys, spare_keys, spare_places = keys.copy(), np.empty_like(keys), np.empty_like(places)
    for shift in range(0, bits, width):
        _move_by_digit(keys, places, shift, width, spare_keys, spare_places)
        keys, spare_keys = spare_keys, keys
        places, spare_places = spare_places, places
    return keys, places


@kernel
def _move_by_digit(
    keys: Longs, places: Ints, shift: int, width: int, to_keys: Longs, to_places: Ints
) -> None:
    last = (1 << width) - 1
    starts = np.zeros(last + 2, np.int64)
    for key in keys:
        starts[((key >> shift) & last) + 1] += 1
    for digit in range(last):
        starts[digit + 1] += starts[digit]
    for at in range(keys.size):
        digit = (keys[at] >> shift) & last
        to = starts[digit]
        starts[digit] = to + 1
        to_keys[to] = keys[at]
        to_places[to] = places[at]
