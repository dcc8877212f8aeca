"""The policy `diverse` for many shortlists at once."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from shortlist.matching.blocks import Ints, Longs
from shortlist.model.aspects import Aspect
from shortlist.model.policy import Diverse
from shortlist.model.spans import Span
from shortlist.scoring.match_sets import MatchSets
from shortlist.selection.bank.arena import Fields
from shortlist.selection.bank.offers import NEVER, NO_OFFERS, NO_PLACEMENTS, Offers, Placements
from shortlist.selection.bank.points import PointTable
from shortlist.selection.bank.publications import Publications
from shortlist.selection.bank.sliding import SlidingBank
from shortlist.selection.bank.tables import Table
from shortlist.selection.kernels import diverse as kernels
from shortlist.selection.kernels.diverse_rows import HEAD, ROW
from shortlist.selection.kernels.outbox import NOBODY

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

    def change(self, place: int, policy: Diverse, time: int) -> Placements:
        self._arena.heads["k"][place] = min(policy.k, MOST)
        return self.cancel(place, NOBODY, time)

    def cancel(self, place: int, subscription: int, time: int) -> Placements:
        arena, outbox = self._arena, self._outbox(np.array([place]))
        points = self._tables[self._settings["space"][place]].points()
        kernels.cancel(arena.heads, arena.rows, place, subscription, time, points, outbox)
        return outbox.placements()

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
