"""The policies `digest` and `quiet` for many shortlists at once."""

from collections.abc import Sequence

import numpy as np

from shortlist.matching.blocks import Ints, Longs
from shortlist.model.policy import Digest, Quiet
from shortlist.scoring.match_sets import MatchSets
from shortlist.selection.bank.arena import Arena
from shortlist.selection.bank.offers import (
    NEVER,
    NO_PLACEMENTS,
    Offers,
    Placements,
)
from shortlist.selection.bank.shown import Contents, waiting_rows
from shortlist.selection.bank.sliding import placements_of
from shortlist.selection.bank.tables import Table
from shortlist.selection.bank.timetables import Timetables
from shortlist.selection.calendars import calendar_of, period_at
from shortlist.selection.kernels import waiting as kernels
from shortlist.selection.kernels.arena import OWNED, Records
from shortlist.selection.kernels.outbox import PLACED
from shortlist.selection.kernels.window_rows import WINDOW_ROW

MOST_IN_BOX = 2**20
"""Offers that wait to enter together at most, unless there are more rows."""


class WaitingBank:
    """As `WaitingSelector`; what waits at a place is all that it keeps.

    Offers that just have to wait gather in an inbox: to let very many enter at once takes much
    less than one after the other. Whoever wants to see rows lets all of them enter first.
    """

    def __init__(self) -> None:
        self._arena = Arena(kernels.HEAD, WINDOW_ROW)
        self._calendars = Table([("calendar", "i4")])
        self._timetables = Timetables()
        self._inbox: list[tuple[Ints, Longs, Records]] = []
        """Places, when something came to them, and the rows that this will be."""
        self._in_box = 0

    @property
    def arenas(self) -> Sequence[Arena]:
        return [self._entered()]

    def open(self, shortlist: str, policy: Digest | Quiet) -> int:
        place = self._arena.open(k=_k(policy), next_due=NEVER)
        self._calendars.put(place, calendar=self._timetables.number(calendar_of(policy)))
        return place

    def arrive(self, offers: Offers, sets: MatchSets) -> Placements:
        if not offers.places.size:
            return NO_PLACEMENTS
        offers = offers.aligned()
        tables = self._timetables.covering(int(offers.times.min()), int(offers.times.max()))
        calendars, heads = self._calendars["calendar"], self._arena.heads
        is_early = heads["next_due"][offers.places] > offers.times
        early = offers if is_early.all() else offers.kept(is_early)
        fresh = np.empty(early.places.size, self._arena.rows.dtype)
        count, waits = kernels.admit(heads, fresh, early, calendars, tables)
        early = early.kept(slice(count))
        self._put_in_box(early.places[waits], early.times[waits], fresh[: waits.sum()])
        placed = NO_PLACEMENTS if waits.all() else early.placed(~waits)
        if count == offers.places.size:
            return placed
        is_early[np.flatnonzero(is_early)[count:]] = False
        rest, arena = offers.kept(~is_early), self._entered()
        outbox = self._outbox(np.unique(rest.places), more=rest.places.size)
        arena.rows = kernels.arrive(
            arena.heads, arena.rows, arena.tail, rest, calendars, tables, outbox
        )
        return Placements.joined([placed, _placements(outbox)])

    def advance(self, before: int) -> Placements:
        places = np.flatnonzero(self._arena.heads["next_due"] < before)
        return self._released(places[self._arena.heads["is_open"][places] == 1], before)

    def settle(self, place: int, time: int) -> Placements:
        return self._released(np.array([place]), time + 1)

    def retract(self, publication: int, time: int) -> Placements:
        """What is due at the instant itself is released first, too."""
        placements, arena = self.advance(time + 1), self._entered()
        places = arena.holders("publication", publication)
        kernels.retract(arena.heads, arena.rows, places, publication)
        return placements

    def change(self, place: int, policy: Digest | Quiet, time: int) -> Placements:
        """What waits goes by the new hours; at once, if they are not quiet now."""
        arena, calendar = self._entered(), calendar_of(policy)
        arena.heads["k"][place] = _k(policy)
        self._calendars.put(place, calendar=self._timetables.number(calendar))
        if arena.heads["next_due"][place] == NEVER:
            return NO_PLACEMENTS
        period = period_at(calendar, time)
        arena.heads["next_due"][place] = time if period is None else period.end
        return self.settle(place, time)

    def cancel(self, place: int, subscription: int, time: int) -> Placements:
        placements, arena = self.settle(place, time), self._entered()
        kernels.cancel(arena.heads, arena.rows, place, subscription)
        return placements

    def shown(self, places: Longs, now: int) -> Contents:
        return waiting_rows(self._entered(), places, now)

    def close(self, place: int, time: int) -> Placements:
        placements = self.settle(place, time)
        self._entered().close(place)
        return placements

    def _released(self, places: Longs, before: int) -> Placements:
        """What some places release before an instant."""
        if not places.size or self._arena.heads["next_due"][places].min() >= before:
            return NO_PLACEMENTS
        arena = self._entered()
        outbox = self._outbox(places)
        kernels.release_before(arena.heads, arena.rows, places, before, outbox)
        return _placements(outbox)

    def _put_in_box(self, places: Ints, times: Longs, fresh: Records) -> None:
        self._inbox.append((places, times, fresh))
        self._in_box += places.size
        if self._in_box > max(MOST_IN_BOX, self._arena.tail[OWNED]):
            self._entered()

    def _entered(self) -> Arena:
        """The arena, once all that is in the inbox has entered."""
        arena = self._arena
        if self._in_box:
            places, times, some = zip(*self._inbox, strict=True)
            # as bytes, since NumPy joins records field by field
            fresh = np.concatenate([rows.view("u1") for rows in some]).view(arena.rows.dtype)
            is_much = self._in_box > max(arena.heads.size, arena.tail[OWNED]) // 4
            enter = kernels.merged if is_much else kernels.enter_all
            entering = np.concatenate(places), np.concatenate(times), fresh
            arena.rows = enter(arena.heads, arena.rows, arena.tail, *entering)
        self._inbox, self._in_box = [], 0
        return arena

    def _outbox(self, places: Longs, more: int = 0) -> kernels.Outbox:
        """With room for what these places may release, and more."""
        heads = self._arena.heads[places]
        most = int(np.minimum(heads["length"], heads["k"]).sum()) + more
        return kernels.Outbox(np.empty(most, PLACED), np.zeros(1, np.int64))


def _k(policy: Digest | Quiet) -> int:
    return NEVER if policy.k is None else min(policy.k, NEVER)


def _placements(outbox: kernels.Outbox) -> Placements:
    return placements_of(outbox.records[: outbox.made[0]])
