"""The paper's algorithm (its Figures 4 to 10), on this system's predicates and fuzzy sets.

The system itself works otherwise (masks over blocks of publications), so what the paper compares is
here, and small: each predicate is stored once, and all of an attribute are evaluated, or only those
near what was published if they are sorted; then those who have a predicate are found, by a list or
by a row of a matrix of bits, and a vector over all subscriptions takes the least degrees.
"""

from __future__ import annotations

from array import array
from bisect import insort
from collections.abc import Iterator
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from shortlist.fuzzy.sets import Trapezoid
from shortlist.language.parser import parse_where
from shortlist.language.tree import And, Is
from shortlist.matching.base import Match
from shortlist.matching.fuzzy_columns import corners_of
from shortlist.matching.predicates import Judge, fuzzy_set, judge
from shortlist.matching.values import Reader
from shortlist.model.paths import Path
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary

Places = npt.NDArray[np.intp]
Corners = tuple[float, float, float, float]
Stored = tuple[Corners, int, Judge]
"""A predicate: its critical points, by which it is sorted, its number, and what evaluates it."""


class Association(Protocol):
    """Who has a predicate."""

    def add(self, predicate: int, subscription: int) -> None: ...

    def who(self, predicate: int) -> Places: ...

    @property
    def nbytes(self) -> int: ...


class Lists:
    """A list for each predicate.

    >>> lists = Lists()
    >>> lists.add(0, 3), lists.who(0).tolist(), lists.nbytes
    (None, [3], 4)
    """

    def __init__(self) -> None:
        self._lists: list[array[int]] = []

    def add(self, predicate: int, subscription: int) -> None:
        while predicate >= len(self._lists):
            self._lists.append(array("i"))
        self._lists[predicate].append(subscription)

    def who(self, predicate: int) -> Places:
        return np.array(self._lists[predicate], np.intp)

    @property
    def nbytes(self) -> int:
        return sum(len(each) * each.itemsize for each in self._lists)


class Matrix:
    """A bit for each predicate and subscription.

    >>> matrix = Matrix()
    >>> matrix.add(0, 3), matrix.who(0).tolist(), matrix.nbytes
    (None, [3], 1)
    """

    def __init__(self) -> None:
        self._rows = np.zeros((1, 1), np.uint8)
        self._shape = (0, 0)
        """Predicates, and bytes of each, that are in use."""

    def add(self, predicate: int, subscription: int) -> None:
        at, bit = divmod(subscription, 8)
        rows, columns = self._rows.shape
        if predicate >= rows or at >= columns:
            larger = np.zeros((max(rows, 2 * predicate), max(columns, 2 * at)), np.uint8)
            larger[:rows, :columns] = self._rows
            self._rows = larger
        self._rows[predicate, at] |= 128 >> bit
        self._shape = max(self._shape[0], predicate + 1), max(self._shape[1], at + 1)

    def who(self, predicate: int) -> Places:
        return np.flatnonzero(np.unpackbits(self._rows[predicate]))

    @property
    def nbytes(self) -> int:
        predicates, row = self._shape
        return predicates * row


class Degrees(Protocol):
    """A vector of degrees, which are 1 at first."""

    def lower(self, places: Places, degree: float) -> None:
        """Takes the least of what is there and a degree."""
        ...

    def all(self) -> npt.NDArray[np.float64]: ...

    @property
    def nbytes(self) -> int: ...


class Doubles:
    """Degrees as they are."""

    def __init__(self, size: int) -> None:
        self._degrees = np.ones(size)

    def lower(self, places: Places, degree: float) -> None:
        self._degrees[places] = np.minimum(self._degrees[places], degree)

    def all(self) -> npt.NDArray[np.float64]:
        return self._degrees

    @property
    def nbytes(self) -> int:
        return self._degrees.nbytes


