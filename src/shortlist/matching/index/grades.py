"""Fuzzy predicates as arrays."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shortlist.fuzzy.sets import Trapezoid
from shortlist.matching.blocks import Block, Column, Floats, Ints
from shortlist.matching.fuzzy_columns import corners_of, shapes_of
from shortlist.matching.index.literals import Grade, Words
from shortlist.matching.kernels.literals import Graded
from shortlist.matching.values import Many
from shortlist.model.paths import Path


@dataclass(frozen=True, slots=True)
class Grades:
    """Distinct grades; `attributes` has each one's path and, of those on texts, its words.

    A row of `parameters` is four corners, the shapes of both edges, the power, whether it is
    negated, and the possibility and the necessity under which it disqualifies.
    """

    attributes: tuple[tuple[Path, Words | None], ...]
    places: Ints
    """Each grade's place in `attributes`."""
    parameters: Floats

    @classmethod
    def of(cls, grades: Iterable[Grade]) -> "Grades":
        attributes: dict[tuple[Path, Words | None], int] = {}
        places, parameters = [], []
        for grade in grades:
            target = grade.target
            attribute = grade.path, None if isinstance(target, Trapezoid) else target
            shape = _row(target) if isinstance(target, Trapezoid) else [0.0] * 6
            places.append(attributes.setdefault(attribute, len(attributes)))
            floors = grade.possibility, grade.necessity
            parameters.append([*shape, grade.power, float(grade.negated), *floors])
        return cls(
            tuple(attributes),
            np.array(places, np.int32),
            np.array(parameters, np.float64).reshape(-1, 10),
        )

    @classmethod
    def joined(cls, some: Sequence[tuple["Grades", Ints]]) -> tuple["Grades", Ints]:
        """Those grades of several that are named, each once, and the new numbers of the names.

        -1 names none.
        """
        attributes: dict[tuple[Path, Words | None], int] = {}
        rows = []
        for grades, named in some:
            used = named[named >= 0]
            places = [grades.attributes[place] for place in grades.places[used].tolist()]
            new = [attributes.setdefault(each, len(attributes)) for each in places]
            rows.append(np.column_stack([new, grades.parameters[used]]))
        names = np.concatenate([named for _, named in some])
        distinct, numbers = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
        names[names >= 0] = numbers.ravel()
        joined = cls(tuple(attributes), distinct[:, 0].astype(np.int32), distinct[:, 1:].copy())
        return joined, names

    def graded(self, block: Block) -> Graded:
        """The grades beside what each publication has of each attribute."""
        starts, values = np.zeros((len(self.attributes), block.size + 1), np.int32), []
        count = 0
        for row, (path, words) in enumerate(self.attributes):
            column = block.column(path)
            places, found = _numbers(column) if words is None else _degrees(column, dict(words))
            order = np.argsort(places, kind="stable")
            starts[row] = count + np.searchsorted(places[order], np.arange(block.size + 1))
            values.append(found[order])
            count += found.size
        elements = np.concatenate([*values, np.full(1, np.nan)])
        is_one = np.diff(starts) == 1
        singles = np.where(is_one, elements[starts[:, :-1]], np.nan)
        is_text = np.array([words is not None for _, words in self.attributes], np.bool_)
        return Graded(self.places, is_text, self.parameters, starts, elements, singles)


def _numbers(column: Column) -> tuple[Ints, Floats]:
    places = np.flatnonzero(~np.isnan(column.numbers))
    more = _elements(column, float)
    return (
        np.append(places, np.array([place for place, _ in more], np.int64)),
        np.append(column.numbers[places], [number for _, number in more]),
    )


def _degrees(column: Column, degrees: dict[str, float]) -> tuple[Ints, Floats]:
    places = np.flatnonzero(column.codes >= 0)
    known = np.array([degrees.get(word, 0.0) for word in column.words])
    more = _elements(column, str)
    owners = np.array([place for place, _ in more], np.int64)
    codes = np.append(column.codes[places], column.element_codes)
    return (
        np.concatenate([places, column.element_places, owners]),
        np.append(known[codes], [degrees.get(word, 0.0) for _, word in more]),
    )


def _elements(column: Column, kind: type) -> list[tuple[int, Any]]:
    return [
        (place, element)
        for place, value in column.special.items()
        if isinstance(value, Many)
        for element in value.elements
        if type(element) is kind
    ]


def _row(target: Trapezoid) -> list[float]:
    return [*corners_of(target), *map(float, shapes_of(target))]
