"""The policy `diverse` for many shortlists at once."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from shortlist.matching.arrays import with_length
from shortlist.matching.blocks import Floats, Ints, Longs
from shortlist.model.aspects import Aspect
from shortlist.model.durations import Span
from shortlist.model.policy import Diverse
from shortlist.scoring.match_sets import MatchSets
from shortlist.selection.bank.arena import Fields
from shortlist.selection.bank.offers import NEVER, NO_OFFERS, NO_PLACEMENTS, Offers, Placements
from shortlist.selection.bank.publications import Publications
from shortlist.selection.bank.sliding import SlidingBank
from shortlist.selection.bank.tables import Table
from shortlist.selection.differences import Differences, Traits
from shortlist.selection.kernels import diverse as kernels
from shortlist.selection.kernels.diverse_rows import HEAD, ROW
from shortlist.selection.kernels.outbox import NOBODY
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


MOST = 2**31 - 1


class DiverseBank(SlidingBank):
    """As `DiverseSelector`; keeps of each window only what can still be chosen.

    Shortlists that are diverse over the same attributes share the points of publications.
    """

    head: ClassVar[Fields] = HEAD
    row: ClassVar[Fields] = ROW
    limits: ClassVar[Sequence[str]] = ["k", "chosen"]

    def __init__(self, publications: Publications) -> None:
        super().__init__()
        self._publications = publications
        self._spaces: dict[tuple[Aspect, ...], int] = {}
        self._tables: list[PointTable] = []
        self._settings = Table([("space", "i4")])

    def open_all(self, shortlists: Sequence[str], policy: Diverse) -> Longs:
        window = policy.window
        places = self._arena.open_all(
            len(shortlists),
            k=min(policy.k, MOST),
            weight=policy.weight,
            span=min(window.micros, NEVER) if isinstance(window, Span) else NEVER,
            count=min(window, NEVER) if isinstance(window, int) else NEVER,
            next_due=NEVER,
            next_push=NEVER,
        )
        self._settings.put_all(places, space=self._space(policy.over))
        return places

    def arrive(self, offers: Offers, sets: MatchSets) -> Placements:
        arena, placed = self._arena, [NO_PLACEMENTS]
        for table, which in self._by_space(offers.places):
            # all whole numbers alike, so that kernels are compiled once
            here = Offers._make(
                np.ascontiguousarray(column[which], np.result_type(like, np.int64))
                for column, like in zip(offers, NO_OFFERS, strict=True)
            )
            outbox = self._outbox(np.unique(here.places), here.places.size)
            points = table.points(here.publications)
            arena.rows = kernels.arrive(arena.heads, arena.rows, arena.tail, here, points, outbox)
            placed.append(outbox.placements())
        return Placements.joined(placed)

    def change(self, places: Longs, policy: Diverse, times: Longs) -> Placements:
        self._arena.heads["k"][places] = min(policy.k, MOST)
        return self._cancelled(places, NOBODY, times)

    def cancel(self, place: int, subscription: int, time: int) -> Placements:
        return self._cancelled(np.array([place]), subscription, np.array([time]))

    def _cancelled(self, places: Longs, subscription: int, times: Longs) -> Placements:
        arena, placed = self._arena, [NO_PLACEMENTS]
        for table, which in self._by_space(places):
            here, outbox = (places[which], times[which]), self._outbox(places[which])
            points = table.points()
            kernels.cancel(arena.heads, arena.rows, *here, subscription, points, outbox)
            placed.append(outbox.placements())
        return Placements.joined(placed)

    def _advance(self, places: Longs, befores: Longs) -> Placements:
        arena, placed = self._arena, [NO_PLACEMENTS]
        for table, which in self._by_space(places):
            here, outbox = places[which], self._outbox(places[which])
            points = table.points()
            kernels.advance(arena.heads, arena.rows, here, befores[which], points, outbox)
            placed.append(outbox.placements())
        return Placements.joined(placed)

    def _retract(self, places: Longs, publication: int, time: int) -> None:
        arena = self._arena
        for table, which in self._by_space(places):
            points = table.points()
            kernels.retract(arena.heads, arena.rows, places[which], publication, time, points)

    def _space(self, over: tuple[Aspect, ...]) -> int:
        if over not in self._spaces:
            self._spaces[over] = len(self._tables)
            self._tables.append(PointTable(over, self._publications))
        return self._spaces[over]

    def _by_space(self, places: Ints | Longs) -> Iterator[tuple[PointTable, Longs]]:
        """Which of these places share a table of points, in their order."""
        spaces = self._settings["space"][places]
        order = np.argsort(spaces, kind="stable")
        for which in np.split(order, np.flatnonzero(np.diff(spaces[order])) + 1):
            if which.size:
                yield self._tables[spaces[which[0]]], which
