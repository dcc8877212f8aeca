"""Intervals of the real line with open and closed ends, and finite unions of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, isinf


@dataclass(frozen=True, slots=True)
class Interval:
    """The reals from `low` to `high`; an infinite end is always open.

    >>> Interval(1, 2, high_open=True).meets(Interval(2, 3))
    False
    """

    low: float
    high: float
    low_open: bool = False
    high_open: bool = False

    def __post_init__(self) -> None:
        if isinf(self.low):
            object.__setattr__(self, "low_open", True)
        if isinf(self.high):
            object.__setattr__(self, "high_open", True)

    @property
    def is_empty(self) -> bool:
        if self.low == self.high:
            return self.low_open or self.high_open
        return not self.low < self.high

    def intersection(self, other: "Interval") -> "Interval":
        """What both hold; empty where they do not meet.

        >>> Interval(1, 5).intersection(Interval(3, 5, high_open=True))
        Interval(low=3, high=5, low_open=False, high_open=True)
        """
        low, low_open = max((self.low, self.low_open), (other.low, other.low_open))
        high, high_closed = min((self.high, not self.high_open), (other.high, not other.high_open))
        return Interval(low, high, low_open, not high_closed)

    def meets(self, other: "Interval") -> bool:
        return not self.intersection(other).is_empty


REALS = Interval(-inf, inf)


def point(x: float) -> Interval:
    return Interval(x, x)


def normalised(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """The components of a union: not empty, sorted, and no two can be joined.

    >>> normalised([Interval(2, 3), Interval(1, 2, high_open=True), Interval(5, 4)])
    (Interval(low=1, high=3, low_open=False, high_open=False),)
    """
    components: list[Interval] = []
    filled = (interval for interval in intervals if not interval.is_empty)
    for interval in sorted(filled, key=lambda each: (each.low, each.low_open)):
        if components and _joins(components[-1], interval):
            components[-1] = _joined(components[-1], interval)
        else:
            components.append(interval)
    return tuple(components)


def complement(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """The components of everything outside a union.

    >>> complement([Interval(1, inf)])
    (Interval(low=-inf, high=1, low_open=True, high_open=True),)
    >>> complement([point(5)])[1]
    Interval(low=5, high=inf, low_open=True, high_open=True)
    """
    gaps: list[Interval] = []
    low, low_open = -inf, True
    for component in normalised(intervals):
        gaps.append(Interval(low, component.low, low_open, not component.low_open))
        low, low_open = component.high, not component.high_open
    gaps.append(Interval(low, inf, low_open, True))
    return tuple(gap for gap in gaps if not gap.is_empty)


def _joins(left: Interval, right: Interval) -> bool:
    """Whether an interval that starts no earlier leaves nothing between."""
    return right.low < left.high or (
        right.low == left.high and not (left.high_open and right.low_open)
    )


def _joined(left: Interval, right: Interval) -> Interval:
    high, closed = max((left.high, not left.high_open), (right.high, not right.high_open))
    return Interval(left.low, high, left.low_open, not closed)
