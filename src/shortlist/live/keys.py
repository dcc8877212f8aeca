"""Where publications and subscriptions meet: lanes that an attribute's values are spread over.

A publication goes to the lanes of its own values, and a subscription is held by the lanes of all
values that it could match: so they have a lane in common wherever they match.
"""

import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_

from shortlist.fuzzy.sets import Graded, Trapezoid
from shortlist.language.parser import parse_where
from shortlist.language.tree import (
    And,
    Between,
    Comparison,
    In,
    Or,
    Predicate,
    Scalar,
    Where,
)
from shortlist.matching.conditions import STRICT
from shortlist.matching.predicates import Intervals, holds_on, literal
from shortlist.matching.values import Many, Value
from shortlist.model.paths import Path
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.times import Instant
from shortlist.model.vocabulary import Vocabulary

MOST_LANES = 63
"""As many as a whole number of 64 bits has room for, beside its sign."""

Lanes = int
"""Some lanes, a bit for each."""

TYPES: dict[type, str] = {float: "number", str: "string", bool: "boolean", Instant: "time"}


@dataclass(frozen=True, slots=True)
class ByValue:
    """Each value of an attribute is hashed to a lane; a number is never the same as a string.

    >>> key = ByValue(("rooms",), 8)
    >>> key.of_value(2.0) == key.of_value("2"), key.of_value(0.0) == key.of_value(-0.0)
    (False, True)
    """

    path: Path
    lanes: int

    def of_value(self, value: Scalar) -> Lanes:
        text = value + 0.0 if isinstance(value, float) else value  # there are two zeros
        hashed = zlib.crc32(f"{TYPES[type(value)]} {text!r}".encode())
        return 1 << hashed % self.lanes

    def of_predicate(self, predicate: Predicate) -> Lanes | None:
        """Those of all values that satisfy a predicate; None if it does not list them."""
        values = listed(predicate)
        return _joined(map(self.of_value, values)) if values else None


@dataclass(frozen=True, slots=True)
class ByCell:
    """The numbers of an attribute are cut into as many cells as there are lanes.

    >>> key = ByCell(("rent",), (500.0, 1000.0, 2000.0))
    >>> bin(key.of_value(500.0)), bin(key.of_predicate(Between(("rent",), 700.0, 1000.0)))
    ('0b10', '0b110')
    """

    path: Path
    bounds: tuple[float, ...]
    """Where cells begin, but for the first."""

    def of_value(self, value: Scalar) -> Lanes:
        return 1 << self._cell(value) if isinstance(value, float) else 0

    def of_predicate(self, predicate: Predicate) -> Lanes | None:
        """Those of all numbers that satisfy a predicate; None if it does not ask for numbers."""
        if (parts := numbers(predicate)) is None:
            return None
        return _joined((2 << self._cell(part.high)) - (1 << self._cell(part.low)) for part in parts)

    def _cell(self, number: float) -> int:
        return bisect_right(self.bounds, number)


Key = ByValue | ByCell


class Meeting:
    """The lanes of publications and of subscriptions.

    >>> meeting = Meeting(ByValue(("city",), 4), 4, Vocabulary(), Limits())
    >>> oslo = Subscription(id="s", where="city = 'Oslo' and rent < 900")
    >>> meeting.of_subscription(oslo) == meeting.of_publication("Oslo", position=7)
    True
    >>> bin(meeting.of_subscription(Subscription(id="t", where="rent < 900")))
    '0b1111'
    """

    def __init__(self, key: Key, lanes: int, vocabulary: Vocabulary, limits: Limits) -> None:
        self.key = key
        self._lanes = lanes
        self._every = (1 << lanes) - 1
        self._vocabulary = vocabulary
        self._limits = limits

    def of_subscription(self, subscription: Subscription) -> Lanes:
        """Those that hold it: all of them where its condition does not tell."""
        return self.of_predicates(demanded(subscription, self._vocabulary, self._limits))

    def of_predicates(self, predicates: Iterable[Predicate]) -> Lanes:
        """Those that hold whoever asks for all of these."""
        found = [
            lanes
            for predicate in predicates
            if predicate.path == self.key.path
            and (lanes := self.key.of_predicate(predicate)) is not None
        ]
        if not found:
            return self._every
        if self._vocabulary.of(self.key.path).many:
            # one element may do for one predicate, and another for the next
            return min(found, key=int.bit_count) or 1
        # what no single value satisfies a fuzzy one may, and that goes to every lane
        return reduce(and_, found) or 1

    def of_publication(self, value: Value | Many | None, position: int) -> Lanes:
        """Those that it goes to, by its value of the attribute; without one, any."""
        if isinstance(value, Trapezoid | Graded):
            return self._every
        elements = value.elements if isinstance(value, Many) else (value,)
        scalars = (each for each in elements if each is not None and not isinstance(each, tuple))
        return _joined(map(self.key.of_value, scalars)) or 1 << position % self._lanes


def demanded(
    subscription: Subscription, vocabulary: Vocabulary, limits: Limits
) -> Iterator[Predicate]:
    """Predicates without which a subscription's condition cannot hold.

    >>> where = "city = 'Oslo' and (rent < 900 or rooms = 2)"
    >>> asked = demanded(Subscription(id="s", where=where), Vocabulary(), Limits())
    >>> [predicate.path for predicate in asked]
    [('city',)]
    >>> [*demanded(Subscription(id="s", where=where, norm="average"), Vocabulary(), Limits())]
    []
    """
    if subscription.where is not None:
        where = parse_where(subscription.where, vocabulary, limits)
        yield from _demanded(where, is_strict=subscription.norm in STRICT)


def _demanded(where: Where, is_strict: bool) -> Iterator[Predicate]:
    if isinstance(where, And):
        # under other norms a member may fail and the whole still hold somewhat
        for operand in where.operands if is_strict else ():
            yield from _demanded(operand, is_strict)
    elif not isinstance(where, Or):
        yield where


def listed(predicate: Predicate) -> tuple[Scalar, ...]:
    """The only values that satisfy a predicate, if it lists them."""
    match predicate:
        case Comparison(operator="=", value=value, negated=False):
            return (value,)
        case In(values=values, negated=False):
            return values
    return ()


def numbers(predicate: Predicate) -> Intervals | None:
    """The numbers that satisfy a predicate, if it asks for numbers."""
    if isinstance(predicate, Comparison | In | Between) and type(literal(predicate)) is float:
        return holds_on(predicate)
    return None


def _joined(lanes: Iterable[Lanes]) -> Lanes:
    return reduce(or_, lanes, 0)
