"""Distances: how far, who is near enough, and which publications can matter to the k nearest.

What is too far on one axis is too far. With an attribute's numbers in order, those within reach
are neighbours, and two binary searches find where they start and end; only those on the axis that
leaves the fewest are looked at, each until its partial sum is too large.

For the k best of what came last, distances are computed for whole stretches of publications at
once, since in several dimensions few are out of reach along one of them. Then one look from the
newest to the oldest leaves out those that are too far for now and have k nearer ones behind them.
"""

import math
from typing import NamedTuple

import numpy as np

from shortlist.matching.arrays import Bools, Floats, Ints
from shortlist.matching.kernels.compiling import kernel
from shortlist.scoring.kernels.layout import (
    Findings,
    Kind,
    Published,
    Stored,
    add,
    findings_of,
    pile_for,
    settled,
    with_room,
)


@kernel
def reach_of(limit: float) -> float:
    """A distance beyond which its negative, rounded, is under the limit.

    >>> reach_of(-5.0) > 5.0, reach_of(-math.inf)
    (True, inf)
    """
    return (1e-9 - limit) * (1.0 + 1e-12)


@kernel
def distance_within(
    stored: Stored, published: Published, subscription: int, publication: int, reach: float
) -> float:
    """How far a publication is from a point; infinite beyond reach, NaN where it is nowhere."""
    template = stored.templates[subscription]
    at_worst = stored.kinds[template] == Kind.NEAREST_AT_WORST
    parameter = stored.starts[subscription]
    most = _most(reach, at_worst)
    total = 0.0
    first = stored.code_starts[template]
    for step in range(first, stored.code_ends[template]):
        number = published.numbers[stored.code[step, 1], publication]
        offset = stored.parameters[parameter + 1] * abs(number - stored.parameters[parameter])
        parameter += 2
        if not at_worst:
            total += offset * offset
        elif step == first or offset > total or np.isnan(number):
            total = offset
        if total > most:
            return math.inf
    return total if at_worst else math.sqrt(total)


class Ordered(NamedTuple):
    """For each attribute the publications that have its number, in order of it."""

    publications: Ints
    numbers: Floats
    counts: Ints


@kernel
def nearest_in_block(
    stored: Stored, published: Published, ordered: Ordered, subscriptions: Ints
) -> Findings:
    """Whatever is not too far along its subscription's narrowest axis is looked at."""
    pile = pile_for(subscriptions.size)
    for subscription in subscriptions:
        limit = stored.least[subscription]
        reach = reach_of(limit)
        axis, first, end = _narrowest(stored, ordered, subscription, reach)
        pile = with_room(pile, end - first)
        for at in range(first, end):
            publication = ordered.publications[axis, at]
            distance = distance_within(stored, published, subscription, publication, reach)
            if distance < np.inf:
                add(pile, publication, subscription, settled(-distance, limit))
    return findings_of(pile)


@kernel
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


@kernel
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


class Hopes(NamedTuple):
    """What a publication must reach to matter to a subscription, side by side.

    One under the floor is left out if k later ones of the block that last are better; with k = 0
    the floor alone decides.
    """

    subscriptions: Ints
    floors: Floats
    ks: Ints


@kernel
def hopeful_in_block(
    stored: Stored, published: Published, hopes: Hopes, lasts: Bools
) -> tuple[Findings, int]:
    """The findings, and how many pairs have a score; `lasts` says which publications count behind
    others: those that leave no earlier."""
    size = lasts.size
    pile, scored = pile_for(16 * hopes.subscriptions.size), 0
    squares, nearest = np.empty(size), np.empty(0)
    for place in range(hopes.subscriptions.size):
        subscription, k = hopes.subscriptions[place], hopes.ks[place]
        at_worst = stored.kinds[stored.templates[subscription]] == Kind.NEAREST_AT_WORST
        _measure(stored, published, subscription, at_worst, squares)
        for at in range(size):
            scored += math.isfinite(squares[at])
        floor = _most(reach_of(hopes.floors[place]), at_worst)
        if nearest.size != k:
            nearest = np.empty(k)
        nearest[:] = np.inf
        most = max(floor, np.inf if k else floor)
        pile = with_room(pile, size)
        for at in range(size - 1, -1, -1):
            square = squares[at]
            if not square <= most or square == np.inf:
                continue
            distance = square if at_worst else math.sqrt(square)
            add(pile, at, subscription, settled(-distance, -np.inf))
            if k and lasts[at] and distance < nearest[k - 1]:
                _put(nearest, distance)
                most = max(floor, _most(reach_of(-nearest[k - 1]), at_worst))
    return findings_of(pile), scored


@kernel
def _measure(
    stored: Stored, published: Published, subscription: int, at_worst: bool, squares: Floats
) -> None:
    """Squares of distances, or the distances at worst; NaN where a publication is nowhere."""
    template = stored.templates[subscription]
    parameter = stored.starts[subscription]
    squares[:] = 0.0
    for step in range(stored.code_starts[template], stored.code_ends[template]):
        numbers = published.numbers[stored.code[step, 1]]
        value, weight = stored.parameters[parameter], stored.parameters[parameter + 1]
        parameter += 2
        if at_worst:
            for at in range(squares.size):
                offset = weight * abs(numbers[at] - value)
                if offset > squares[at] or math.isnan(offset):
                    squares[at] = offset
        else:
            for at in range(squares.size):
                offset = weight * abs(numbers[at] - value)
                squares[at] += offset * offset


@kernel
def _most(reach: float, at_worst: bool) -> float:
    """What squares may be for distances within reach: rounding leaves nothing out."""
    return reach if at_worst else reach * reach * (1.0 + 1e-9)


@kernel
def _put(nearest: Floats, distance: float) -> None:
    """Puts a distance among the k smallest, in the place of the largest."""
    at = nearest.size - 1
    while at > 0 and nearest[at - 1] > distance:
        nearest[at] = nearest[at - 1]
        at -= 1
    nearest[at] = distance
