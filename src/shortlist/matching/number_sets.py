"""Crisp predicates on numbers and times, as unions of intervals."""

from functools import reduce
from math import inf

from shortlist.fuzzy.intervals import Interval, complement, normalised, point
from shortlist.language.tree import Between, Comparison, In, Scalar, TextMatch
from shortlist.model.times import Instant

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
    value = _coordinate(predicate.value)
    match predicate.operator:
        case "=":
            return (point(value),)
        case "!=":
            return complement((point(value),))
        case "<":
            return (Interval(-inf, value, high_open=True),)
        case "<=":
            return (Interval(-inf, value),)
        case ">":
            return (Interval(value, inf, low_open=True),)
        case ">=":
            return (Interval(value, inf),)


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
