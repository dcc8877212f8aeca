"""What banks share whose shortlists slide with time: rows leave, and others come in their place."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from shortlist.matching.blocks import Bools, Longs
from shortlist.selection.bank.arena import Arena, Fields
from shortlist.selection.bank.base import Bank
from shortlist.selection.bank.offers import NO_PLACEMENTS, Placements
from shortlist.selection.bank.shown import Contents, window_rows
from shortlist.selection.kernels.arena import Records
from shortlist.selection.kernels.outbox import Outbox


class SlidingBank(Bank):
    """Heads say when one of the best leaves next; rows that never were delivered wait for that."""

    head: ClassVar[Fields]
    row: ClassVar[Fields]
    limits: ClassVar[Sequence[str]] = ["k"]
    """Fields of a head that say how many of its rows are the best."""

    def __init__(self) -> None:
        self._arena = Arena(self.head, self.row)

    def advance(self, before: int) -> Placements:
        places = np.flatnonzero(_is_due(self._arena.heads, before))
        return self._advance(places, np.full(places.size, before))

    def settle(self, places: Longs, times: Longs) -> Placements:
        is_due = _is_due(self._arena.heads[places], times + 1)
        if not is_due.any():
            return NO_PLACEMENTS
        return self._advance(places[is_due], times[is_due] + 1)

    def retract(self, publication: int, time: int) -> Placements:
        placements = self.advance(time)
        self._retract(self._arena.holders("publication", publication), publication, time)
        return placements

    def shown(self, places: Longs, now: int) -> Contents:
        return window_rows(self._arena, places, self.limits, now)

    @abstractmethod
    def _advance(self, places: Longs, befores: Longs) -> Placements:
        """Everything that is due in some places, in each before an instant of its own."""

    @abstractmethod
    def _retract(self, places: Longs, publication: int, time: int) -> None:
        """A publication leaves some places at an instant; all that is due before has happened."""

    def _outbox(self, places: Longs, more: int = 0) -> Outbox:
        """With room for all that these places hold, and more."""
        return Outbox.with_room(int(self._arena.heads["length"][places].sum()) + more)


def _is_due(heads: Records, befores: int | Longs) -> Bools:
    """In which places something happens before an instant, one for all or for each its own."""
    is_due: Bools = (heads["length"] > 0) & (heads["next_due"] < befores)
    return is_due
