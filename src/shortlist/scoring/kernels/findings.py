"""Pairs that have a score, as many as there turn out to be."""

from typing import NamedTuple

import numpy as np
from numba import njit

from shortlist.scoring.kernels.layout import Floats, Ints


class Findings(NamedTuple):
    publications: Ints
    subscriptions: Ints
    scores: Floats


@njit(cache=True)
def room_for(count: int) -> Findings:
    return Findings(np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count))


@njit(cache=True)
def with_room(found: Findings, used: int, more: int) -> Findings:
    """The same, of which so many are used, with room for more."""
    if used + more <= found.scores.size:
        return found
    larger = room_for(2 * used + more)
    larger.publications[:used] = found.publications[:used]
    larger.subscriptions[:used] = found.subscriptions[:used]
    larger.scores[:used] = found.scores[:used]
    return larger


@njit(cache=True)
def put(found: Findings, used: int, publication: int, subscription: int, score: float) -> int:
    """Writes down a pair if it has a score, and says how many there are then."""
    found.publications[used] = publication
    found.subscriptions[used] = subscription
    found.scores[used] = score
    return used + (not np.isnan(score))


@njit(cache=True)
def first_of(found: Findings, used: int) -> Findings:
    return Findings(found.publications[:used], found.subscriptions[:used], found.scores[:used])
