"""One predicate on one value: how far it holds, and why not where it does not."""

from collections.abc import Callable
from functools import reduce
from math import inf
from operator import eq, ge, gt, le, lt, ne
from typing import Any, NamedTuple

from shortlist.fuzzy.degrees import (
    FALSE,
    TRUE,
    Degrees,
    best,
    crisp_number_degrees,
    crisp_text_degrees,
    fuzzy_degrees,
    hedge_power,
    negation,
)
from shortlist.fuzzy.intervals import Interval, complement, normalised, point
from shortlist.fuzzy.sets import Graded, Trapezoid, around, term_set, trapezoid
from shortlist.language.tree import (
    AroundTerm,
    Between,
    Comparison,
    Exists,
    In,
    Is,
    NamedTerm,
    Predicate,
    Scalar,
    TextMatch,
)
from shortlist.matching.values import Many, Value
from shortlist.model.rounding import rounded
from shortlist.model.times import Instant
from shortlist.model.vocabulary import Vocabulary

Intervals = tuple[Interval, ...]
OrderedPredicate = Comparison | In | Between | TextMatch


def number_set(predicate: OrderedPredicate) -> Intervals:
    """Where a predicate holds, leaving its negation aside; times in microseconds.

    >>> number_set(Comparison(("rent",), "<", 900.0))
    (Interval(low=-inf, high=900.0, low_open=True, high_open=True),)
    >>> [part.low for part in number_set(In(("rooms",), (3.0, 2.0)))]
    [2.0, 3.0]
    """
    if isinstance(predicate, TextMatch):
        return ()
    if isinstance(predicate, In):
        return normalised(point(_coordinate(value)) for value in predicate.values)
    if isinstance(predicate, Between):
        return normalised((Interval(_coordinate(predicate.low), _coordinate(predicate.high)),))
    value, operator = _coordinate(predicate.value), predicate.operator
    if operator in ("=", "!="):
        return (point(value),) if operator == "=" else complement((point(value),))
    if operator in ("<", "<="):
        return (Interval(-inf, value, high_open=operator == "<"),)
    return (Interval(value, inf, low_open=operator == ">"),)


def holds_on(predicate: OrderedPredicate) -> Intervals:
    """Where a predicate holds, its negation included.

    >>> holds_on(Comparison(("rent",), "<", 900.0, negated=True))
    (Interval(low=900.0, high=inf, low_open=False, high_open=True),)
    """
    found = number_set(predicate)
    return complement(found) if predicate.negated else found


def in_common(sets: list[Intervals]) -> Intervals:
    """What all the sets hold: everything where there are none.

    >>> shared = in_common([(Interval(1, 3), Interval(5, 9)), (Interval(2, 6),)])
    >>> [(part.low, part.high) for part in shared]
    [(2, 3), (5, 6)]
    """
    return reduce(_shared, sets, (Interval(-inf, inf),))


def holds_a_whole_number(interval: Interval) -> bool:
    """Whether an interval whose ends are whole numbers holds one.

    >>> holds_a_whole_number(Interval(1, 2, True, True)), holds_a_whole_number(Interval(1, 2))
    (False, True)
    """
    return interval.low + interval.low_open <= interval.high - interval.high_open


def _shared(left: Intervals, right: Intervals) -> Intervals:
    return normalised(one.intersection(other) for one in left for other in right)


def _coordinate(value: Scalar) -> float:
    if isinstance(value, Instant):
        return value.micros  # an int: microseconds of our days do not fit in a double
    assert isinstance(value, float)
    return value


class Judgement(NamedTuple):
    """The degrees of a predicate, and a note where they are (0, 0) for a reason of their own.

    One that is under its threshold disqualifies the conjunction that it is a member of.
    """

    degrees: Degrees
    note: str | None = None
    disqualifies: bool = False


HOLDS = Judgement(TRUE)
FAILS = Judgement(FALSE)
ABSENT = Judgement(FALSE, "absent")
OTHER_TYPE = Judgement(FALSE, "of another type")
UNDER_THRESHOLD = Judgement(FALSE, "under its threshold", disqualifies=True)
ABSENT_UNDER_THRESHOLD = ABSENT._replace(disqualifies=True)
OTHER_TYPE_UNDER_THRESHOLD = OTHER_TYPE._replace(disqualifies=True)

Judge = Callable[[Value | Many | None], Judgement]
Test = Callable[[Value], Degrees | None]
"""Degrees on a single value; None where the value is not of the predicate's type."""

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": eq,
    "!=": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}
SEARCH: dict[str, Callable[[str, str], bool]] = {
    "contains": str.__contains__,
    "starts with": str.startswith,
    "ends with": str.endswith,
}


