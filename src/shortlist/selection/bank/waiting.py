"""The policies `digest` and `quiet` for many shortlists at once."""

from typing import ClassVar

import numpy as np

from shortlist.matching.blocks import Longs
from shortlist.model.policy import Digest, Quiet
from shortlist.scoring.match_sets import MatchSets
from shortlist.selection.bank.arena import Fields
from shortlist.selection.bank.offers import (
    NEVER,
    NO_OFFERS,
    NO_PLACEMENTS,
    Offers,
    Placements,
)
from shortlist.selection.bank.shown import Contents, waiting_rows
from shortlist.selection.bank.sliding import SlidingBank, placements_of
from shortlist.selection.bank.tables import Table
from shortlist.selection.bank.timetables import Timetables
from shortlist.selection.calendars import calendar_of, period_at
from shortlist.selection.kernels import waiting as kernels
from shortlist.selection.kernels.outbox import PLACED
from shortlist.selection.kernels.window_rows import WINDOW_ROW


class WaitingBank(SlidingBank):
    """As `WaitingSelector`; what waits at a place is all that it keeps."""

    head: ClassVar[Fields] = kernels.HEAD
    row: ClassVar[Fields] = WINDOW_ROW

    def __init__(self) -> None:
        super().__init__()
        self._calendars = Table([("calendar", "i4")])
        self._timetables = Timetables()

    def open(self, shortlist: str, policy: Digest | Quiet) -> int:
        place = self._arena.open(k=_k(policy), next_due=NEVER)
        self._calendars.put(place, calendar=self._timetables.number(calendar_of(policy)))
        return place

    def arrive(self, offers: Offers, sets: MatchSets) -> Placements:
        if not offers.places.size:
            return NO_PLACEMENTS
        arena = self._arena
        columns = Offers._make(
            np.require(column, like.dtype, ["C"])
            for column, like in zip(offers, NO_OFFERS, strict=True)
        )
        is_due = arena.heads["next_due"][columns.places] <= columns.times
        outbox = self._outbox(np.unique(columns.places[is_due]), more=columns.places.size)
        arena.rows = kernels.arrive(
            arena.heads,
            arena.rows,
            arena.tail,
            columns,
            self._calendars["calendar"],
            self._timetables.covering(int(columns.times.min()), int(columns.times.max())),
            outbox,
        )
        return _placements(outbox)

    def retract(self, publication: int, time: int) -> Placements:
        """What is due at the instant itself is released first, too."""
        return super().retract(publication, time + 1)

    def change(self, place: int, policy: Digest | Quiet, time: int) -> Placements:
        arena, calendar = self._arena, calendar_of(policy)
        arena.heads["k"][place] = _k(policy)
        arena.heads["touched"][place] = 1
        self._calendars.put(place, calendar=self._timetables.number(calendar))
        period = period_at(calendar, time)
        if not arena.heads["length"][place]:
            return NO_PLACEMENTS
        if period is not None:
            arena.heads["next_due"][place] = period.end
            return NO_PLACEMENTS
        outbox = self._outbox(np.array([place]))
        kernels.release_now(arena.heads, arena.rows, place, time, outbox)
        return _placements(outbox)

    def cancel(self, place: int, subscription: int, time: int) -> Placements:
        placements = self.settle(place, time)
        kernels.cancel(self._arena.heads, self._arena.rows, place, subscription)
        return placements

    def shown(self, places: Longs, now: int) -> Contents:
        return waiting_rows(self._arena, places, now)

    def _advance(self, places: Longs, befores: Longs) -> Placements:
        outbox = self._outbox(places)
        kernels.release_before(self._arena.heads, self._arena.rows, places, befores, outbox)
        return _placements(outbox)

    def _retract(self, places: Longs, publication: int, time: int) -> None:
        kernels.retract(self._arena.heads, self._arena.rows, places, publication)

    def _outbox(self, places: Longs, more: int = 0) -> kernels.Outbox:
        """With room for what these places may release, and more."""
        heads = self._arena.heads[places]
        most = int(np.minimum(heads["length"], heads["k"]).sum()) + more
        return kernels.Outbox(np.empty(most, PLACED), np.zeros(1, np.int64))


def _k(policy: Digest | Quiet) -> int:
    return NEVER if policy.k is None else min(policy.k, NEVER)


def _placements(outbox: kernels.Outbox) -> Placements:
    return placements_of(outbox.records[: outbox.made[0]])
