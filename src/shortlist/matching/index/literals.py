"""Predicates as slots: what a block of publications is asked, each question once.

Per block every slot gets a mask, one bit per publication. A predicate is `plus and not minus` of
two slots, so that a range is two ends of its attribute's order, and a negation is the attribute's
type without what is negated.
"""

import struct
import typing
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shortlist.fuzzy.degrees import hedge_power
from shortlist.fuzzy.sets import Graded, Trapezoid
from shortlist.language.tree import Between as BetweenPredicate
from shortlist.language.tree import (
    Comparison,
    Exists,
    In,
    Is,
    Operator,
    Predicate,
    Scalar,
    TextMatch,
    TextOperator,
)
from shortlist.matching.predicates import fuzzy_set, literal
from shortlist.model.paths import Path
from shortlist.model.times import Instant
from shortlist.model.vocabulary import Vocabulary

_AS_DOUBLE, _AS_INTEGER = struct.Struct("<d"), struct.Struct("<q")
_ALL_BUT_SIGN = 2**63 - 1

Kind = typing.Literal["number", "text", "time", "boolean"]
"""The types that predicates tell apart."""

KINDS: dict[type, Kind] = {float: "number", str: "text", Instant: "time", bool: "boolean"}

Key = int | str
"""A value as what orders it: texts stand for themselves, all others for whole numbers."""

End = int | tuple[str, bool]
"""A place between keys: before this whole number, or before (False) or after (True) a text."""


class Attribute(NamedTuple):
    """The values of one type at a path."""

    path: Path
    kind: Kind


_attribute = lru_cache(4_096)(Attribute)
"""Many predicates are about the same one."""


@dataclass(frozen=True, slots=True, order=True)
class Nothing:
    """No publication."""


@dataclass(frozen=True, slots=True, order=True)
class Anything:
    """Every publication."""


@dataclass(frozen=True, slots=True, order=True)
class Below:
    """Those whose single value lies before an end in the attribute's order."""

    attribute: Attribute
    end: End


@dataclass(frozen=True, slots=True, order=True)
class Typed:
    """Those that have a value of the type."""

    attribute: Attribute


@dataclass(frozen=True, slots=True, order=True)
class Present:
    """Those that have any value at the path."""

    path: Path


@dataclass(frozen=True, slots=True, order=True)
class Equal:
    """Those that have the value, among others perhaps."""

    attribute: Attribute
    key: Key


@dataclass(frozen=True, slots=True, order=True)
class Found:
    """Those that have a text with the pattern in it."""

    path: Path
    operator: TextOperator
    pattern: str


@dataclass(frozen=True, slots=True, order=True)
class Between:
    """Those that have a value from `low` to before `high`, among others perhaps."""

    attribute: Attribute
    low: End | None
    high: End | None


@dataclass(frozen=True, slots=True, order=True)
class AnyOf:
    """Those that one of the slots has."""

    slots: tuple[Equal | Between, ...]


Slot = Nothing | Anything | Below | Typed | Present | Equal | Found | Between | AnyOf

NOTHING = Nothing()
ANYTHING = Anything()


def number_key(number: float) -> int:
    """A whole number that orders as the double does; the next double has the next key.

    >>> number_key(-1.5) < number_key(-0.0) == number_key(0.0) < number_key(1e-300)
    True
    >>> from math import inf, nextafter
    >>> number_key(nextafter(7.0, inf)) - number_key(7.0)
    1
    """
    (bits,) = _AS_INTEGER.unpack(_AS_DOUBLE.pack(number + 0.0))
    return bits if bits >= 0 else bits ^ _ALL_BUT_SIGN  # type: ignore[no-any-return]


BOTTOM, TOP = number_key(float("-inf")), number_key(float("inf")) + 1
"""Ends before and after all numbers.

The next double has the next key, so that `x <= 5` and `x < 5.000000000000001` have one end. Of
crisp numbers they ask the same, but of fuzzy ones, which know what lies between two doubles, they
do not. So where a comparison's end is the one after its number, the other end is one of these, and
not missing.
"""


