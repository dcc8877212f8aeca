"""What windows of all kinds do alike: rows become placements."""

from typing import Any, NamedTuple

import numpy as np

from shortlist.matching.arrays import Longs
from shortlist.matching.kernels.compiling import kernel
from shortlist.selection.bank.offers import NO_PLACEMENTS, Placements
from shortlist.selection.kernels.arena import Records
from shortlist.selection.kernels.window_rows import DEGREES, DELIVERED

NOBODY: Any = np.int64(-1)
"""No literal: what is called with one is compiled once more."""
PLACEMENT = np.dtype([(name, column.dtype) for name, column in NO_PLACEMENTS._asdict().items()])


class Outbox(NamedTuple):
    """Where placements go."""

    room: Records
    """For all that may be placed, as records: one array is handed on faster than ten."""
    made: Longs
    """How many there are, as an array of one."""

    @classmethod
    def with_room(cls, most: int) -> "Outbox":
        """For at most so many."""
        return cls(np.empty(most, PLACEMENT), np.zeros(1, np.int64))

    def placements(self) -> Placements:
        placed = self.room[: self.made[0]]
        return Placements._make(placed[name].copy() for name in Placements._fields)


@kernel(forceinline=True)
def put_down(
    outbox: Outbox,
    place: int,
    now: int,
    publication: int,
    score: float,
    named: int,
    possibility: float,
    necessity: float,
    rank: int,
    promoted: bool,
    matched: int,
) -> None:
    """Makes the next placement."""
    new = outbox.room[outbox.made[0]]
    outbox.made[0] += 1
    new.places = place
    new.times = now
    new.publications = publication
    new.scores = score
    new.named = named
    new.possibilities = possibility
    new.necessities = necessity
    new.ranks = rank
    new.promoted = promoted
    new.matched = matched


@kernel(forceinline=True)
def put_out(
    outbox: Outbox,
    rows: Records,
    row: int,
    place: int,
    now: int,
    score: float,
    rank: int,
    arrival: int,
) -> None:
    """Delivers a row: it becomes the next placement."""
    held = rows[row]
    held.marks |= DELIVERED
    put_down(
        outbox,
        place,
        now,
        held.publication,
        score,
        held.subscription,
        held.possibility / DEGREES,
        held.necessity / DEGREES,
        rank,
        held.publication != arrival,
        held.matched,
    )
