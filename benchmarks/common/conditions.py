"""Subscriptions' conditions in a neutral form, from which texts, arrays and SQL are made."""

from collections.abc import Iterator
from math import inf
from typing import NamedTuple


class Range(NamedTuple):
    """A number between two ends, which belong to it unless it is open."""

    attribute: str
    low: float = -inf
    high: float = inf
    is_open: bool = False


class Word(NamedTuple):
    """A string, or an element of a multi-valued attribute, that is or holds a text."""

    attribute: str
    operator: str
    text: str


class Around(NamedTuple):
    """A fuzzy number; decimals are few, so that its feet fall on them and not beside them."""

    attribute: str
    centre: float
    spread: float

    @property
    def corners(self) -> tuple[float, float, float, float]:
        low, high = self.centre - self.spread, self.centre + self.spread
        return round(low, 6), self.centre, self.centre, round(high, 6)


class Trapezoid(NamedTuple):
    attribute: str
    corners: tuple[float, float, float, float]


class All(NamedTuple):
    operands: tuple["Condition", ...]


class Some(NamedTuple):
    operands: tuple["Condition", ...]


class Not(NamedTuple):
    operand: "Condition"


Fuzzy = Around | Trapezoid
Condition = Range | Word | Fuzzy | All | Some | Not


def where(condition: Condition) -> str:
    """The condition in Shortlist's language.

    >>> where(All((Range("year", 1990, 1999), Not(Word("genre", "=", "drama")))))
    "year between 1990 and 1999 and not genre = 'drama'"
    """
    match condition:
        case Range(attribute, low, high, is_open):
            return _range(attribute, low, high, "" if is_open else "=")
        case Word(attribute, operator, text):
            return f"{attribute} {operator} {_string(text)}"
        case Around(attribute, centre, spread):
            return f"{attribute} is around({_number(centre)}, {_number(spread)})"
        case Trapezoid(attribute, corners):
            return f"{attribute} is trapezoid({', '.join(map(_number, corners))})"
        case All(operands):
            return " and ".join(map(_grouped, operands))
        case Some(operands):
            return " or ".join(map(_grouped, operands))
        case Not(operand):
            return f"not {_grouped(operand)}"


def supports(condition: All) -> All:
    """The crisp conjunction that holds where one of fuzzy predicates is possible at all.

    >>> where(supports(All((Around("year", 1990, 5), Word("genre", "=", "drama")))))
    "year > 1985 and year < 1995 and genre = 'drama'"
    """
    return All(tuple(part for operand in condition.operands for part in _supports(operand)))


def _supports(operand: Condition) -> Iterator[Condition]:
    if not isinstance(operand, Fuzzy):
        yield operand
        return
    foot, start, end, other_foot = operand.corners
    yield Range(operand.attribute, low=foot, is_open=foot < start)
    yield Range(operand.attribute, high=other_foot, is_open=end < other_foot)


def _range(attribute: str, low: float, high: float, equal: str) -> str:
    if high == inf:
        return f"{attribute} >{equal} {_number(low)}"
    if low == -inf:
        return f"{attribute} <{equal} {_number(high)}"
    if not equal:
        return f"({attribute} > {_number(low)} and {attribute} < {_number(high)})"
    return f"{attribute} between {_number(low)} and {_number(high)}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _string(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _grouped(condition: Condition) -> str:
    text = where(condition)
    return f"({text})" if isinstance(condition, All | Some) else text
