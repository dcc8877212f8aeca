"""The policies `digest` and `quiet` for many shortlists at once."""

from collections.abc import Sequence

import numpy as np

from shortlist.matching.blocks import Longs
from shortlist.model.policy import Digest, Quiet
from shortlist.scoring.match_sets import MatchSets
from shortlist.selection.bank.arena import Arena
from shortlist.selection.bank.base import Bank
from shortlist.selection.bank.offers import NEVER, NO_PLACEMENTS, Offers, Placements
from shortlist.selection.bank.shown import Contents, waiting_rows
from shortlist.selection.bank.timetables import Timetables
from shortlist.selection.calendars import calendar_of, period_at
from shortlist.selection.kernels import waiting as kernels
from shortlist.selection.kernels.arena import OWNED
from shortlist.selection.kernels.outbox import Outbox
from shortlist.selection.kernels.window_rows import WINDOW_ROW

IN_BOX, MOST_IN_BOX = 2**20, 2**22
"""Offers that may wait to enter together; as many as there are rows already, up to the most."""


class WaitingBank(Bank):
    """As `WaitingSelector`; what waits at a place is all that it keeps.

    Offers that just have to wait gather in an inbox: to let very many enter at once takes much
    less than one after the other. Whoever wants to see rows lets all of them enter first.
    """

    def __init__(self) -> None:
        self._arena = Arena(kernels.HEAD, WINDOW_ROW)
        self._timetables = Timetables()
        self._inbox = self._empty_inbox(0)

    @property
    def arenas(self) -> Sequence[Arena]:
        return [self._entered()]

    def open_all(self, shortlists: Sequence[str], policy: Digest | Quiet) -> Longs:
        places = self._arena.open_all(len(shortlists), k=_k(policy), next_due=NEVER)
        self._timetables.put(places, calendar_of(policy))
        return places

    def arrive(self, offers: Offers, sets: MatchSets) -> Placements:
        if not offers.places.size:
            return NO_PLACEMENTS
        offers, arena = offers.aligned(), self._arena
        tables = self._timetables.covering(int(offers.times.min()), int(offers.times.max()))
        inbox = self._inbox_for(offers.places.size)
        # room that nobody writes to takes no memory
        outbox = Outbox.with_room(offers.places.size + int(inbox.made[0] + arena.tail[OWNED]))
        left = kernels.admit(arena.heads, offers, tables, inbox, outbox)
        if left.size:
            arena = self._entered()
            arena.rows = kernels.arrive(
                arena.heads, arena.rows, arena.tail, offers, left, tables, outbox
            )
        return outbox.placements()

    def advance(self, before: int) -> Placements:
        places = np.flatnonzero(self._arena.heads["next_due"] < before)
        places = places[self._arena.heads["is_open"][places] == 1]
        return self._released(places, np.full(places.size, before))

    def settle(self, places: Longs, times: Longs) -> Placements:
        return self._released(places, times + 1)

    def retract(self, publication: int, time: int) -> Placements:
        """What is due at the instant itself is released first, too."""
        placements, arena = self.advance(time + 1), self._entered()
        places = arena.holders("publication", publication)
        kernels.retract(arena.heads, arena.rows, places, publication)
        return placements

    def change(self, places: Longs, policy: Digest | Quiet, times: Longs) -> Placements:
        """What waits goes by the new hours; at once, if they are not quiet now."""
        heads, calendar = self._entered().heads, calendar_of(policy)
        heads["k"][places] = _k(policy)
        self._timetables.put(places, calendar)
        is_waiting = heads["next_due"][places] != NEVER
        places, times = places[is_waiting], times[is_waiting]
        for place, time in zip(places.tolist(), times.tolist(), strict=True):
            period = period_at(calendar, time)
            heads["next_due"][place] = time if period is None else period.end
        return self.settle(places, times)

    def cancel(self, place: int, subscription: int, time: int) -> Placements:
        placements, arena = self.settle(np.array([place]), np.array([time])), self._entered()
        kernels.cancel(arena.heads, arena.rows, place, subscription)
        return placements

    def shown(self, places: Longs, now: int) -> Contents:
        return waiting_rows(self._entered(), places, now)

    def _released(self, places: Longs, befores: Longs) -> Placements:
        """What some places release, each before an instant of its own."""
        if (self._arena.heads["next_due"][places] >= befores).all():
            return NO_PLACEMENTS
        arena = self._entered()
        outbox = self._outbox(places)
        kernels.release(arena.heads, arena.rows, places, befores, outbox)
        return outbox.placements()

    def _inbox_for(self, more: int) -> kernels.Inbox:
        """The inbox, in which so many more have room."""
        if self._inbox.places.size - self._inbox.made[0] < more:
            owned = int(self._entered().tail[OWNED])
            size = max(more, min(MOST_IN_BOX, max(IN_BOX, owned)))
            if size > self._inbox.places.size:
                self._inbox = self._empty_inbox(size)
        return self._inbox

    def _empty_inbox(self, size: int) -> kernels.Inbox:
        places, rows = np.empty(size, np.int32), np.empty(size, self._arena.rows.dtype)
        return kernels.Inbox(places, rows, np.zeros(1, np.int64), np.zeros(1, np.int64))

    def _entered(self) -> Arena:
        """The arena, once all that is in the inbox has entered."""
        arena, inbox = self._arena, self._inbox
        if inbox.made[0]:
            is_much = inbox.made[0] > max(arena.heads.size, arena.tail[OWNED]) // 16
            enter = kernels.merged if is_much else kernels.enter_all
            arena.rows = enter(arena.heads, arena.rows, arena.tail, inbox)
            # memory that was written to before is written to faster, but much of it is not kept
            inbox.made[0] = 0
            if inbox.places.size > MOST_IN_BOX:
                self._inbox = self._empty_inbox(0)
        return arena

    def _outbox(self, places: Longs) -> Outbox:
        """With room for what these places may release."""
        heads = self._arena.heads[places]
        return Outbox.with_room(int(np.minimum(heads["length"], heads["k"]).sum()))


def _k(policy: Digest | Quiet) -> int:
    return NEVER if policy.k is None else min(policy.k, NEVER)
