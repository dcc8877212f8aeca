"""Relevance through the terms that texts and queries share.

Each term knows the subscriptions that ask for it. A text adds up products for these only: a pair
that shares no term has the score 0 and is not touched, unless its thresholds let 0 pass.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from shortlist.matching.arrays import Floats, Ints, Longs
from shortlist.scoring.kernels.cosines import cosine_of, is_unsure, term_product
from shortlist.scoring.kernels.findings import Findings, add, findings_of, pile_for, with_room
from shortlist.scoring.kernels.layout import Published, Stored
from shortlist.scoring.kernels.limits import limit_of, settled


class Posted(NamedTuple):
    """The subscriptions whose query has a term, and the term's weight there."""

    starts: Longs
    """By term."""
    counts: Ints
    """By term."""
    subscriptions: Ints
    weights: Floats


@njit(cache=True)
def relevant_in_block(
    stored: Stored,
    published: Published,
    posted: Posted,
    text: int,
    subscriptions: Ints,
    floors: Floats,
) -> tuple[Findings, int]:
    """The findings, and how many pairs were looked at."""
    pile, evaluated = pile_for(subscriptions.size), 0
    lenient = _with_limit_of_zero_or_less(stored, floors, subscriptions)
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
                evaluated += 1
        for subscription in touched[:count]:
            dot, dots[subscription] = dots[subscription], -1.0
            if not is_asked[subscription]:
                continue
            evaluated += 1
            start = stored.starts[subscription]
            terms = stored.code[stored.code_starts[stored.templates[subscription]], 2]
            lengths = length * stored.parameters[start]
            cosine = cosine_of(dot, lengths)
            if is_unsure(cosine, lengths, terms):
                # products were added in any order, which could show
                dot = term_product(
                    published.terms,
                    published.term_weights,
                    published.text_starts[text, publication],
                    published.text_ends[text, publication],
                    stored.parameters,
                    start + 1,
                    terms,
                    np.empty(terms),
                )
                cosine = cosine_of(dot, lengths)
            score = settled(cosine, limit_of(stored, floors, subscription))
            add(pile, publication, subscription, score)
    return findings_of(pile), evaluated


@njit(cache=True)
def _with_limit_of_zero_or_less(stored: Stored, floors: Floats, subscriptions: Ints) -> Ints:
    found = np.empty(subscriptions.size, np.int32)
    used = 0
    for subscription in subscriptions:
        found[used] = subscription
        used += limit_of(stored, floors, subscription) <= 0.0
    return found[:used]


@njit(cache=True)
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
