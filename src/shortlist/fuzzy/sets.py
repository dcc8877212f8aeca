"""Fuzzy sets: trapezoids on numbers and graded values on strings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import asin, exp, inf, isfinite, isinf, log, pi, sin, sqrt
from typing import Any, get_args

from shortlist.fuzzy.intervals import Interval
from shortlist.model.vocabulary import Shape, Term

_SHAPES = get_args(Shape)
_GAUSS_FOOT = exp(-4.5)
"""What a Gaussian edge falls to just inside its foot, before it drops to 0."""


def edge_degree(shape: Shape, u: float) -> float:
    """The membership on an edge, `u` from 0 at the foot to 1 at the core.

    >>> edge_degree("linear", 0.25), round(edge_degree("smooth", 0.25), 9)
    (0.25, 0.146446609)
    """
    if shape == "linear":
        return u
    if shape == "smooth":
        # (1 - cos pi u) / 2, without its cancellation near the foot
        half = sin(pi * u / 2)
        return half * half
    away = 3 * (1 - u)
    return exp(-(away * away) / 2)


def edge_position(shape: Shape, degree: float) -> float:
    """The `u` from which on an edge's membership is at least `degree`.

    >>> edge_position("linear", 0.25), edge_position("gauss", 0.01)
    (0.25, 0.0)
    """
    if shape == "linear":
        return degree
    if shape == "smooth":
        return 2 * asin(sqrt(degree)) / pi
    return max(0.0, 1 - sqrt(-2 * log(degree)) / 3) if degree > _GAUSS_FOOT else 0.0


@dataclass(frozen=True, slots=True)
class Trapezoid:
    """0 outside (m1, m4), 1 on [m2, m3]; a pair of infinite ends has no edge.

    >>> medium = Trapezoid(40, 50, 70, 80)
    >>> medium.membership(75), medium.membership(50), medium.membership(80)
    (0.5, 1.0, 0.0)
    >>> Trapezoid(40, 30, 70, 80)
    Traceback (most recent call last):
    ValueError: the corners of a trapezoid must not decrease: 40, 30, 70, 80
    """

    m1: float
    m2: float
    m3: float
    m4: float
    left: Shape = "linear"
    right: Shape = "linear"

    def __post_init__(self) -> None:
        for shape in (self.left, self.right):
            if shape not in _SHAPES:
                raise ValueError(f"expected linear, smooth or gauss, not {shape!r}")
        if (self.m1 == -inf) != (self.m2 == -inf):
            raise ValueError("the first two corners of a trapezoid are both numbers or both null")
        if (self.m3 == inf) != (self.m4 == inf):
            raise ValueError("the last two corners of a trapezoid are both numbers or both null")
        lows_fit = self.m1 < inf and self.m2 < inf
        highs_fit = self.m3 > -inf and self.m4 > -inf
        if not (lows_fit and highs_fit and self.m1 <= self.m2 <= self.m3 <= self.m4):
            corners = ", ".join(str(m) for m in (self.m1, self.m2, self.m3, self.m4))
            raise ValueError(f"the corners of a trapezoid must not decrease: {corners}")

    @property
    def core(self) -> Interval:
        return Interval(self.m2, self.m3)

    def membership(self, x: float) -> float:
        if x < self.m2:
            return edge_degree(self.left, _share(self.m1, x, self.m2)) if x > self.m1 else 0.0
        if x > self.m3:
            return edge_degree(self.right, _share(self.m4, x, self.m3)) if x < self.m4 else 0.0
        return 1.0


@dataclass(frozen=True, slots=True)
class Graded:
    """A fuzzy set on strings: the degree of each value, 0 for the rest.

    >>> bright = Graded({"happy": 1, "calm": 0.4})
    >>> bright.membership("calm"), bright.membership("sad")
    (0.4, 0.0)
    """

    degrees: Mapping[str, float]

    def __post_init__(self) -> None:
        degrees = {value: _number(degree) for value, degree in self.degrees.items()}
        for value, degree in degrees.items():
            if not isinstance(value, str):
                raise ValueError(f"expected a string as value, not {value!r}")
            if not 0 <= degree <= 1:
                raise ValueError(f"the degree of {value!r} must lie between 0 and 1")
        if 1.0 not in degrees.values():
            raise ValueError("some value must have degree 1")
        object.__setattr__(self, "degrees", degrees)

    def membership(self, x: str) -> float:
        return self.degrees.get(x, 0.0)


FuzzySet = Trapezoid | Graded


def trapezoid(
    corners: Sequence[float | None],
    shape: Shape | None = None,
    left: Shape | None = None,
    right: Shape | None = None,
) -> Trapezoid:
    """A trapezoid as files write it: null for an infinite end, `shape` for both edges.

    >>> trapezoid([None, None, 1200, 1500], shape="smooth", right="gauss")
    Trapezoid(m1=-inf, m2=-inf, m3=1200.0, m4=1500.0, left='smooth', right='gauss')
    """
    if len(corners) != 4:
        raise ValueError(f"a trapezoid has four corners, not {len(corners)}")
    m1, m2 = (-inf if corner is None else _number(corner) for corner in corners[:2])
    m3, m4 = (inf if corner is None else _number(corner) for corner in corners[2:])
    both: Shape = "linear" if shape is None else shape
    return Trapezoid(
        m1, m2, m3, m4, both if left is None else left, both if right is None else right
    )


def around(centre: float, spread: float) -> Trapezoid:
    """1 at the centre, 0 from `spread` away.

    >>> around(1400, 100).membership(1350)
    0.5
    """
    centre, spread = _number(centre), _number(spread)
    if spread < 0:
        raise ValueError(f"the spread must not be negative: {spread}")
    return trapezoid((centre - spread, centre, centre, centre + spread))


def term_set(term: Term) -> FuzzySet:
    """The fuzzy set that a vocabulary's term describes.

    >>> term_set(Term(values={"happy": 1})).membership("happy")
    1.0
    >>> term_set(Term())
    Traceback (most recent call last):
    ValueError: a term is either a trapezoid or values
    """
    if term.trapezoid is not None and term.values is None:
        return trapezoid(term.trapezoid, term.shape, term.left, term.right)
    if term.values is None or term.trapezoid is not None:
        raise ValueError("a term is either a trapezoid or values")
    if (term.shape, term.left, term.right) != (None, None, None):
        raise ValueError("shape, left and right belong to a trapezoid, not to values")
    return Graded(term.values)


def published_set(document: Mapping[str, Any], terms: Mapping[str, FuzzySet]) -> FuzzySet | None:
    """The fuzzy value that a publication carries, or None where it is none.

    >>> published_set({"term": "cheap"}, {"cheap": around(900, 100)})
    Trapezoid(m1=800.0, m2=900.0, m3=900.0, m4=1000.0, left='linear', right='linear')
    >>> published_set({"between": [5, None]}, {})
    Trapezoid(m1=5.0, m2=5.0, m3=inf, m4=inf, left='linear', right='linear')
    >>> published_set({"between": [5, True]}, {}), published_set({"term": "dear"}, {})
    (None, None)
    """
    try:
        match {key: part for key, part in document.items() if part is not None}:
            case {"term": str(name), **rest} if not rest:
                return terms.get(name)
            case {"trapezoid": [*corners], **rest} if rest.keys() <= {"shape", "left", "right"}:
                return trapezoid(corners, **rest)
            case {"between": [low, high], **rest} if not rest:
                return trapezoid((low, low, high, high))
            case {"values": Mapping() as degrees, **rest} if not rest:
                return Graded(degrees)
    except ValueError:
        pass
    return None


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"expected a number, not {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = inf
    if not isfinite(number):
        raise ValueError("expected a finite number")
    return number


def _share(foot: float, x: float, core: float) -> float:
    """How far `x` is from foot to core."""
    if isinf(core - foot):
        return (x / 2 - foot / 2) / (core / 2 - foot / 2)
    return (x - foot) / (core - foot)
