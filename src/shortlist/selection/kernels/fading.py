"""Keys of scores that fade, which do not."""

import math

import numpy as np

from shortlist.matching.arrays import Floats, Longs
from shortlist.matching.kernels.compiling import kernel


@kernel
def lasting_keys(scores: Floats, appeared: Longs, half_lives: Floats) -> Floats:
    """Logarithms of scores, counted from one instant for all: they rank as what they fade to.

    >>> lasting_keys(np.array([8.0, 4.0]), np.array([0, 10]), np.array([5.0, 5.0])).tolist()
    [3.0, 4.0]
    """
    keys = np.empty(scores.size)
    for at in range(scores.size):
        keys[at] = math.log2(scores[at]) + appeared[at] / half_lives[at]
    return keys
