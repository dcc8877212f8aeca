"""Scores of pairs: those with one template that stand side by side are computed together.

A pair that lacks an attribute has no score, even where the result does not depend on it; so that is
kept apart from numbers that are not finite.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from shortlist.scoring.kernels.arithmetic import change, combine
from shortlist.scoring.kernels.distances import distance_within, reach_of
from shortlist.scoring.kernels.layout import Floats, Ints, Kind, Operation, Published, Stored
from shortlist.scoring.kernels.limits import limit_of, settled
from shortlist.scoring.kernels.operands import (
    Piece,
    put_constants,
    put_cosines,
    put_degrees,
    put_numbers,
    put_offsets,
    put_relevances,
)

LONGEST = 256
"""Pairs of a piece at most: what they need at once stays in the fastest cache."""


class Pairs(NamedTuple):
    """Publications with subscriptions that they match, and how far they do."""

    publications: Ints
    subscriptions: Ints
    possibility: Floats
    necessity: Floats


@njit(cache=True)
def score_pairs(
    stored: Stored, published: Published, pairs: Pairs, floors: Floats, depth: int
) -> tuple[Floats, int]:
    """The rounded scores, NaN where there is none, and how many pairs were given up early."""
    scores = np.empty(pairs.subscriptions.size)
    piece = Piece(
        np.empty(LONGEST, np.int32),
        np.empty(LONGEST, np.int64),
        np.empty(LONGEST, np.bool_),
        np.empty((depth, LONGEST)),
    )
    first, pruned = 0, 0
    while first < scores.size:
        template = stored.templates[pairs.subscriptions[first]]
        end = _end_of_piece(stored, pairs.subscriptions, first)
        if stored.kinds[template] in (Kind.NEAREST, Kind.NEAREST_AT_WORST):
            pruned += _measure(stored, published, pairs, first, end, floors, scores)
        else:
            _compute(stored, published, pairs, first, end, piece)
            for at in range(first, end):
                limit = limit_of(stored, floors, pairs.subscriptions[at])
                value = np.nan if piece.lacks[at - first] else piece.stack[0, at - first]
                scores[at] = settled(value, limit)
        first = end
    return scores, pruned


@njit(cache=True)
def _end_of_piece(stored: Stored, subscriptions: Ints, first: int) -> int:
    template = stored.templates[subscriptions[first]]
    last = min(subscriptions.size, first + LONGEST)
    for at in range(first + 1, last):
        if stored.templates[subscriptions[at]] != template:
            return at
    return last


@njit(cache=True)
def _measure(
    stored: Stored,
    published: Published,
    pairs: Pairs,
    first: int,
    end: int,
    floors: Floats,
    scores: Floats,
) -> int:
    """Scores that are negative distances; says how many were found to be too far."""
    pruned = 0
    for at in range(first, end):
        subscription = pairs.subscriptions[at]
        limit = limit_of(stored, floors, subscription)
        distance = distance_within(
            stored, published, subscription, pairs.publications[at], reach_of(limit)
        )
        pruned += distance == math.inf
        scores[at] = settled(-distance, limit)
    return pruned


@njit(cache=True)
def _compute(
    stored: Stored, published: Published, pairs: Pairs, first: int, end: int, piece: Piece
) -> None:
    """Leaves the values of a piece at the bottom of its stack."""
    for at in range(first, end):
        piece.publications[at - first] = pairs.publications[at]
        piece.parameters[at - first] = stored.starts[pairs.subscriptions[at]]
        piece.lacks[at - first] = False
    template = stored.templates[pairs.subscriptions[first]]
    top = -1
    for step in range(stored.code_starts[template], stored.code_ends[template]):
        operation = stored.code[step, 0]
        if operation >= Operation.ADD:
            top -= 1
            combine(operation, piece.stack, top, end - first)
        elif operation >= Operation.NEGATE:
            change(operation, piece.stack, top, end - first)
        else:
            top += 1
            _put(stored, published, pairs, first, end, step, piece, top)


@njit(cache=True)
def _put(
    stored: Stored,
    published: Published,
    pairs: Pairs,
    first: int,
    end: int,
    step: int,
    piece: Piece,
    top: int,
) -> None:
    parameters, count = stored.parameters, end - first
    operation, attribute = stored.code[step, 0], stored.code[step, 1]
    size: int = stored.code[step, 2]
    if operation == Operation.CONSTANT:
        put_constants(parameters, piece, top, count)
    elif operation == Operation.ATTRIBUTE:
        put_numbers(published, attribute, piece, top, count)
    elif operation == Operation.POSSIBILITY:
        put_degrees(pairs.possibility, first, piece, top, count)
    elif operation == Operation.NECESSITY:
        put_degrees(pairs.necessity, first, piece, top, count)
    elif operation == Operation.OFFSET:
        put_offsets(published, attribute, parameters, piece, top, count)
    elif operation == Operation.RELEVANCE:
        put_relevances(published, attribute, parameters, size, piece, top, count)
    else:
        put_cosines(published, attribute, parameters, size, piece, top, count)
