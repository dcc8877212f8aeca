"""Degrees in a few bits: what a matcher asks for then, and what it answers.

The degrees from 0 to 1 are divided into cells. A threshold counts from the start of its cell on, so
that nothing is missed, and a match is told as the middle of the cell that its degree is in.
"""

from dataclasses import replace

import numpy as np

from shortlist.fuzzy.degrees import Degrees
from shortlist.language.parser import parse_any_where
from shortlist.language.tree import And, Is, Or, Where
from shortlist.matching.arrays import Floats
from shortlist.model.settings import Bits, Limits
from shortlist.model.subscription import AtLeast
from shortlist.model.vocabulary import Vocabulary


def lowered(threshold: float, bits: Bits) -> float:
    """The start of the cell that a threshold lies in.

    >>> lowered(0.8, 3), lowered(1.0, 2)
    (0.75, 0.75)
    """
    cells = 2**bits
    return min(cells - 1, int(threshold * cells)) / cells


def middles(degrees: Floats, bits: Bits) -> Floats:
    """The middles of the cells that degrees lie in; of the last one, which certainty is in, 1.

    >>> middles(np.array([0.8, 0.9]), 3)
    array([0.8125, 1.    ])
    """
    cells = 2**bits
    starts = np.floor(degrees * cells)
    return np.where(starts >= cells - 1, 1.0, (starts + 0.5) / cells)


def asked_where(text: str | None, vocabulary: Vocabulary, limits: Limits) -> Where | None:
    """The condition that a matcher asks about, with thresholds lowered where degrees are coarse.

    >>> from shortlist.language.printer import print_where
    >>> coarse = Limits(degree_bits=3)
    >>> print_where(asked_where("x is around(1, 2) (necessity >= 0.8)", Vocabulary(), coarse))
    'x is around(1, 2) (necessity >= 0.75)'
    """
    where = parse_any_where(text, vocabulary, limits)
    return None if where is None else with_lowered(where, limits)


def with_lowered(where: Where, limits: Limits) -> Where:
    """A condition as a matcher asks about it."""
    bits = limits.degree_bits
    if bits is None:
        return where
    if isinstance(where, And | Or):
        return type(where)(tuple(with_lowered(operand, limits) for operand in where.operands))
    if not isinstance(where, Is):
        return where
    least = where.possibility, where.necessity
    possibility, necessity = (None if one is None else lowered(one, bits) for one in least)
    return replace(where, possibility=possibility, necessity=necessity)


def asked_at_least(at_least: AtLeast, limits: Limits) -> AtLeast:
    """The same for the thresholds of a whole subscription.

    >>> asked_at_least(AtLeast(possibility=0.5, necessity=0.3), Limits(degree_bits=2))
    AtLeast(possibility=0.5, necessity=0.25, score=None)
    """
    bits = limits.degree_bits
    if bits is None:
        return at_least
    possibility, necessity = at_least.possibility, at_least.necessity
    return replace(
        at_least, possibility=lowered(possibility, bits), necessity=lowered(necessity, bits)
    )


def told(degrees: Degrees, limits: Limits) -> Degrees:
    """The degrees of a match as they are told."""
    bits = limits.degree_bits
    return degrees if bits is None else Degrees(*middles(np.array(degrees), bits).tolist())
