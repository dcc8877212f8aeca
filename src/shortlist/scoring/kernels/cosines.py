"""Cosines: of texts and queries through the terms that they share, of vectors by matrix products.

A term knows the subscriptions that ask for it. A text adds up products for these only: a pair that
shares no term has the score 0 and is not touched, unless its thresholds let 0 pass.

The last bits of a product of matrices depend on the order in which the library adds. So it decides
alone only where it is clear: under the limit by more than any error, or not beside a rounding
boundary of the ninth decimal. The few others are computed again, exactly.
"""

from typing import NamedTuple

import numpy as np

from shortlist.matching.arrays import Floats, Ints, Longs
from shortlist.matching.kernels.compiling import kernel
from shortlist.scoring.kernels.layout import (
    Findings,
    Published,
    Stored,
    add,
    findings_of,
    pile_for,
    settled,
    with_room,
)


@kernel
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


@kernel
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


@kernel
def _two_sum(left: float, right: float) -> tuple[float, float]:
    """A sum, and what is lost by its rounding."""
    total = left + right
    share = total - left
    return total, (left - (total - share)) + (right - share)


@kernel(error_model="numpy")
def cosine_of(dot: float, lengths: float) -> float:
    """Of a product and that of the lengths; not a number where one is beyond all doubles.

    >>> cosine_of(1.0, 2.0), cosine_of(0.0, 0.0)
    (0.5, 0.0)
    """
    if not np.isfinite(dot):
        return np.nan
    return dot / lengths if lengths != 0.0 else 0.0


@kernel
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


@kernel
def term_product(
    published: Published, text: int, publication: int, query: Floats, start: int, products: Floats
) -> float:
    """Of a text and a query with room for the product of each of its terms, exactly."""
    shared, terms = 0, published.terms
    first, end = published.text_starts[text, publication], published.text_ends[text, publication]
    for at in range(start, start + 2 * products.size, 2):
        low, high = first, end
        while low < high:
            middle = (low + high) // 2
            if terms[middle] < query[at]:
                low = middle + 1
            else:
                high = middle
        if low < end and terms[low] == query[at]:
            products[shared] = published.term_weights[low] * query[at + 1]
            shared += 1
    return exact_sum(products[:shared])


@kernel
def vector_product(
    published: Published, vector: int, publication: int, query: Floats, start: int, products: Floats
) -> float:
    """Of a vector and one of a query, with room for the product of each coordinate, exactly."""
    first = published.vector_starts[vector, publication]
    for at in range(products.size):
        products[at] = published.coordinates[first + at] * query[start + at]
    return exact_sum(products)


class Posted(NamedTuple):
    """The subscriptions whose query has a term, and the term's weight there."""

    starts: Longs
    """By term."""
    counts: Ints
    """By term."""
    subscriptions: Ints
    weights: Floats


@kernel
def relevant_in_block(
    stored: Stored,
    published: Published,
    posted: Posted,
    text: int,
    subscriptions: Ints,
) -> Findings:
    pile = pile_for(subscriptions.size)
    lenient = subscriptions[stored.least[subscriptions] <= 0.0]
    known = stored.templates.size
    is_asked = np.zeros(known, np.bool_)
    is_asked[subscriptions] = True
    dots = np.full(known, -1.0)  # negative where no term is shared: products never are
    touched = np.empty(known, np.int32)
    for publication in range(published.text_lengths.shape[1]):
        length = published.text_lengths[text, publication]
        if np.isnan(length):
            continue
        count = _add_up(published, posted, text, publication, dots, touched)
        pile = with_room(pile, lenient.size + count)
        for subscription in lenient:
            if dots[subscription] < 0.0:
                lengths = length * stored.parameters[stored.starts[subscription]]
                add(pile, publication, subscription, cosine_of(0.0, lengths))
        for subscription in touched[:count]:
            dot, dots[subscription] = dots[subscription], -1.0
            if not is_asked[subscription]:
                continue
            start = stored.starts[subscription]
            terms = stored.code[stored.code_starts[stored.templates[subscription]], 2]
            lengths = length * stored.parameters[start]
            cosine = cosine_of(dot, lengths)
            if is_unsure(cosine, lengths, terms):
                # products were added in any order, which could show
                products = np.empty(terms)
                dot = term_product(
                    published, text, publication, stored.parameters, start + 1, products
                )
                cosine = cosine_of(dot, lengths)
            score = settled(cosine, stored.least[subscription])
            add(pile, publication, subscription, score)
    return findings_of(pile)


@kernel
def _add_up(
    published: Published,
    posted: Posted,
    text: int,
    publication: int,
    dots: Floats,
    touched: Ints,
) -> int:
    """Products of a text with all queries that share a term, and how many these are."""
    count = 0
    first = published.text_starts[text, publication]
    for at in range(first, published.text_ends[text, publication]):
        term = published.terms[at]
        weight = published.term_weights[at]
        start = posted.starts[term]
        for post in range(start, start + posted.counts[term]):
            subscription = posted.subscriptions[post]
            product = weight * posted.weights[post]
            if dots[subscription] < 0.0:
                dots[subscription] = product
                touched[count] = subscription
                count += 1
            else:
                dots[subscription] += product
    return count


@kernel
def vectors_of(stored: Stored, subscriptions: Ints, size: int) -> Floats:
    """Their vectors as rows."""
    rows = np.empty((subscriptions.size, size))
    for at, subscription in enumerate(subscriptions):
        first = stored.starts[subscription] + 1
        rows[at] = stored.parameters[first : first + size]
    return rows


@kernel
def settle_products(
    stored: Stored,
    published: Published,
    vector: int,
    publications: Ints,
    subscriptions: Ints,
    products: Floats,
    size: int,
) -> Findings:
    """`products` has a row for each subscription and a column for each publication."""
    pile = pile_for(products.size)
    exactly = np.empty(size)
    lengths = published.vector_lengths[vector][publications]
    slack = 1e-9 + (size + 16) * 2.0**-52
    for row, subscription in enumerate(subscriptions):
        limit = stored.least[subscription]
        start = stored.starts[subscription]
        length = stored.parameters[start]
        for column, publication in enumerate(publications):
            dot = products[row, column]
            both_lengths = length * lengths[column]
            if dot < (limit - slack) * both_lengths:
                continue
            cosine = cosine_of(dot, both_lengths)
            if is_unsure(cosine, both_lengths, size):
                dot = vector_product(
                    published, vector, publication, stored.parameters, start + 1, exactly
                )
                cosine = cosine_of(dot, both_lengths)
            add(pile, publication, subscription, settled(cosine, limit))
    return findings_of(pile)