class HalfBytes:
    """Two degrees a byte, each as the number of one of sixteen cells.

    >>> cells = HalfBytes(3)
    >>> cells.lower(np.array([0, 1]), 0.8), cells.all().tolist(), cells.nbytes
    (None, [0.75, 0.75, 0.9375], 2)
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._bytes = np.full(-(-size // 2), 255, np.uint8)

    def lower(self, places: Places, degree: float) -> None:
        cell = min(15, int(degree * 16))
        for half, shift in ((0, 4), (1, 0)):
            at = places[places % 2 == half] // 2  # no byte twice, so that none is lost
            both = self._bytes[at]
            least = np.minimum(both >> shift & 15, cell).astype(np.uint8)
            self._bytes[at] = both & (15 << (4 - shift)) | least << shift

    def all(self) -> npt.NDArray[np.float64]:
        cells = np.stack([self._bytes >> 4, self._bytes & 15], axis=1).reshape(-1)
        return cells[: self._size] / 16

    @property
    def nbytes(self) -> int:
        return self._bytes.nbytes


class TwoStage:
    """Conjunctions of fuzzy predicates, under `min` and without thresholds."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        association: Literal["list", "matrix"] = "list",
        *,
        sorts: bool = False,
        in_bits: bool = False,
    ) -> None:
        self._vocabulary = vocabulary
        self._sorts = sorts
        self._vector = HalfBytes if in_bits else Doubles
        self._association: Association = Lists() if association == "list" else Matrix()
        self._known: dict[Is, int] = {}
        self._of_attribute: dict[Path, list[Stored]] = {}
        self._names: list[str] = []
        self._sizes = array("i")
        """By subscription: its predicates."""
        self.evaluated = 0
        """Predicates so far."""

    def add(self, subscription: Subscription) -> None:
        where = parse_where(subscription.where or "", self._vocabulary)
        parts = where.operands if isinstance(where, And) else (where,)
        for part in parts:
            assert isinstance(part, Is)
            if part not in self._known:
                self._enter(part)
            self._association.add(self._known[part], len(self._names))
        self._names.append(subscription.id)
        self._sizes.append(len(parts))

    def _enter(self, predicate: Is) -> None:
        number = self._known[predicate] = len(self._known)
        target = fuzzy_set(predicate, self._vocabulary)
        assert isinstance(target, Trapezoid)
        stored = corners_of(target), number, judge(predicate, self._vocabulary)
        of_it = self._of_attribute.setdefault(predicate.path, [])
        if self._sorts:
            insort(of_it, stored, key=lambda each: each[:2])
        else:
            of_it.append(stored)

    def predicates(self, read: Reader) -> Iterator[tuple[int, float, float]]:
        """The first stage: predicates that are possible, and how far they are met."""
        for path, of_it in self._of_attribute.items():
            value = read(path)
            if value is None:
                continue
            assert isinstance(value, Trapezoid)
            for (m1, _, _, m4), number, evaluate in of_it:
                if self._sorts and m1 > value.m4:
                    break
                if self._sorts and m4 < value.m1:
                    continue
                self.evaluated += 1
                possibility, necessity = evaluate(value).degrees
                if possibility > 0:
                    yield number, possibility, necessity

    def match(self, read: Reader) -> list[Match]:
        """Both stages."""
        count = np.zeros(len(self._names), np.int32)
        high, low = self._vector(len(self._names)), self._vector(len(self._names))
        for number, possibility, necessity in self.predicates(read):
            who = self._association.who(number)
            high.lower(who, possibility)
            low.lower(who, necessity)
            count[who] += 1
        found = np.flatnonzero(count == np.asarray(self._sizes))
        degrees = zip(high.all()[found].tolist(), low.all()[found].tolist(), strict=True)
        rows = zip(found.tolist(), degrees, strict=True)
        return sorted(Match(self._names[at], *of_it) for at, of_it in rows)

    @property
    def association_bytes(self) -> int:
        return self._association.nbytes

    @property
    def degree_bytes(self) -> int:
        """Of possibility and necessity, by predicate and by subscription."""
        return sum(2 * self._vector(len(of)).nbytes for of in (self._known, self._names))
