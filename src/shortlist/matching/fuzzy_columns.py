"""Fuzzy values of one attribute, side by side: numbers by their corners, texts by their words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, get_args

import numpy as np

from shortlist.fuzzy.sets import Graded, Trapezoid
from shortlist.matching.arrays import Floats, Ints
from shortlist.model.vocabulary import Shape

SHAPES: tuple[Shape, ...] = get_args(Shape)
"""Kernels know the shapes of edges by their places here."""
PLACES = {shape: place for place, shape in enumerate(SHAPES)}
NUMBERS = frozenset((float, int))


def corners_of(value: Trapezoid) -> tuple[float, float, float, float]:
    return value.m1, value.m2, value.m3, value.m4


def shapes_of(value: Trapezoid) -> tuple[int, int]:
    return PLACES[value.left], PLACES[value.right]


Row = tuple[float, float, float, float, int, int]
"""Corners and shapes, as published: not yet known to be finite and in order."""


def published_row(document: Mapping[str, Any]) -> Row | None:
    """A fuzzy number in one of its usual forms, read fast; None where it is in another form.

    Corners may be no numbers.

    >>> published_row({"trapezoid": [1, 2, 2, 5], "shape": "gauss"}), published_row({"term": "low"})
    ((1, 2, 2, 5, 2, 2), None)
    """
    corners, ends = document.get("trapezoid"), document.get("between")
    if type(corners) is list and len(corners) == 4:
        shape = document.get("shape", "linear")
        if len(document) == 1 + ("shape" in document) and type(shape) is str and shape in PLACES:
            return *corners, PLACES[shape], PLACES[shape]
    elif type(ends) is list and len(ends) == 2 and len(document) == 1:
        return ends[0], ends[0], ends[1], ends[1], 0, 0
    return None


def _are_numbers(row: Iterable[object]) -> bool:
    return NUMBERS.issuperset(map(type, row))


@dataclass(frozen=True, slots=True)
class FuzzyNumbers:
    """Who published a fuzzy number, ascending, and its corners and the shapes of both edges.

    >>> numbers = FuzzyNumbers.of({4: Trapezoid(1, 2, 2, 5, right="gauss")})
    >>> numbers.corners, numbers.shapes, numbers.value(4)
    ... # doctest: +NORMALIZE_WHITESPACE
    (array([[1., 2., 2., 5.]]), array([[0, 2]]),
     Trapezoid(m1=1.0, m2=2.0, m3=2.0, m4=5.0, left='linear', right='gauss'))
    """

    places: Ints = field(default_factory=lambda: np.empty(0, np.int32))
    corners: Floats = field(default_factory=lambda: np.empty((0, 4)))
    shapes: Ints = field(default_factory=lambda: np.empty((0, 2), np.int64))

    @classmethod
    def of(cls, values: Mapping[int, Trapezoid]) -> "FuzzyNumbers":
        """Values by place, which come ascending."""
        if not values:
            return NO_NUMBERS
        return cls(
            np.fromiter(values, np.int32),
            np.array([corners_of(value) for value in values.values()], np.float64),
            np.array([shapes_of(value) for value in values.values()], np.int64),
        )

    @classmethod
    def of_documents(cls, documents: Mapping[int, Any]) -> tuple["FuzzyNumbers", list[int]]:
        """Those in a usual form, by place, and the places of the others.

        What is no fuzzy number was published in vain.
        """
        read = [published_row(document) for document in documents.values()]
        if not _are_numbers(chain.from_iterable(filter(None, read))):
            read = [row if row and _are_numbers(row) else None for row in read]
        rows = [row for row in read if row]
        others = [place for place, row in zip(documents, read, strict=True) if not row]
        flat = np.fromiter(chain.from_iterable(rows), np.float64, 6 * len(rows))
        numbers, usual = flat.reshape(-1, 6), np.array([row is not None for row in read], np.bool_)
        corners, places = numbers[:, :4], np.fromiter(documents, np.int32)[usual]
        in_order = (corners[:, 1:] >= corners[:, :-1]).all(axis=1)
        is_good = in_order & np.isfinite(corners).all(axis=1)
        shapes = numbers[is_good, 4:].astype(np.int64)
        return cls(places[is_good], corners[is_good], shapes), others

    def joined(self, other: "FuzzyNumbers") -> "FuzzyNumbers":
        """Both, which have no place in common."""
        places = np.append(self.places, other.places)
        order = np.argsort(places)
        return FuzzyNumbers(
            places[order],
            np.concatenate([self.corners, other.corners])[order],
            np.concatenate([self.shapes, other.shapes])[order],
        )

    def value(self, place: int) -> Trapezoid:
        """What stands at a place where there is one."""
        at = np.searchsorted(self.places, place)
        m1, m2, m3, m4 = self.corners[at].tolist()
        left, right = self.shapes[at].tolist()
        return Trapezoid(m1, m2, m3, m4, SHAPES[left], SHAPES[right])

    def moved(self, new_place: Ints) -> "FuzzyNumbers":
        """Those with a new place that is not -1, given by the old ones."""
        if not self.places.size:
            return self
        which = _moved(self.places, new_place)
        return FuzzyNumbers(new_place[self.places[which]], self.corners[which], self.shapes[which])


@dataclass(frozen=True, slots=True)
class FuzzyTexts:
    """Who published a fuzzy text, once for each of its words, ascending; the words are codes."""

    places: Ints = field(default_factory=lambda: np.empty(0, np.int32))
    codes: Ints = field(default_factory=lambda: np.empty(0, np.int32))
    degrees: Floats = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, values: Mapping[int, Graded], codes: dict[str, int]) -> "FuzzyTexts":
        """Values by place, which come ascending; new words get the next codes."""
        if not values:
            return NO_TEXTS
        words = [(place, *one) for place, value in values.items() for one in value.degrees.items()]
        return cls(
            np.array([place for place, _, _ in words], np.int32),
            np.array([codes.setdefault(word, len(codes)) for _, word, _ in words], np.int32),
            np.array([degree for _, _, degree in words], np.float64),
        )

    def value(self, place: int, words: Sequence[str]) -> Graded:
        """What stands at a place where there is one."""
        here = slice(*np.searchsorted(self.places, (place, place + 1)))
        codes, degrees = self.codes[here].tolist(), self.degrees[here].tolist()
        return Graded({words[code]: degree for code, degree in zip(codes, degrees, strict=True)})

    def moved(self, new_place: Ints, new_code: Ints) -> "FuzzyTexts":
        """Those with a new place that is not -1; places and codes are given by the old ones."""
        if not self.places.size:
            return self
        which = _moved(self.places, new_place)
        return FuzzyTexts(
            new_place[self.places[which]], new_code[self.codes[which]], self.degrees[which]
        )


NO_NUMBERS = FuzzyNumbers()
NO_TEXTS = FuzzyTexts()


def _moved(places: Ints, new_place: Ints) -> Ints:
    """Which of those at some places have a new one, in its order."""
    moved = new_place[places]
    order = np.argsort(moved, kind="stable")
    return order[np.count_nonzero(moved < 0) :]
