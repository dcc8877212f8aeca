"""When must one score be computable if another is?"""

import sys
from collections.abc import Iterator
from math import inf

from shortlist.language.tree import (
    Arithmetic,
    AttributeValue,
    Call,
    Cosine,
    Degree,
    Distance,
    Negate,
    Number,
    Relevance,
    Score,
    parts,
)
from shortlist.model.paths import Path
from shortlist.model.vocabulary import Vocabulary


def computable_with(one: Score, other: Score, vocabulary: Vocabulary) -> bool:
    """Whether `one` is certainly finite wherever `other` can be computed, whatever the degrees.

    >>> price, size = AttributeValue(("price",)), AttributeValue(("size",))
    >>> computable_with(price, Arithmetic("/", size, price), Vocabulary())
    True
    >>> computable_with(Arithmetic("/", size, price), Arithmetic("+", size, price), Vocabulary())
    False
    """
    return largest(one, vocabulary) < inf and set(needs(one)) <= set(needs(other))


def largest(score: Score, vocabulary: Vocabulary) -> float:
    """No absolute value of the score is larger; infinity where that is not known.

    >>> largest(Arithmetic("*", Number(-3.0), Degree("possibility")), Vocabulary())
    3.0
    """
    match score:
        case Number(value):
            return abs(value)
        case Degree():
            return 1.0
        case AttributeValue():
            return sys.float_info.max
        case Relevance(path, _) if not vocabulary.of(path).idf:
            return 2.0  # 1, and room for rounding
        case Negate(operand) | Call("abs", (operand,)):
            return largest(operand, vocabulary)
        case Call("min" | "max", arguments):
            return max(largest(argument, vocabulary) for argument in arguments)
        case Arithmetic("+" | "-", left, right):
            return largest(left, vocabulary) + largest(right, vocabulary)
        case Arithmetic("*", left, right):
            factors = largest(left, vocabulary), largest(right, vocabulary)
            return inf if inf in factors else factors[0] * factors[1]
    return inf


def uses_degrees(score: Score) -> bool:
    """Whether a score depends on how far the condition is met."""
    return any(isinstance(part, Degree) for part in parts(score))


def needs(score: Score) -> Iterator[tuple[str, Path]]:
    """The attributes without which a score cannot be computed, and as what it needs them."""
    for part in parts(score):
        match part:
            case AttributeValue(path):
                yield "number", path
            case Relevance(path, _):
                yield "text", path
            case Cosine(path, vector):
                yield f"vector of {len(vector)}", path
            case Distance(_, axes):
                for axis in axes:
                    yield "number", axis.path
