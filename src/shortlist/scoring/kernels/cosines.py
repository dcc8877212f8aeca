"""Cosines of texts and queries, and of vectors: exact, or how far from it they may be."""

import numpy as np
from numba import njit

from shortlist.scoring.kernels.layout import Floats, Ints
from shortlist.scoring.kernels.sums import exact_sum


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
