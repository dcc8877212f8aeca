"""Slots: what a block of publications is asked, each question once.

Per block every slot gets a mask, one bit per publication. A predicate is `plus and not minus` of
two slots, so that a range is two ends of its attribute's order, and a negation is the attribute's
type without what is negated.
"""

import struct
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from shortlist.language.tree import TextOperator
from shortlist.model.paths import Path
from shortlist.model.times import Instant

_AS_DOUBLE, _AS_INTEGER = struct.Struct("<d"), struct.Struct("<q")
_ALL_BUT_SIGN = 2**63 - 1

Kind = Literal["number", "text", "time", "boolean"]
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
