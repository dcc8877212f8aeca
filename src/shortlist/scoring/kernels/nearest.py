"""All publications of a block that are near enough to the points of subscriptions.

What is too far on one axis is too far. With an attribute's numbers in order, those within reach
are neighbours, and two binary searches find where they start and end; only those on the axis that
leaves the fewest are looked at, each until its partial sum is too large.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from shortlist.matching.arrays import Floats, Ints
from shortlist.scoring.kernels.distances import distance_within, reach_of
from shortlist.scoring.kernels.findings import Findings, add, findings_of, pile_for, with_room
from shortlist.scoring.kernels.layout import Published, Stored
from shortlist.scoring.kernels.limits import limit_of, settled


class Ordered(NamedTuple):
    """For each attribute the publications that have its number, in order of it."""

    publications: Ints
    numbers: Floats
    counts: Ints


@njit(cache=True)
def nearest_in_block(
    stored: Stored, published: Published, ordered: Ordered, subscriptions: Ints, floors: Floats
) -> tuple[Findings, int]:
    """The findings, and for how many pairs the distance was computed to its end."""
    pile, evaluated = pile_for(subscriptions.size), 0
    for subscription in subscriptions:
        limit = limit_of(stored, floors, subscription)
        reach = reach_of(limit)
        axis, first, end = _narrowest(stored, ordered, subscription, reach)
        pile = with_room(pile, end - first)
        for at in range(first, end):
            publication = ordered.publications[axis, at]
            distance = distance_within(stored, published, subscription, publication, reach)
            if distance < np.inf:
                add(pile, publication, subscription, settled(-distance, limit))
            evaluated += distance != np.inf
    return findings_of(pile), evaluated


@njit(cache=True)
def _narrowest(
    stored: Stored, ordered: Ordered, subscription: int, reach: float
) -> tuple[int, int, int]:
    """The attribute with the fewest numbers within reach, and where they start and end."""
    template = stored.templates[subscription]
    parameter = stored.starts[subscription]
    best, best_first, best_end = -1, 0, 0
    for step in range(stored.code_starts[template], stored.code_ends[template]):
        attribute = stored.code[step, 1]
        value, weight = stored.parameters[parameter], stored.parameters[parameter + 1]
        parameter += 2
        first = _first(ordered, attribute, 0, value, weight, reach, False)
        end = _first(ordered, attribute, first, value, weight, reach, True)
        if best < 0 or end - first < best_end - best_first:
            best, best_first, best_end = attribute, first, end
    return best, best_first, best_end


@njit(cache=True)
def _first(
    ordered: Ordered,
    attribute: int,
    start: int,
    value: float,
    weight: float,
    reach: float,
    above: bool,
) -> int:
    """The first place, from `start` on, of a number that is not too far below the value, or of one
    that is too far above it. The test is the distance's own, so that none is lost to rounding."""
    end = ordered.counts[attribute]
    while start < end:
        middle = (start + end) // 2
        number = ordered.numbers[attribute, middle]
        too_far = weight * abs(number - value) > reach
        if (not too_far or number <= value) if above else (too_far and number < value):
            start = middle + 1
        else:
            end = middle
    return start
