"""Cosines of texts and queries, and of vectors: exact, or how far from it they may be."""

import numpy as np
from numba import njit

from shortlist.scoring.kernels.layout import Floats, Ints
from shortlist.scoring.kernels.sums import exact_sum

EXTREME = 1e140
"""Beyond this length, or under its inverse, products may leave the range of doubles."""


@njit(cache=True, error_model="numpy")
def cosine_of(dot: float, left: float, right: float) -> float:
    """Of a product and two lengths; not a number where the product is beyond all doubles."""
    lengths = left * right
    if not np.isfinite(dot):
        return np.nan
    return dot / lengths if lengths != 0.0 else 0.0


@njit(cache=True)
def is_extreme(left: float, right: float) -> bool:
    """Whether the cosine of vectors so long needs care."""
    return not (1.0 / EXTREME < left < EXTREME and 1.0 / EXTREME < right < EXTREME)


@njit(cache=True)
def is_unsure(cosine: float, additions: int) -> bool:
    """Whether a cosine of a product that was added up in any order may round another way.

    Such an error is at most 2^-52 for each addition and a few operations more, and 1e9 < 2^30.
    """
    product = cosine * 1e9
    fraction: float = product - np.floor(product)
    return abs(fraction - 0.5) <= (additions + 16) * 2.0**-22


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
    return exact_sum(products, shared)


@njit(cache=True)
def vector_product(
    left: Floats, left_start: int, right: Floats, right_start: int, count: int, products: Floats
) -> float:
    """Of two vectors of `count` coordinates, exactly."""
    for at in range(count):
        products[at] = left[left_start + at] * right[right_start + at]
    return exact_sum(products, count)
