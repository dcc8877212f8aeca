"""Scores of pairs: those with one template that stand side by side are computed together.

A pair that lacks an attribute has no score, even where the result does not depend on it; so that is
kept apart from numbers that are not finite.
"""

import math
from typing import NamedTuple

import numpy as np

from shortlist.matching.arrays import Bools, Floats, Ints, Longs
from shortlist.matching.kernels.compiling import kernel
from shortlist.scoring.kernels.cosines import cosine_of, term_product, vector_product
from shortlist.scoring.kernels.distances import distance_within, reach_of
from shortlist.scoring.kernels.layout import Kind, Operation, Published, Stored, settled


@kernel
def change(operation: int, stack: Floats, place: int, count: int) -> None:
    """Functions of one number."""
    if operation == Operation.NEGATE:
        for at in range(count):
            stack[place, at] = -stack[place, at]
    elif operation == Operation.ABSOLUTE:
        for at in range(count):
            stack[place, at] = abs(stack[place, at])
    elif operation == Operation.ROOT:
        for at in range(count):
            stack[place, at] = math.sqrt(stack[place, at])
    elif operation == Operation.LOGARITHM:
        for at in range(count):
            stack[place, at] = math.log(stack[place, at])
    elif operation == Operation.EXPONENTIAL:
        for at in range(count):
            stack[place, at] = math.exp(stack[place, at])
    else:
        for at in range(count):
            stack[place, at] *= stack[place, at]


@kernel(error_model="numpy")
def combine(operation: int, stack: Floats, place: int, count: int) -> None:
    """Functions of two numbers, into the place of the first."""
    if operation == Operation.ADD:
        for at in range(count):
            stack[place, at] += stack[place + 1, at]
    elif operation == Operation.SUBTRACT:
        for at in range(count):
            stack[place, at] -= stack[place + 1, at]
    elif operation == Operation.MULTIPLY:
        for at in range(count):
            stack[place, at] *= stack[place + 1, at]
    elif operation == Operation.DIVIDE:
        for at in range(count):
            stack[place, at] /= stack[place + 1, at]
    elif operation == Operation.POWER:
        for at in range(count):
            stack[place, at] = math.pow(stack[place, at], stack[place + 1, at])
    else:
        _choose(operation, stack, place, count)


@kernel
def _choose(operation: int, stack: Floats, place: int, count: int) -> None:
    """The second one where it wins, or where it spoils the result."""
    for at in range(count):
        left, right = stack[place, at], stack[place + 1, at]
        wins = right < left if operation == Operation.MINIMUM else right > left
        spoils = operation != Operation.LARGER and np.isnan(right)
        if wins or spoils:
            stack[place, at] = right


class Piece(NamedTuple):
    """Pairs with one template that are computed together."""

    publications: Ints
    parameters: Longs
    """Where in the subscriptions' rows the next ones are."""
    lacks: Bools
    """Whether an attribute that the score needs is absent or of another type."""
    stack: Floats


@kernel
def put_relevances(
    published: Published, text: int, parameters: Floats, terms: int, piece: Piece, values: Floats
) -> None:
    products = np.empty(terms)
    for at in range(values.size):
        publication, start = piece.publications[at], piece.parameters[at]
        length = published.text_lengths[text, publication]
        dot = term_product(published, text, publication, parameters, start + 1, products)
        values[at] = cosine_of(dot, length * parameters[start])
        piece.lacks[at] |= np.isnan(length)
        piece.parameters[at] += 1 + 2 * terms


@kernel
def put_cosines(
    published: Published, vector: int, parameters: Floats, size: int, piece: Piece, values: Floats
) -> None:
    products = np.empty(size)
    for at in range(values.size):
        publication, start = piece.publications[at], piece.parameters[at]
        if published.vector_sizes[vector, publication] == size:
            length = published.vector_lengths[vector, publication]
            dot = vector_product(published, vector, publication, parameters, start + 1, products)
            values[at] = cosine_of(dot, length * parameters[start])
        else:
            piece.lacks[at] = True
        piece.parameters[at] += 1 + size


LONGEST = 256
"""Pairs of a piece at most: what they need at once stays in the fastest cache."""


class Pairs(NamedTuple):
    """Publications with subscriptions that they match, and how far they do."""

    publications: Ints
    subscriptions: Ints
    possibility: Floats
    necessity: Floats


