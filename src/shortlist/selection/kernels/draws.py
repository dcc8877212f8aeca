"""The draws of `shortlist.selection.draws` for kernels, bit for bit."""

import numpy as np
from numba import njit

from shortlist.selection.draws import GOLDEN

# numba makes floats of a signed and an unsigned number: here all are unsigned
STEP = np.uint64(GOLDEN)
FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11))


@njit(cache=True)
def drawn(start: int, count: int) -> float:
    """The count-th draw of a stream, uniform in [0, 1); `start` is unsigned.

    >>> from shortlist.selection.draws import draw
    >>> drawn(np.uint64(7), 2) == draw(7, 2)
    True
    """
    mixed = start + np.uint64(count) * STEP + STEP
    mixed = (mixed ^ (mixed >> SHIFTS[0])) * FIRST_FACTOR
    mixed = (mixed ^ (mixed >> SHIFTS[1])) * SECOND_FACTOR
    mixed = mixed ^ (mixed >> SHIFTS[2])
    return float(mixed >> SHIFTS[3]) * 2.0**-53
