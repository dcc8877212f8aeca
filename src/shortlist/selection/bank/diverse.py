"""The policy `diverse` for many shortlists at once."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from shortlist.matching.arrays import with_length
from shortlist.matching.blocks import Floats, Ints, Longs
from shortlist.model.aspects import Aspect
from shortlist.model.durations import Span
from shortlist.model.policy import Diverse
from shortlist.scoring.match_sets import MatchSets
from shortlist.selection.bank.arena import Fields
from shortlist.selection.bank.offers import NEVER, Offers, Placements
from shortlist.selection.bank.publications import Publications
from shortlist.selection.bank.sliding import SlidingBank
from shortlist.selection.bank.tables import Table
from shortlist.selection.differences import Differences, Traits
from shortlist.selection.kernels import diverse as kernels
from shortlist.selection.kernels.diverse_rows import HEAD, ROW
from shortlist.selection.kernels.outbox import NOBODY
from shortlist.selection.kernels.points import UNSCALED, Points

UNKNOWN = 0
NO_NUMBERS: Ints = np.empty(0, np.int32)


class PointTable:
    """The points of publications that were asked for, and of those that are held.

    It is no state: it starts again when the numbers of publications change, and forgets values that
    nobody has any more.

    >>> from shortlist.intake.reading import items_of
    >>> from shortlist.model.items import Wanted
    >>> from shortlist.model.publication import Publication
    >>> known = Publications()
    >>> flats = [Publication(id=f"{n}", source="ads", time=n, position=n, data={"area": area})
    ...          for n, area in enumerate(["north", "south", "north"])]
    >>> known.add(items_of(flats, Wanted(data=True))[0])
    0
    >>> table = PointTable([Aspect(("area",), None)], known, held=lambda: np.array([1]))
    >>> table.points(np.array([0, 2])).classes[:3]
    array([2, 1, 2], dtype=int32)
    """

    def __init__(
        self, over: Sequence[Aspect], publications: Publications, held: Callable[[], Ints]
    ) -> None:
        self._over = over
        self._differences = Differences(over)
        self._publications = publications
        self._held = held
        self._scales = np.array([UNSCALED if a.scale is None else a.scale for a in over])
        self._generation = -1

    def points(self, numbers: Ints = NO_NUMBERS) -> Points:
        """Points that hold until numbers change; those of these publications are among them."""
        count, generation = len(self._publications), self._publications.generation
        asked = [numbers]
        if self._generation != generation:
            self._generation, asked = generation, [self._held(), numbers]
            self._coordinates: Floats = np.zeros(0)
            self._classes: Ints = np.zeros(0, np.int32)
            self._class_numbers: dict[Traits, int] = {}
            self._value_numbers: dict[Hashable, int] = {}
        self._coordinates = with_length(self._coordinates, count * len(self._over))
        self._classes = with_length(self._classes, count)
        for some in asked:
            self._learn(np.unique(some[self._classes[some] == UNKNOWN]))
        return Points(self._coordinates, self._classes, self._scales)

    def _learn(self, numbers: Ints) -> None:
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
        arena, outbox = self._arena, self._outbox(np.unique(offers.places), offers.places.size)
        for table, which in self._by_space(offers.places):
            here = offers.kept(which).aligned()
            points = table.points(here.publications)
            arena.rows = kernels.arrive(arena.heads, arena.rows, arena.tail, here, points, outbox)
        return outbox.placements()

    def change(self, places: Longs, policy: Diverse, times: Longs) -> Placements:
        self._arena.heads["k"][places] = min(policy.k, MOST)
        return self._cancelled(places, NOBODY, times)

    def cancel(self, place: int, subscription: int, time: int) -> Placements:
        return self._cancelled(np.array([place]), subscription, np.array([time]))

    def _cancelled(self, places: Longs, subscription: int, times: Longs) -> Placements:
        arena, outbox = self._arena, self._outbox(places)
        for table, which in self._by_space(places):
            here, points = (places[which], times[which]), table.points()
            kernels.cancel(arena.heads, arena.rows, *here, subscription, points, outbox)
        return outbox.placements()

    def _advance(self, places: Longs, befores: Longs) -> Placements:
        arena, outbox = self._arena, self._outbox(places)
        for table, which in self._by_space(places):
            here = places[which], befores[which]
            kernels.advance(arena.heads, arena.rows, *here, table.points(), outbox)
        return outbox.placements()

    def _retract(self, places: Longs, publication: int, time: int) -> None:
        arena = self._arena
        for table, which in self._by_space(places):
            points = table.points()
            kernels.retract(arena.heads, arena.rows, places[which], publication, time, points)

    def _space(self, over: tuple[Aspect, ...]) -> int:
        if over not in self._spaces:
            space = self._spaces[over] = len(self._tables)
            held = partial(self._held_in, space)
            self._tables.append(PointTable(over, self._publications, held))
        return self._spaces[over]

    def _held_in(self, space: int) -> Ints:
        """The publications of all rows of a space."""
        arena = self._arena
        places = np.flatnonzero(arena.heads["length"])
        places = places[self._settings["space"][places] == space]
        held: Ints = arena.rows["publication"][arena.rows_of_all(places)]
        return held

    def _by_space(self, places: Ints | Longs) -> Iterator[tuple[PointTable, Longs]]:
        """Which of these places share a table of points, in their order."""
        spaces = self._settings["space"][places]
        order = np.argsort(spaces, kind="stable")
        for which in np.split(order, np.flatnonzero(np.diff(spaces[order])) + 1):
            if which.size:
                yield self._tables[spaces[which[0]]], which
