"""Cosines from the product of two matrices.

Their last bits depend on the order in which the library adds. So a product decides alone only where
it is clear: under the limit by more than any error, or not beside a rounding boundary of the ninth
decimal. The few others are computed again, exactly.
"""

import numpy as np
from numba import njit

from shortlist.matching.arrays import Floats, Ints
from shortlist.scoring.kernels.cosines import cosine_of, is_unsure, vector_product
from shortlist.scoring.kernels.findings import Findings, add, findings_of, pile_for
from shortlist.scoring.kernels.layout import Published, Stored
from shortlist.scoring.kernels.limits import limit_of, settled


@njit(cache=True)
def vectors_of(stored: Stored, subscriptions: Ints, size: int) -> Floats:
    """Their vectors as rows."""
    rows = np.empty((subscriptions.size, size))
    for at, subscription in enumerate(subscriptions):
        first = stored.starts[subscription] + 1
        rows[at] = stored.parameters[first : first + size]
    return rows


@njit(cache=True)
def settle_products(
    stored: Stored,
    published: Published,
    vector: int,
    publications: Ints,
    subscriptions: Ints,
    products: Floats,
    size: int,
    floors: Floats,
) -> tuple[Findings, int]:
    """The findings, and how many pairs were not clearly under their limit.

    `products` has a row for each subscription and a column for each publication.
    """
    pile, evaluated = pile_for(products.size), 0
    exactly = np.empty(size)
    lengths = published.vector_lengths[vector][publications]
    slack = 1e-9 + (size + 16) * 2.0**-52
    for row, subscription in enumerate(subscriptions):
        limit = limit_of(stored, floors, subscription)
        start = stored.starts[subscription]
        length = stored.parameters[start]
        for column, publication in enumerate(publications):
            dot = products[row, column]
            both_lengths = length * lengths[column]
            if dot < (limit - slack) * both_lengths:
                continue
            evaluated += 1
            cosine = cosine_of(dot, both_lengths)
            if is_unsure(cosine, both_lengths, size):
                dot = vector_product(
                    published.coordinates,
                    published.vector_starts[vector, publication],
                    stored.parameters,
                    start + 1,
                    size,
                    exactly,
                )
                cosine = cosine_of(dot, both_lengths)
            add(pile, publication, subscription, settled(cosine, limit))
    return findings_of(pile), evaluated
