"""Cosines of texts and queries, and of vectors: exact, or how far from it they may be."""

import numpy as np
from numba import njit

from shortlist.matching.arrays import Floats, Ints


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


@njit(cache=True, error_model="numpy")
def cosine_of(dot: float, lengths: float) -> float:
    """Of a product and that of the lengths; not a number where one is beyond all doubles.

    >>> cosine_of(1.0, 2.0), cosine_of(0.0, 0.0)
    (0.5, 0.0)
    """
    if not np.isfinite(dot):
        return np.nan
    return dot / lengths if lengths != 0.0 else 0.0


@njit(cache=True)
def is_unsure(cosine: float, lengths: float, additions: int) -> bool:
    """Whether a cosine may round another way, if its product was added up in any order.

    Each addition and a few operations more err by 2^-52 at most, and 1e9 is less than 2^30. With
    infinite lengths additions may also overflow in one order and not in another.

    >>> is_unsure(0.5, 1.0, 3), is_unsure(0.1234567885, 1.0, 3)
    (False, True)
    """
    product = cosine * 1e9
    fraction: float = product - np.floor(product)
    return lengths == np.inf or abs(fraction - 0.5) <= (additions + 16) * 2.0**-22


@njit(cache=True)
def term_product(
    terms: Ints,
    weights: Floats,
    first: int,
    end: int,
    query: Floats,
    start: int,
    count: int,
    products: Floats,
) -> float:
    """Of a text, from `first` to `end`, and a query of `count` terms, exactly."""
    shared = 0
    for at in range(start, start + 2 * count, 2):
        low, high = first, end
        while low < high:
            middle = (low + high) // 2
            if terms[middle] < query[at]:
                low = middle + 1
            else:
                high = middle
        if low < end and terms[low] == query[at]:
            products[shared] = weights[low] * query[at + 1]
            shared += 1
    return exact_sum(products[:shared])


@njit(cache=True)
def vector_product(
    left: Floats, left_start: int, right: Floats, right_start: int, count: int, products: Floats
) -> float:
    """Of two vectors of `count` coordinates, exactly."""
    for at in range(count):
        products[at] = left[left_start + at] * right[right_start + at]
    return exact_sum(products)