def judge(predicate: Predicate, vocabulary: Vocabulary) -> Judge:
    """What judges a predicate on the values of its attribute.

    >>> judge(Comparison(("rent",), "<", 900.0), Vocabulary())(850.0)
    Judgement(degrees=Degrees(possibility=1.0, necessity=1.0), note=None, disqualifies=False)
    >>> judge(Comparison(("rent",), "<", 900.0), Vocabulary())("free").note
    'of another type'
    """
    if isinstance(predicate, Exists):
        is_absent = predicate.negated
        return lambda value: HOLDS if (value is None) == is_absent else FAILS
    if isinstance(predicate, Is):
        test = _fuzzy_test(predicate, vocabulary)
        floors = predicate.possibility or 0.0, predicate.necessity or 0.0
    else:
        test = _crisp_test(predicate)
        floors = 0.0, 0.0
    return _judge_degrees(test, predicate.negated, *floors)


def _judge_degrees(
    test: Test, negated: bool, least_possibility: float, least_necessity: float
) -> Judge:
    # What does not hold has the degrees (0, 0), which are under any threshold.
    has_threshold = least_possibility > 0.0 or least_necessity > 0.0
    failed = UNDER_THRESHOLD if has_threshold else FAILS
    absent = ABSENT_UNDER_THRESHOLD if has_threshold else ABSENT
    other_type = OTHER_TYPE_UNDER_THRESHOLD if has_threshold else OTHER_TYPE

    def judge_degrees(value: Value | Many | None) -> Judgement:
        if value is None:
            return absent
        degrees = _best_element(test, value) if isinstance(value, Many) else test(value)
        if degrees is None:
            return other_type
        if negated:
            degrees = _negated(degrees)
        if degrees is TRUE:
            return HOLDS
        if degrees is FALSE:
            return failed
        possibility, necessity = rounded(degrees.possibility), rounded(degrees.necessity)
        if possibility < least_possibility or necessity < least_necessity:
            return UNDER_THRESHOLD
        return Judgement(Degrees(possibility, necessity))

    return judge_degrees


def _negated(degrees: Degrees) -> Degrees:
    """As `negation`, but a crisp answer stays one that can be told by identity."""
    if degrees is TRUE:
        return FALSE
    return TRUE if degrees is FALSE else negation(degrees)


def _best_element(test: Test, many: Many) -> Degrees | None:
    tested = [degrees for degrees in map(test, many.elements) if degrees is not None]
    return best(tested) if tested else None


def _fuzzy_test(predicate: Is, vocabulary: Vocabulary) -> Test:
    target = fuzzy_set(predicate, vocabulary)
    power = hedge_power(predicate.hedges)

    def test(value: Value) -> Degrees | None:
        if isinstance(value, bool | Instant | tuple):
            return None
        return fuzzy_degrees(target, power, value)

    return test


def fuzzy_set(predicate: Is, vocabulary: Vocabulary) -> Trapezoid | Graded:
    """The set that a fuzzy predicate's term stands for, before hedges."""
    term = predicate.term
    if isinstance(term, NamedTerm):
        return term_set(vocabulary.of(predicate.path).terms[term.name])
    if isinstance(term, AroundTerm):
        return around(term.centre, term.spread)
    return trapezoid(term.corners)


def _crisp_test(predicate: Comparison | In | Between | TextMatch) -> Test:
    literal_type = type(literal(predicate))
    holds = holding(predicate)
    ranges = number_set(predicate) if literal_type is float else ()

    def test(value: Value) -> Degrees | None:
        if type(value) is literal_type:
            return TRUE if holds(value) else FALSE
        if isinstance(value, Trapezoid) and literal_type is float:
            return crisp_number_degrees(ranges, value)
        if isinstance(value, Graded) and literal_type is str:
            return crisp_text_degrees(holds, value)
        return None

    return test


def literal(predicate: Comparison | In | Between | TextMatch) -> Scalar:
    """A literal of the predicate; its type is the predicate's type."""
    if isinstance(predicate, Comparison):
        return predicate.value
    if isinstance(predicate, In):
        return predicate.values[0]
    return predicate.low if isinstance(predicate, Between) else predicate.text


def holding(predicate: Comparison | In | Between | TextMatch) -> Callable[[Any], bool]:
    """Whether an element of the predicate's type satisfies it, leaving its negation aside."""
    if isinstance(predicate, Comparison):
        compare, operand = COMPARE[predicate.operator], predicate.value
        return lambda element: compare(element, operand)
    if isinstance(predicate, In):
        members = frozenset(predicate.values)
        return members.__contains__
    if isinstance(predicate, Between):
        low: Any = predicate.low
        high: Any = predicate.high
        return lambda element: low <= element <= high
    search, text = SEARCH[predicate.operator], predicate.text
    return lambda element: search(element, text)
