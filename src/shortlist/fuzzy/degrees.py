"""Possibility and necessity of a predicate, given what was published.

A membership function on numbers, and its complement, is the highest of a few **hills**: 1 on a core
interval and falling away from it on both sides. Two hills whose cores are apart are both at least
alpha somewhere iff what they reach towards each other at that height is more than the gap between
the cores. So sup min of two hills is found by bisection on alpha itself, which is accurate however
steep the edges are, and N = 1 - sup min(1 - membership, published).
"""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from math import inf, isfinite
from typing import NamedTuple

from shortlist.fuzzy.intervals import Interval, complement, normalised
from shortlist.fuzzy.sets import FuzzySet, Graded, Trapezoid, edge_position
from shortlist.language.tree import Hedge
from shortlist.model.rounding import added
from shortlist.model.subscription import Norm, NormName, Weights
from shortlist.model.vocabulary import Shape

_BISECTIONS = 53
"""So many that every height tried, and 1 - it, is an exact double."""
_HUGE = 2.0**1000


class Degrees(NamedTuple):
    """How possible it is that a predicate holds, and how certain."""

    possibility: float
    necessity: float


FALSE = Degrees(0.0, 0.0)
TRUE = Degrees(1.0, 1.0)


def hedge_power(hedges: Sequence[Hedge]) -> float:
    """The power that hedges raise a membership to: `very` squares, `somewhat` takes the root.

    >>> hedge_power(["very", "very", "somewhat"]), hedge_power(["somewhat"])
    (2.0, 0.5)
    """
    exponent = hedges.count("very") - hedges.count("somewhat")
    return 2.0 ** max(-1000, min(1000, exponent))