def number_keys(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """As `number_key`, of many.

    >>> number_keys(np.array([-2.0, 3.5])).tolist() == [number_key(-2.0), number_key(3.5)]
    True
    """
    bits = (numbers + 0.0).view(np.int64)
    return np.where(bits >= 0, bits, bits ^ _ALL_BUT_SIGN)


def keyed_numbers(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The numbers that have these keys.

    >>> keyed_numbers(number_keys(np.array([-2.0, 3.5])))
    array([-2. ,  3.5])
    """
    return np.where(keys >= 0, keys, keys ^ _ALL_BUT_SIGN).view(np.float64)


Words = tuple[tuple[str, float], ...]
"""A fuzzy set on texts: each word's degree."""


class Grade(NamedTuple):
    """A fuzzy predicate: its degrees are computed where its slots let a publication pass."""

    path: Path
    target: Trapezoid | Words
    power: float
    negated: bool
    possibility: float
    necessity: float
    """What is under one of these thresholds disqualifies its conjunction."""


class Literal(NamedTuple):
    """Where the predicate may hold: exactly so if it has no grade."""

    plus: Slot
    minus: Slot = NOTHING
    grade: Grade | None = None


class Numbered(NamedTuple):
    """The literals of a condition, as numbers of slots and of grades."""

    plus: tuple[int, ...]
    minus: tuple[int, ...]
    grades: tuple[int, ...]


def compiled(predicate: Predicate, vocabulary: Vocabulary) -> Literal:
    """The literal of a predicate.

    >>> compiled(Comparison(("title",), "=", "Heat", negated=True), Vocabulary())[:2]
    ... # doctest: +NORMALIZE_WHITESPACE
    (Typed(attribute=Attribute(path=('title',), kind='text')),
     Equal(attribute=Attribute(path=('title',), kind='text'), key='Heat'))
    """
    if isinstance(predicate, Exists):
        here = Present(predicate.path)
        return Literal(ANYTHING, here) if predicate.negated else Literal(here)
    if isinstance(predicate, Is):
        return _fuzzy(predicate, vocabulary)
    return _crisp(predicate, many=vocabulary.of(predicate.path).many)


def key(value: Scalar) -> Key:
    """What orders a value among those of its type."""
    if isinstance(value, float):
        return number_key(value)
    if isinstance(value, str):
        return value
    return value.micros if isinstance(value, Instant) else int(value)


def _crisp(predicate: Comparison | In | BetweenPredicate | TextMatch, many: bool) -> Literal:
    attribute = _attribute(predicate.path, KINDS[type(literal(predicate))])
    negated = predicate.negated
    if isinstance(predicate, Comparison):
        return _compared(attribute, predicate.operator, predicate.value, negated, many)
    if isinstance(predicate, BetweenPredicate):
        ends = _end(predicate.low, False), _end(predicate.high, True)
        return _range(attribute, *ends, negated, many)
    if isinstance(predicate, In):
        members = sorted({key(value) for value in predicate.values})
        return _either(attribute, _any_of(attribute, members), negated)
    found = Found(predicate.path, predicate.operator, predicate.text)
    return _either(attribute, found if predicate.text else Typed(attribute), negated)


def _compared(
    attribute: Attribute, operator: Operator, value: Scalar, negated: bool, many: bool
) -> Literal:
    if operator == "=":
        return _either(attribute, Equal(attribute, key(value)), negated)
    if operator == "!=":
        if many:
            return _either(attribute, _other_than(attribute, value), negated)
        return _either(attribute, Equal(attribute, key(value)), not negated)
    is_turned = negated and not many
    ends = _comparison(attribute, _OPPOSITE[operator] if is_turned else operator, value)
    return _range(attribute, *ends, negated and not is_turned, many)


_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def _comparison(
    attribute: Attribute, operator: str, value: Scalar
) -> tuple[End | None, End | None]:
    """From which end to which a comparison holds; `BOTTOM` and `TOP` tell what lies at an end."""
    is_after = operator in ("<=", ">")
    tells = is_after and attribute.kind == "number"
    end = _end(value, is_after)
    if operator in ("<", "<="):
        return BOTTOM if tells else None, end
    return end, TOP if tells else None


def _either(attribute: Attribute, slot: Slot, negated: bool) -> Literal:
    return Literal(Typed(attribute), slot) if negated else Literal(slot)


def _other_than(attribute: Attribute, value: Scalar) -> Slot:
    before, after = (_comparison(attribute, operator, value) for operator in ("<", ">"))
    return AnyOf((Between(attribute, *before), Between(attribute, *after)))


def _any_of(attribute: Attribute, keys: Iterable[Key]) -> Slot:
    slots = tuple([Equal(attribute, each) for each in keys])
    return slots[0] if len(slots) == 1 else AnyOf(slots)


def _end(value: Scalar, after: bool) -> End:
    place = key(value)
    return (place, after) if isinstance(place, str) else place + after


def _range(
    attribute: Attribute, low: End | None, high: End | None, negated: bool, many: bool
) -> Literal:
    """Values from `low` to before `high`; one with elements can be inside and outside at once."""
    if many or negated:
        return _either(attribute, Between(attribute, low, high), negated)
    return Literal(
        Typed(attribute) if high is None else Below(attribute, high),
        NOTHING if low is None else Below(attribute, low),
    )


def _fuzzy(predicate: Is, vocabulary: Vocabulary) -> Literal:
    target = fuzzy_set(predicate, vocabulary)
    rest = (
        hedge_power(predicate.hedges),
        predicate.negated,
        predicate.possibility or 0.0,
        predicate.necessity or 0.0,
    )
    if isinstance(target, Graded):
        words = tuple(sorted(target.degrees.items()))
        crisp = _support_of_words(predicate.path, words, predicate.negated)
        grade = Grade(predicate.path, words, *rest)
    else:
        many = vocabulary.of(predicate.path).many
        crisp = _support(Attribute(predicate.path, "number"), target, predicate.negated, many)
        grade = Grade(predicate.path, target, *rest)
    return crisp._replace(grade=grade)


def _support(attribute: Attribute, target: Trapezoid, negated: bool, many: bool) -> Literal:
    """Where the membership, or what is left of it by negation, is above 0."""
    if negated:
        core = Between(attribute, *_ends(target.m2, target.m3, False, False))
        return Literal(Typed(attribute), core)
    ends = _ends(target.m1, target.m4, target.m1 < target.m2, target.m3 < target.m4)
    return _range(attribute, *ends, negated=False, many=many)


def _ends(
    low: float, high: float, low_open: bool, high_open: bool
) -> tuple[End | None, End | None]:
    return (
        None if low == float("-inf") else number_key(low) + low_open,
        None if high == float("inf") else number_key(high) + (not high_open),
    )


def _support_of_words(path: Path, words: Words, negated: bool) -> Literal:
    attribute = Attribute(path, "text")
    least = 1.0 if negated else 0.0
    wanted = [word for word, degree in words if degree > 0.0 and degree >= least]
    return _either(attribute, _any_of(attribute, wanted), negated)