@kernel
def score_pairs(stored: Stored, published: Published, pairs: Pairs, depth: int) -> Floats:
    """The rounded scores, NaN where there is none."""
    scores = np.empty(pairs.subscriptions.size)
    piece = Piece(
        np.empty(LONGEST, np.int32),
        np.empty(LONGEST, np.int64),
        np.empty(LONGEST, np.bool_),
        np.empty((depth, LONGEST)),
    )
    bounds = _bounds(stored, pairs.subscriptions)
    alike, values = -1, np.empty(0)
    for number in range(bounds.size - 1):
        first, end = bounds[number], bounds[number + 1]
        template = stored.templates[pairs.subscriptions[first]]
        if template != alike and _pays(stored, published, pairs, bounds, number):
            alike, values = template, _values(stored, published, pairs.subscriptions[first], piece)
        if template == alike:
            for at in range(first, end):
                value = values[pairs.publications[at]]
                is_enough = value >= stored.least[pairs.subscriptions[at]]
                scores[at] = value if is_enough else np.nan
        elif stored.kinds[template] in (Kind.NEAREST, Kind.NEAREST_AT_WORST):
            for at in range(first, end):
                subscription, publication = pairs.subscriptions[at], pairs.publications[at]
                limit = stored.least[subscription]
                reach = reach_of(limit)
                distance = distance_within(stored, published, subscription, publication, reach)
                scores[at] = settled(-distance, limit)
        else:
            _compute(stored, published, pairs, first, end, piece)
            for at in range(first, end):
                limit = stored.least[pairs.subscriptions[at]]
                value = np.nan if piece.lacks[at - first] else piece.stack[0, at - first]
                scores[at] = settled(value, limit)
    return scores


@kernel
def _pays(stored: Stored, published: Published, pairs: Pairs, bounds: Longs, number: int) -> bool:
    """Whether the score of a piece is the same for all who have it, and so many pairs follow that
    it is worth while to compute it for each publication once."""
    template = stored.templates[pairs.subscriptions[bounds[number]]]
    for step in range(stored.code_starts[template], stored.code_ends[template]):
        operation = stored.code[step, 0]
        if operation != Operation.ATTRIBUTE and operation < Operation.NEGATE:
            return False
    last = number
    while (
        last < bounds.size - 1 and stored.templates[pairs.subscriptions[bounds[last]]] == template
    ):
        last += 1
    return bool(bounds[last] - bounds[number] > 2 * published.numbers.shape[1])


@kernel
def _values(stored: Stored, published: Published, subscription: int, piece: Piece) -> Floats:
    """The rounded score of each publication, for all whose score is that of a subscription."""
    values = np.empty(published.numbers.shape[1])
    none = np.empty(0)
    for first in range(0, values.size, LONGEST):
        count = min(LONGEST, values.size - first)
        some = np.arange(first, first + count).astype(np.int32)
        pairs = Pairs(some, np.full(count, subscription, np.int32), none, none)
        _compute(stored, published, pairs, 0, count, piece)
        for at in range(count):
            value = np.nan if piece.lacks[at] else piece.stack[0, at]
            values[first + at] = settled(value, -np.inf)
    return values


@kernel
def _bounds(stored: Stored, subscriptions: Ints) -> Longs:
    """Where pieces start, and the end of the last one."""
    bounds = np.empty(subscriptions.size + 1, np.int64)
    used = 0
    for at in range(subscriptions.size):
        goes_on = (
            at > 0
            and stored.templates[subscriptions[at]] == stored.templates[subscriptions[at - 1]]
            and at < bounds[used - 1] + LONGEST
        )
        if not goes_on:
            bounds[used] = at
            used += 1
    bounds[used] = subscriptions.size
    return bounds[: used + 1]


@kernel
def _compute(
    stored: Stored, published: Published, pairs: Pairs, first: int, end: int, piece: Piece
) -> None:
    """Leaves the values of a piece at the bottom of its stack."""
    for at in range(first, end):
        piece.publications[at - first] = pairs.publications[at]
        piece.parameters[at - first] = stored.starts[pairs.subscriptions[at]]
        piece.lacks[at - first] = False
    template = stored.templates[pairs.subscriptions[first]]
    for step in range(stored.code_starts[template], stored.code_ends[template]):
        operation, place = stored.code[step, 0], stored.code[step, 3]
        if operation >= Operation.ADD:
            combine(operation, piece.stack, place, end - first)
        elif operation >= Operation.NEGATE:
            change(operation, piece.stack, place, end - first)
        else:
            _put(stored, published, pairs, first, end, step, piece)


@kernel
def _put(
    stored: Stored,
    published: Published,
    pairs: Pairs,
    first: int,
    end: int,
    step: int,
    piece: Piece,
) -> None:
    parameters, count = stored.parameters, end - first
    operation, attribute, size, place = stored.code[step]
    values = piece.stack[place]
    if operation == Operation.CONSTANT:
        for at in range(count):
            values[at] = parameters[piece.parameters[at]]
            piece.parameters[at] += 1
    elif operation == Operation.ATTRIBUTE:
        for at in range(count):
            values[at] = published.numbers[attribute, piece.publications[at]]
            piece.lacks[at] |= np.isnan(values[at])
    elif operation == Operation.POSSIBILITY:
        values[:count] = pairs.possibility[first:end]
    elif operation == Operation.NECESSITY:
        values[:count] = pairs.necessity[first:end]
    elif operation == Operation.OFFSET:
        for at in range(count):
            number = published.numbers[attribute, piece.publications[at]]
            start = piece.parameters[at]
            values[at] = parameters[start + 1] * abs(number - parameters[start])
            piece.lacks[at] |= np.isnan(number)
            piece.parameters[at] += 2
    elif operation == Operation.RELEVANCE:
        put_relevances(published, attribute, parameters, size, piece, values[:count])
    else:
        put_cosines(published, attribute, parameters, size, piece, values[:count])
