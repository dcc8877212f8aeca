"""Sums without error, as `math.fsum` has them."""

from numba import njit

from shortlist.scoring.kernels.layout import Floats


@njit(cache=True)
def exact_sum(values: Floats) -> float:
    """The sum, rounded once; the values are overwritten.

    Sums up what each addition loses, which nearly always leaves no doubt about the nearest double.

    >>> import numpy as np
    >>> exact_sum(np.array([1e16, 1.0, 1.0, -1e16, 0.1]))
    2.1
    """
    total, lost, magnitude = 0.0, 0.0, 0.0
    for value in values:
        total, low = _two_sum(total, value)
        lost += low
        magnitude += abs(value)
    total, lost = _two_sum(total, lost)
    doubt = values.size * values.size * magnitude * 2.0**-104
    if total + (lost + doubt) == total and total + (lost - doubt) == total:
        return total
    return _sum_of_partials(values)


@njit(cache=True)
def _sum_of_partials(values: Floats) -> float:
    """Keeps the sum so far as partial sums that do not overlap (Shewchuk), in place."""
    used = 0
    for value in values:
        high = value
        kept = 0
        for partial in range(used):
            high, low = _two_sum(high, values[partial])
            if low != 0.0:
                values[kept] = low
                kept += 1
        values[kept] = high
        used = kept + 1
    total, lost = 0.0, 0.0
    while used > 0 and lost == 0.0:
        used -= 1
        total, lost = _two_sum(total, values[used])
    if used > 0 and (lost > 0.0) == (values[used - 1] > 0.0):
        # what is left decides, should the part lost be half a unit exactly
        beyond = total + 2.0 * lost
        if beyond - total == 2.0 * lost:
            return beyond
    return total


@njit(cache=True)
def _two_sum(left: float, right: float) -> tuple[float, float]:
    """A sum, and what is lost by its rounding."""
    total = left + right
    share = total - left
    return total, (left - (total - share)) + (right - share)