def fuzzy_degrees(target: FuzzySet, power: float, value: float | str | FuzzySet) -> Degrees | None:
    """The degrees of `is`; None where the value is not of the target's type.

    >>> from shortlist.fuzzy.sets import around, trapezoid
    >>> fuzzy_degrees(trapezoid([40, 80, None, None]), 2, 60)
    Degrees(possibility=0.25, necessity=0.25)
    >>> fuzzy_degrees(around(1400, 100), 1, trapezoid([None, None, 1200, 1500]))
    Degrees(possibility=0.5, necessity=0.0)
    """
    if isinstance(target, Graded):
        if isinstance(value, str):
            return _certain(target.membership(value) ** power)
        if isinstance(value, Graded):
            return _text_degrees(lambda text: target.membership(text) ** power, value)
        return None
    if isinstance(value, Trapezoid):
        return _number_degrees([_hill(target, power)], _valleys(target, power), value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _certain(target.membership(value) ** power)
    return None


def crisp_number_degrees(holds: Sequence[Interval], value: Trapezoid) -> Degrees:
    """The degrees of a comparison that holds on a union of intervals, on a fuzzy number.

    >>> crisp_number_degrees([Interval(0, 450)], Trapezoid(300, 400, 500, 600))
    Degrees(possibility=1.0, necessity=0.0)
    """
    return _number_degrees(
        map(_plateau, normalised(holds)), map(_plateau, complement(holds)), value
    )


def crisp_text_degrees(holds: Callable[[str], bool], value: Graded) -> Degrees:
    """The degrees of a comparison on strings, on a fuzzy one.

    >>> crisp_text_degrees("happy".__eq__, Graded({"happy": 1, "calm": 0.4}))
    Degrees(possibility=1.0, necessity=0.6)
    """
    possibility, necessity = _text_degrees(lambda text: float(holds(text)), value)
    # in steps of 2^-53, as heights of numbers are: so `!=` is the same as not `=`
    return Degrees(1 - (1 - possibility), necessity)


def negation(degrees: Degrees) -> Degrees:
    """The degrees of `not`.

    >>> negation(Degrees(0.75, 0.5))
    Degrees(possibility=0.5, necessity=0.25)
    """
    return Degrees(1 - degrees.necessity, 1 - degrees.possibility)


def best(elements: Sequence[Degrees]) -> Degrees:
    """The degrees over the elements of a multi-valued attribute.

    >>> best([Degrees(0.5, 0.5), Degrees(0.75, 0.75)])
    Degrees(possibility=0.75, necessity=0.75)
    """
    return Degrees(
        max(degrees.possibility for degrees in elements),
        max(degrees.necessity for degrees in elements),
    )


def _certain(degree: float) -> Degrees:
    return Degrees(degree, degree)


def _text_degrees(membership: Callable[[str], float], published: Graded) -> Degrees:
    # a string that is not published cannot lower the necessity: there 1 - published is 1
    pairs = [(membership(text), degree) for text, degree in published.degrees.items()]
    return Degrees(
        max(min(degree, possible) for degree, possible in pairs),
        min(max(degree, 1 - possible) for degree, possible in pairs),
    )


Reach = Callable[[float], float]


class _Hill(NamedTuple):
    """1 on the core; `left` and `right` tell which share of the way to the foot is at a height."""

    core: Interval
    left_foot: float
    right_foot: float
    left: Reach
    right: Reach


def _number_degrees(
    hills: Iterable[_Hill], outside: Iterable[_Hill], published: Trapezoid
) -> Degrees:
    known = _hill(published, 1.0)
    return Degrees(
        max((_highest_meeting(hill, known) for hill in hills), default=0.0),
        1 - max((_highest_meeting(hill, known) for hill in outside), default=0.0),
    )


def _highest_meeting(one: _Hill, other: _Hill) -> float:
    """sup min of two hills."""
    if one.core.meets(other.core):
        return 1.0
    left, right = (one, other) if one.core.high <= other.core.low else (other, one)
    near, far = left.core.high, right.core.low
    # differences of the largest doubles overflow; a power of two scales without rounding
    huge = max(map(abs, (near, far, left.right_foot, right.left_foot))) > _HUGE
    scale = 0.25 if huge else 1.0
    gap = far * scale - near * scale
    left_width = left.right_foot * scale - near * scale
    right_width = far * scale - right.left_foot * scale
    if left_width + right_width <= gap:
        return 0.0
    # More than the gap, not as much: where a reach stays the same over a range of heights, the end
    # of it is not attained (a Gaussian edge is 0 at its foot, a comparison's end is open).
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        height = (low + high) / 2
        if left_width * left.right(height) + right_width * right.left(height) > gap:
            low = height
        else:
            high = height
    return high


def _hill(target: Trapezoid, power: float) -> _Hill:
    """The membership, hedged."""
    left, right = _falling(target.left, power), _falling(target.right, power)
    return _Hill(target.core, target.m1, target.m4, left, right)


def _valleys(target: Trapezoid, power: float) -> tuple[_Hill, ...]:
    """1 - the membership, hedged: a hill on each side."""
    below = Interval(-inf, target.m1, high_open=target.m1 == target.m2)
    above = Interval(target.m4, inf, low_open=target.m3 == target.m4)
    hills = (
        _Hill(below, -inf, target.m2, _upright, _rising(target.left, power)),
        _Hill(above, target.m3, inf, _rising(target.right, power), _upright),
    )
    return tuple(hill for hill in hills if not hill.core.is_empty)


def _plateau(interval: Interval) -> _Hill:
    return _Hill(interval, interval.low, interval.high, _upright, _upright)


def _falling(shape: Shape, power: float) -> Reach:
    return lambda height: 1 - edge_position(shape, height ** (1 / power))


def _rising(shape: Shape, power: float) -> Reach:
    return lambda height: edge_position(shape, (1 - height) ** (1 / power))


def _upright(_: float) -> float:
    return 0.0


Combination = Callable[[Sequence[float]], float]


def conjunction(norm: Norm, operands: Sequence[Degrees]) -> Degrees:
    """The degrees of `and` over one level of one or more operands.

    >>> conjunction("product", [Degrees(1, 0.5), Degrees(0.5, 0.5)])
    Degrees(possibility=0.5, necessity=0.25)
    >>> conjunction(Weights((3, 1)), [Degrees(1, 1), Degrees(0, 0)])
    Degrees(possibility=0.75, necessity=0.75)
    """
    if isinstance(norm, Weights):
        return _both(lambda degrees: _weighted_mean(norm.weights, degrees), operands)
    return _both(_AND[norm], operands)


def disjunction(norm: Norm, operands: Sequence[Degrees]) -> Degrees:
    """The degrees of `or` over one level of one or more operands.

    >>> disjunction("lukasiewicz", [Degrees(0.75, 0.25), Degrees(0.5, 0.5)])
    Degrees(possibility=1.0, necessity=0.75)
    """
    if isinstance(norm, Weights):
        raise ValueError("weights combine a flat conjunction only")
    return _both(_OR[norm], operands)


def _both(combine: Combination, operands: Sequence[Degrees]) -> Degrees:
    possibilities, necessities = zip(*operands, strict=True)
    return Degrees(combine(possibilities), combine(necessities))


def _mean(degrees: Sequence[float]) -> float:
    return added(degrees) / len(degrees)


def _weighted_mean(weights: Sequence[float], degrees: Sequence[float]) -> float:
    if len(weights) != len(degrees):
        raise ValueError(f"{len(weights)} weights for {len(degrees)} predicates")
    if not isfinite(added(weights)):
        weights = [weight / max(weights) for weight in weights]
    weighted = added(weight * degree for weight, degree in zip(weights, degrees, strict=True))
    return weighted / added(weights)


def _folded(pair: Callable[[float, float], float]) -> Combination:
    return lambda degrees: reduce(pair, degrees)


_AND: dict[NormName, Combination] = {
    "min": min,
    "product": _folded(lambda a, b: a * b),
    "lukasiewicz": _folded(lambda a, b: max(0.0, a + b - 1)),
    "average": _mean,
    "max": max,
}
_OR: dict[NormName, Combination] = {
    "min": max,
    "product": _folded(lambda a, b: a + b - a * b),
    "lukasiewicz": _folded(lambda a, b: min(1.0, a + b)),
    "average": _mean,
    "max": max,
}
