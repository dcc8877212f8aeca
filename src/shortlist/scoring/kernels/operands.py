"""What scores start from: numbers that are put onto the stack, for all pairs of a piece."""

from typing import NamedTuple

import numpy as np
from numba import njit

from shortlist.scoring.kernels.cosines import cosine_of, term_product, vector_product
from shortlist.scoring.kernels.layout import Bools, Floats, Ints, Longs, Published


class Piece(NamedTuple):
    """Pairs with one template that are computed together."""

    publications: Ints
    parameters: Longs
    """Where in the subscriptions' rows the next ones are."""
    lacks: Bools
    """Whether an attribute that the score needs is absent or of another type."""
    stack: Floats


@njit(cache=True)
def put_constants(parameters: Floats, piece: Piece, place: int, count: int) -> None:
    for at in range(count):
        piece.stack[place, at] = parameters[piece.parameters[at]]
        piece.parameters[at] += 1


@njit(cache=True)
def put_degrees(degrees: Floats, first: int, piece: Piece, place: int, count: int) -> None:
    for at in range(count):
        piece.stack[place, at] = degrees[first + at]


@njit(cache=True)
def put_numbers(published: Published, attribute: int, piece: Piece, place: int, count: int) -> None:
    for at in range(count):
        number = published.numbers[attribute, piece.publications[at]]
        piece.stack[place, at] = number
        piece.lacks[at] |= np.isnan(number)


@njit(cache=True)
def put_offsets(
    published: Published, attribute: int, parameters: Floats, piece: Piece, place: int, count: int
) -> None:
    for at in range(count):
        number = published.numbers[attribute, piece.publications[at]]
        start = piece.parameters[at]
        piece.stack[place, at] = parameters[start + 1] * abs(number - parameters[start])
        piece.lacks[at] |= np.isnan(number)
        piece.parameters[at] += 2


@njit(cache=True)
def put_relevances(
    published: Published,
    text: int,
    parameters: Floats,
    terms: int,
    piece: Piece,
    place: int,
    count: int,
) -> None:
    products = np.empty(terms)
    for at in range(count):
        publication, start = piece.publications[at], piece.parameters[at]
        length = published.text_lengths[text, publication]
        dot = term_product(
            published.terms,
            published.term_weights,
            published.text_starts[text, publication],
            published.text_ends[text, publication],
            parameters,
            start + 1,
            terms,
            products,
        )
        piece.stack[place, at] = cosine_of(dot, length * parameters[start])
        piece.lacks[at] |= np.isnan(length)
        piece.parameters[at] += 1 + 2 * terms


@njit(cache=True)
def put_cosines(
    published: Published,
    vector: int,
    parameters: Floats,
    size: int,
    piece: Piece,
    place: int,
    count: int,
) -> None:
    products = np.empty(size)
    for at in range(count):
        publication, start = piece.publications[at], piece.parameters[at]
        if published.vector_sizes[vector, publication] == size:
            length = published.vector_lengths[vector, publication]
            dot = vector_product(
                published.coordinates,
                published.vector_starts[vector, publication],
                parameters,
                start + 1,
                size,
                products,
            )
            piece.stack[place, at] = cosine_of(dot, length * parameters[start])
        else:
            piece.lacks[at] = True
        piece.parameters[at] += 1 + size
