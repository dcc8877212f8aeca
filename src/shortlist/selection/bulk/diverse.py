"""The policy `diverse` for many shortlists at once."""

from collections.abc import Iterator, Sequence

import numpy as np

from shortlist.matching.blocks import Ints, Longs
from shortlist.model.aspects import Aspect
from shortlist.model.policy import Diverse, Span
from shortlist.scoring.match_sets import MatchSets
from shortlist.selection.bulk.arena import Arena
from shortlist.selection.bulk.offers import NEVER, NO_OFFERS, NO_PLACEMENTS, Offers, Placements
from shortlist.selection.bulk.points import PointTable
from shortlist.selection.bulk.publications import Publications
from shortlist.selection.bulk.shown import Contents, window_rows
from shortlist.selection.bulk.tables import Table
from shortlist.selection.kernels import diverse as kernels
from shortlist.selection.kernels.diverse_rows import HEAD, ROW
from shortlist.selection.kernels.window import PLACED

MOST = 2**31 - 1


class DiverseBank:
    """As `DiverseSelector`; keeps of each window only what can still be chosen.

    Shortlists that are diverse over the same attributes share the points of publications.
    """

    def __init__(self, publications: Publications) -> None:
        self._publications = publications
        self._arena = Arena(HEAD, ROW)
        self._spaces: dict[tuple[Aspect, ...], int] = {}
        self._tables: list[PointTable] = []
        self._settings = Table([("space", "i4")])

    @property
    def arenas(self) -> Sequence[Arena]:
        return [self._arena]

    def open(self, shortlist: str, policy: Diverse) -> int:
        window = policy.window
        place = self._arena.open(
            k=min(policy.k, MOST),
            weight=policy.weight,
            span=min(window.micros, NEVER) if isinstance(window, Span) else NEVER,
            count=min(window, NEVER) if isinstance(window, int) else NEVER,
            next_due=NEVER,
            next_push=NEVER,
        )
        self._settings.put(place, space=self._space(policy.over))
        return place

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
            placed.append(_placements(outbox))
        return Placements.joined(placed)

    def advance(self, before: int) -> Placements:
        heads = self._arena.heads
        due = np.flatnonzero((heads["is_open"] == 1) & (heads["next_due"] < before))
        return self._advance(due, before)

    def settle(self, place: int, time: int) -> Placements:
        return self._advance(np.array([place]), time + 1)

    def retract(self, publication: int, time: int) -> Placements:
        placements, arena = self.advance(time), self._arena
        places = arena.holders("publication", publication)
        for table, which in self._by_space(places):
            points = table.points()
            kernels.retract(arena.heads, arena.rows, places[which], publication, time, points)
        return placements

    def change(self, place: int, policy: Diverse, time: int) -> None:
        self._arena.heads["k"][place] = min(policy.k, MOST)
        self.cancel(place, kernels.NOBODY, time)

    def cancel(self, place: int, subscription: int, time: int) -> Placements:
        arena, outbox = self._arena, self._outbox(np.array([place]))
        points = self._tables[self._settings["space"][place]].points()
        kernels.cancel(arena.heads, arena.rows, place, subscription, time, points, outbox)
        return _placements(outbox)

    def shown(self, places: Longs, now: int) -> Contents:
        return window_rows(self._arena, places, ["k", "chosen"], now)

    def close(self, place: int, time: int) -> Placements:
        placements = self.settle(place, time)
        self._arena.close(place)
        return placements

    def _advance(self, places: Longs, before: int) -> Placements:
        arena, placed = self._arena, [NO_PLACEMENTS]
        for table, which in self._by_space(places):
            outbox = self._outbox(places[which])
            kernels.advance(arena.heads, arena.rows, places[which], before, table.points(), outbox)
            placed.append(_placements(outbox))
        return Placements.joined(placed)

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

    def _outbox(self, places: Longs, more: int = 0) -> kernels.Outbox:
        """Room for all that these places hold, and more."""
        most = int(self._arena.heads["length"][places].sum()) + more
        return kernels.Outbox(np.empty(most, PLACED), np.zeros(1, np.int64))


def _placements(outbox: kernels.Outbox) -> Placements:
    records = outbox.records[: outbox.used[0]]
    return Placements._make(np.ascontiguousarray(records[name]) for name in PLACED.names or ())
