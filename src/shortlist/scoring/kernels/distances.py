"""Distances, given up as soon as they are too large."""

import math

import numpy as np
from numba import njit

from shortlist.scoring.kernels.layout import Kind, Published, Stored


@njit(cache=True)
def reach_of(limit: float) -> float:
    """A distance beyond which its negative, rounded, is under the limit.

    >>> reach_of(-5.0) > 5.0, reach_of(-math.inf)
    (True, inf)
    """
    return (1e-9 - limit) * (1.0 + 1e-12)


@njit(cache=True)
def distance_within(
    stored: Stored, published: Published, subscription: int, publication: int, reach: float
) -> float:
    """How far a publication is from a point; infinite beyond reach, NaN where it is nowhere."""
    template = stored.templates[subscription]
    at_worst = stored.kinds[template] == Kind.NEAREST_AT_WORST
    parameter = stored.starts[subscription]
    most = reach if at_worst else reach * reach * (1.0 + 1e-9)
    total = 0.0
    first = stored.code_starts[template]
    for step in range(first, stored.code_ends[template]):
        number = published.numbers[stored.code[step, 1], publication]
        offset = stored.parameters[parameter + 1] * abs(number - stored.parameters[parameter])
        parameter += 2
        if not at_worst:
            total += offset * offset
        elif step == first or offset > total or np.isnan(number):
            total = offset
        if total > most:
            return math.inf
    return total if at_worst else math.sqrt(total)
