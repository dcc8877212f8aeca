"""Pairs that have a score, as many as there turn out to be."""

from typing import NamedTuple

import numpy as np
from numba import njit

from shortlist.matching.arrays import Floats, Ints, Longs


class Findings(NamedTuple):
    publications: Ints
    subscriptions: Ints
    scores: Floats


class Pile(NamedTuple):
    """Findings that become more."""

    publications: Ints
    subscriptions: Ints
    scores: Floats
    used: Longs
    """How many there are: one number."""


@njit(cache=True)
def pile_for(count: int) -> Pile:
    """An empty one, with room for so many."""
    return Pile(
        np.empty(count, np.int32),
        np.empty(count, np.int32),
        np.empty(count, np.float64),
        np.zeros(1, np.int64),
    )


@njit(cache=True)
def with_room(pile: Pile, more: int) -> Pile:
    """The same findings, with room for so many more."""
    used = pile.used[0]
    if used + more <= pile.scores.size:
        return pile
    larger = pile_for(2 * used + more)
    for at in range(used):
        larger.publications[at] = pile.publications[at]
        larger.subscriptions[at] = pile.subscriptions[at]
        larger.scores[at] = pile.scores[at]
    larger.used[0] = used
    return larger


@njit(cache=True)
def add(pile: Pile, publication: int, subscription: int, score: float) -> None:
    """Adds a pair, if it has a score."""
    used = pile.used[0]
    pile.publications[used] = publication
    pile.subscriptions[used] = subscription
    pile.scores[used] = score
    pile.used[0] = used + (not np.isnan(score))


@njit(cache=True)
def findings_of(pile: Pile) -> Findings:
    used = pile.used[0]
    return Findings(pile.publications[:used], pile.subscriptions[:used], pile.scores[:used])
