"""Thresholds of scores."""

import numpy as np
from numba import njit

from shortlist.matching.arrays import Floats
from shortlist.matching.kernels.rounding import round9
from shortlist.scoring.kernels.layout import Stored


@njit(cache=True)
def limit_of(stored: Stored, floors: Floats, subscription: int) -> float:
    """What a score must reach: the subscription's own threshold, and the caller's if there is any.

    `floors` has one for every subscription, or none at all.
    """
    limit: float = stored.least[subscription]
    return max(limit, floors[subscription]) if floors.size else limit


@njit(cache=True)
def settled(value: float, limit: float) -> float:
    """The rounded score; NaN where it is not finite or under the limit.

    >>> settled(0.1 + 0.2, 0.3), settled(0.25, 0.3)
    (0.3, nan)
    """
    if not np.isfinite(value):
        return np.nan
    score = round9(value)
    return score if score >= limit else np.nan
