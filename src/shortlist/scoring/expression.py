"""Score expressions, ready to be evaluated on a publication."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, nan

from shortlist.fuzzy.degrees import Degrees
from shortlist.language import tree
from shortlist.matching.values import Read
from shortlist.model.paths import Path
from shortlist.model.rounding import added
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.relevance import term_cosine, term_weights, vector_cosine


def divide(left: float, right: float) -> float:
    """
    >>> divide(1.0, 0.0), divide(-1.0, 0.0), divide(0.0, 0.0)
    (inf, -inf, nan)
    """
    if right != 0.0:
        return left / right
    if left == 0.0 or math.isnan(left):
        return nan
    return math.copysign(inf, left) * math.copysign(1.0, right)


def power(base: float, exponent: float) -> float:
    """
    >>> power(2.0, 0.5) == 2 ** 0.5, power(0.0, -1.0), power(-8.0, 1 / 3), power(1e300, 2.0)
    (True, inf, nan, inf)
    """
    odd = exponent.is_integer() and exponent % 2 == 1
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -inf if base < 0.0 and odd else inf
    except ValueError:
        if base == 0.0:
            return math.copysign(inf, base) if odd else inf
        return nan


def logarithm(operand: float) -> float:
    if operand > 0.0:
        return math.log(operand)
    return -inf if operand == 0.0 else nan


def exponential(operand: float) -> float:
    try:
        return math.exp(operand)
    except OverflowError:
        return inf


def minimum(operands: Sequence[float]) -> float:
    """The IEEE 754-2019 `minimum`: what is not a number stays so.

    >>> minimum([1.0, -2.0]), minimum([1.0, nan])
    (-2.0, nan)
    """
    return nan if any(map(math.isnan, operands)) else min(operands)


def maximum(operands: Sequence[float]) -> float:
    return nan if any(map(math.isnan, operands)) else max(operands)


BINARY: dict[str, Callable[[float, float], float]] = {
    "+": float.__add__,
    "-": float.__sub__,
    "*": float.__mul__,
    "/": divide,
    "^": power,
}
FUNCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "min": minimum,
    "max": maximum,
    "abs": lambda operands: abs(operands[0]),
    "sqrt": lambda operands: math.sqrt(operands[0]) if operands[0] >= 0.0 else nan,
    "log": lambda operands: logarithm(operands[0]),
    "exp": lambda operands: exponential(operands[0]),
}


class Uncomputable(Exception):
    """What a score needs is absent or of another type.

    >>> str(Uncomputable("rent", "a single number", "free")), str(Uncomputable("rent", "a number"))
    ('rent is not a single number', 'rent is absent')
    """

    def __init__(self, name: str, needed: str, found: object = None) -> None:
        super().__init__(f"{name} is absent" if found is None else f"{name} is not {needed}")


@dataclass(frozen=True, slots=True)
class Scored:
    """The candidate that an advertisement's score is about."""

    score: float
    volume: float = math.inf
    profile: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Subject:
    """All that a score may ask about."""

    read: Read
    degrees: Degrees | None = None
    candidate: Scored | None = None


Evaluate = Callable[[Subject], float]


def expression(score: tree.Score, vocabulary: Vocabulary) -> Evaluate:
    """What computes a score, or raises `Uncomputable`; the result may be infinite or not a number.

    >>> from shortlist.language.parser import parse_any_score
    >>> from shortlist.matching.values import Values
    >>> from shortlist.model.publication import Publication
    >>> flat = Publication(id="f", source="s", time=0, position=0, data={"price": 453, "size": 58})
    >>> nearness = parse_any_score("-distance(price: 450, size: 60 weight 2)")
    >>> expression(nearness, Vocabulary())(Subject(Values(Vocabulary()).of(flat)))
    -5.0
    """
    match score:
        case tree.Number(value):
            return lambda subject: value
        case tree.AttributeValue(path):
            return lambda subject: _number(subject.read, path)
        case tree.Degree(name):
            return lambda subject: getattr(subject.degrees, name)
        case tree.OfSubscription(name, key):
            return _of_candidate(name, key)
        case tree.Negate(operand):
            inner = expression(operand, vocabulary)
            return lambda subject: -inner(subject)
        case tree.Arithmetic(operator, left, right):
            compute = BINARY[operator]
            first, second = expression(left, vocabulary), expression(right, vocabulary)
            return lambda subject: compute(first(subject), second(subject))
        case tree.Call(function, arguments):
            call = FUNCTIONS[function]
            inners = [expression(argument, vocabulary) for argument in arguments]
            return lambda subject: call([inner(subject) for inner in inners])
        case tree.Distance(kind, axes):
            return _distance(kind, axes)
        case tree.Relevance(path, query):
            return _relevance(path, query, vocabulary)
        case tree.Cosine(path, vector):
            return _cosine(path, vector)


def plain_number(score: tree.Score) -> float | None:
    """The number that a score is, where it is nothing else: a subscriber's interest."""
    match score:
        case tree.Number(value):
            return value
        case tree.Negate(tree.Number(value)):
            return -value
    return None


def _number(read: Read, path: Path) -> float:
    value = read(path)
    if not isinstance(value, float):
        raise Uncomputable(".".join(path), "a single number", value)
    return value


def _of_candidate(name: str, key: str | None) -> Evaluate:
    def evaluate(subject: Subject) -> float:
        found = getattr(subject.candidate, name)
        if key is None:
            return found  # type: ignore[no-any-return]
        if key not in found:
            raise Uncomputable(f"subscription.profile.{key}", "a number")
        return found[key]  # type: ignore[no-any-return]

    return evaluate


def _distance(kind: str, axes: tuple[tree.Axis, ...]) -> Evaluate:
    def offsets(subject: Subject) -> list[float]:
        return [axis.weight * abs(_number(subject.read, axis.path) - axis.value) for axis in axes]

    if kind == "distance":
        return lambda subject: math.sqrt(added(offset * offset for offset in offsets(subject)))
    return lambda subject: max(offsets(subject))


def _relevance(path: Path, query: str, vocabulary: Vocabulary) -> Evaluate:
    idf = vocabulary.of(path).idf
    wanted = term_weights(query, idf)

    def evaluate(subject: Subject) -> float:
        text = subject.read(path)
        if not isinstance(text, str):
            raise Uncomputable(".".join(path), "a single text", text)
        return term_cosine(term_weights(text, idf), wanted)

    return evaluate


def _cosine(path: Path, vector: tuple[float, ...]) -> Evaluate:
    def evaluate(subject: Subject) -> float:
        value = subject.read(path)
        cosine = vector_cosine(value, vector) if isinstance(value, tuple) else None
        if cosine is None:
            raise Uncomputable(".".join(path), f"a vector of {len(vector)} numbers", value)
        return cosine

    return evaluate
