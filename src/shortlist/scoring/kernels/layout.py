"""What kernels and their callers agree on: the steps of a score, and the arrays."""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from shortlist.matching.arrays import Floats, Ints, Longs
from shortlist.matching.kernels.compiling import kernel
from shortlist.matching.kernels.rounding import round9


class Operation(IntEnum):
    """One step of a score, on a stack of numbers: first those that put a number there, then those
    that change one, then those that make one of two."""

    CONSTANT = 0
    ATTRIBUTE = 1
    POSSIBILITY = 2
    NECESSITY = 3
    OFFSET = 4
    """weight · |attribute − value|."""
    RELEVANCE = 5
    COSINE = 6
    NEGATE = 7
    ABSOLUTE = 8
    ROOT = 9
    LOGARITHM = 10
    EXPONENTIAL = 11
    SQUARE = 12
    ADD = 13
    SUBTRACT = 14
    MULTIPLY = 15
    DIVIDE = 16
    POWER = 17
    MINIMUM = 18
    MAXIMUM = 19
    LARGER = 20
    """As `MAXIMUM`, but what is not a number loses against what came before it."""


class Kind(IntEnum):
    """What a whole score is, so that it can be found without computing every pair."""

    GENERAL = 0
    NEAREST = 1
    """`-distance(…)`; its instructions are the offsets alone."""
    NEAREST_AT_WORST = 2
    """`-max_distance(…)`, likewise."""
    RELEVANCE = 3
    COSINE = 4


class Stored(NamedTuple):
    """The scores of subscriptions."""

    templates: Ints
    """By subscription."""
    starts: Longs
    """By subscription: where its parameters start."""
    least: Floats
    """By subscription: the score that it asks for at least."""
    parameters: Floats
    """A constant is one, an offset two: value, weight; a query its length, then term and weight
    in turns; a vector its length and its coordinates."""
    kinds: Ints
    """By template."""
    code_starts: Longs
    """By template."""
    code_ends: Longs
    code: Longs
    """Rows of operation, attribute, the number of a query's terms or of coordinates, and the place
    on the stack where the result goes: the first operand's, or the first free one."""


class Published(NamedTuple):
    """The publications of a block: a row for each attribute, a column for each publication."""

    numbers: Floats
    """NaN where there is none."""
    text_starts: Longs
    text_ends: Longs
    text_lengths: Floats
    """Euclidean, of all terms of a text; NaN where there is none."""
    terms: Ints
    """Those of each text that queries know, in order."""
    term_weights: Floats
    vector_starts: Longs
    vector_sizes: Ints
    """-1 where there is none."""
    vector_lengths: Floats
    coordinates: Floats


@kernel
def settled(value: float, limit: float) -> float:
    """The rounded score; NaN where it is not finite or under the limit.

    >>> settled(0.1 + 0.2, 0.3), settled(0.25, 0.3)
    (0.3, nan)
    """
    if not np.isfinite(value):
        return np.nan
    score = round9(value)
    return score if score >= limit else np.nan


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


@kernel
def pile_for(count: int) -> Pile:
    """An empty one, with room for so many."""
    return Pile(
        np.empty(count, np.int32),
        np.empty(count, np.int32),
        np.empty(count, np.float64),
        np.zeros(1, np.int64),
    )


@kernel
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


@kernel
def add(pile: Pile, publication: int, subscription: int, score: float) -> None:
    """Adds a pair, if it has a score."""
    used = pile.used[0]
    pile.publications[used] = publication
    pile.subscriptions[used] = subscription
    pile.scores[used] = score
    pile.used[0] = used + (not np.isnan(score))


@kernel
def findings_of(pile: Pile) -> Findings:
    used = pile.used[0]
    return Findings(pile.publications[:used], pile.subscriptions[:used], pile.scores[:used])
