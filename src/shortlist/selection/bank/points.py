"""Where publications lie in the space of some attributes, for all shortlists that share it."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from shortlist.matching.arrays import with_length
from shortlist.matching.blocks import Floats, Ints, Longs
from shortlist.model.aspects import Aspect
from shortlist.selection.bank.publications import Publications
from shortlist.selection.differences import Differences, Traits
from shortlist.selection.kernels.points import UNSCALED, Points

UNKNOWN = 0


class PointTable:
    """The points of publications that were asked for, and of those that were restored.

    It is no state: it follows the publications when their numbers change.

    >>> from shortlist.intake.reading import items_of
    >>> from shortlist.model.items import Wanted
    >>> from shortlist.model.publication import Publication
    >>> known = Publications()
    >>> flats = [Publication(id=f"{n}", source="ads", time=n, position=n, data={"area": area})
    ...          for n, area in enumerate(["north", "south", "north"])]
    >>> known.add(items_of(flats, Wanted(data=True))[0])
    0
    >>> table = PointTable([Aspect(("area",), None)], known)
    >>> table.points(np.array([0, 1, 2])).classes[:3]
    array([1, 2, 1], dtype=int32)
    """

    def __init__(self, over: Sequence[Aspect], publications: Publications) -> None:
        self._over = over
        self._differences = Differences(over)
        self._publications = publications
        self._scales = np.array([UNSCALED if a.scale is None else a.scale for a in over])
        self._forget()

    def points(self, numbers: Ints | None = None) -> Points:
        """Points that hold until numbers change; those of these publications are among them."""
        self._follow()
        if numbers is not None:
            self._learn(np.unique(numbers[self._classes[numbers] == UNKNOWN]))
        return Points(self._coordinates, self._classes, self._scales)

    def _forget(self) -> None:
        self._covered = 0
        self._serials: Longs = np.zeros(64, np.int64)
        self._coordinates: Floats = np.zeros(64 * len(self._over))
        self._classes: Ints = np.zeros(64, np.int32)
        self._class_numbers: dict[Traits, int] = {}
        self._value_numbers: dict[Hashable, int] = {}

    def _follow(self) -> None:
        """Makes room for what is new, and starts again where publications were forgotten.

        Starting again also forgets values that nobody has any more.
        """
        facts, covered = self._publications.facts, self._covered
        last = self._serials[covered - 1] if covered else -1
        asked = np.zeros(0, np.int64)
        # they ascend: the last one stands where it stood if none before it was forgotten
        if covered and not (covered <= facts.size and facts["serial"][covered - 1] == last):
            asked = self._serials[:covered][self._classes[:covered] != UNKNOWN]
            self._forget()
            covered = 0
        if covered < facts.size:
            self._cover(facts.size)
            serials = self._serials[covered : facts.size]
            # shortlists that are restored hold what was saved, and never asked for it here
            is_restored = facts["is_restored"][covered:] & (serials > last)
            self._learn(covered + np.flatnonzero(is_restored | np.isin(serials, asked)))

    def _cover(self, size: int) -> None:
        self._serials = with_length(self._serials, size)
        self._serials[self._covered : size] = self._publications.facts["serial"][self._covered :]
        self._coordinates = with_length(self._coordinates, size * len(self._over))
        self._classes = with_length(self._classes, size)
        self._covered = size

    def _learn(self, numbers: Longs | Ints) -> None:
        coordinates = self._coordinates.reshape(-1, len(self._over))
        for number in numbers.tolist():
            traits = self._differences.traits(self._publications[number])
            coordinates[number] = list(map(self._coordinate, self._over, traits))
            following = len(self._class_numbers) + 1
            self._classes[number] = self._class_numbers.setdefault(traits, following)

    def _coordinate(self, aspect: Aspect, value: Any) -> float:
        if aspect.scale is None:
            return self._value_numbers.setdefault(value, len(self._value_numbers))
        return np.nan if value is None else value
