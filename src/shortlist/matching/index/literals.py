"""A predicate as two slots: it holds of what is in `plus` and not in `minus`."""

from typing import NamedTuple

from shortlist.fuzzy.degrees import hedge_power
from shortlist.fuzzy.sets import Graded, Trapezoid
from shortlist.language.tree import Between as BetweenPredicate
from shortlist.language.tree import Comparison, Exists, In, Is, Predicate, Scalar, TextMatch
from shortlist.matching.index.slots import (
    ANYTHING,
    BOTTOM,
    KINDS,
    NOTHING,
    TOP,
    AnyOf,
    Attribute,
    Below,
    Between,
    End,
    Equal,
    Found,
    Key,
    Present,
    Slot,
    Typed,
    number_key,
)
from shortlist.matching.predicates import fuzzy_set, literal
from shortlist.model.paths import Path
from shortlist.model.times import Instant
from shortlist.model.vocabulary import Vocabulary

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
    if isinstance(value, str):
        return value
    if isinstance(value, Instant):
        return value.micros
    return int(value) if isinstance(value, bool) else number_key(value)


def _crisp(predicate: Comparison | In | BetweenPredicate | TextMatch, many: bool) -> Literal:
    attribute = Attribute(predicate.path, KINDS[type(literal(predicate))])
    match predicate:
        case TextMatch(path, operator, pattern, negated):
            every = Typed(attribute)
            return _either(attribute, Found(path, operator, pattern) if pattern else every, negated)
        case In(_, values, negated):
            members = sorted({Equal(attribute, key(value)) for value in values})
            return _either(attribute, _any_of(members), negated)
        case Comparison(_, "=", value, negated):
            return _either(attribute, Equal(attribute, key(value)), negated)
        case Comparison(_, "!=", value, negated) if many:
            return _either(attribute, _other_than(attribute, value), negated)
        case Comparison(_, "!=", value, negated):
            return _either(attribute, Equal(attribute, key(value)), not negated)
        case BetweenPredicate(_, low, high, negated):
            return _range(attribute, _end(low, False), _end(high, True), negated, many)
        case Comparison(_, operator, value, negated):
            is_turned = negated and not many
            asked = _OPPOSITE[operator] if is_turned else operator
            ends = _comparison(attribute, asked, value)
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


def _any_of(slots: list[Equal]) -> Slot:
    return slots[0] if len(slots) == 1 else AnyOf(tuple(slots))


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
    wanted = [Equal(attribute, word) for word, degree in words if degree > 0.0 and degree >= least]
    return _either(attribute, _any_of(wanted), negated)
