"""The publications of a block that can matter to the k best of what came last, by distance.

Distances are computed for whole stretches of publications at once, since in several dimensions few
are out of reach along one of them. Then one look from the newest to the oldest leaves out those
that are too far for now and have k nearer ones behind them.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from shortlist.matching.arrays import Bools, Floats, Ints
from shortlist.scoring.kernels.distances import reach_of
from shortlist.scoring.kernels.findings import Findings, add, findings_of, pile_for, with_room
from shortlist.scoring.kernels.layout import Kind, Published, Stored
from shortlist.scoring.kernels.limits import settled


class Hopes(NamedTuple):
    """What a publication must reach to matter to a subscription, side by side.

    One under the floor is left out if k later ones of the block that last are better; with k = 0
    the floor alone decides.
    """

    subscriptions: Ints
    floors: Floats
    ks: Ints


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
def _most(reach: float, at_worst: bool) -> float:
    """What squares may be for distances within reach: rounding leaves nothing out."""
    return reach if at_worst else reach * reach * (1.0 + 1e-9)


@njit(cache=True)
def _put(nearest: Floats, distance: float) -> None:
    """Puts a distance among the k smallest, in the place of the largest."""
    at = nearest.size - 1
    while at > 0 and nearest[at - 1] > distance:
        nearest[at] = nearest[at - 1]
        at -= 1
    nearest[at] = distance
