"""What windows of all kinds do alike: rows become placements, and go with their subscription."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shortlist.matching.kernels.compiling import kernel
from shortlist.selection.bank.offers import NO_PLACEMENTS, Placements
from shortlist.selection.kernels.arena import Longs, Records
from shortlist.selection.kernels.window_rows import DEGREES, DELIVERED

NOBODY: Any = np.int64(-1)
"""No literal: what is called with one is compiled once more."""


class Outbox(NamedTuple):
    """Where placements go."""

    room: Placements
    """For all that may be placed."""
    made: Longs
    """How many there are, as an array of one."""

    @classmethod
    def with_room(cls, most: int) -> "Outbox":
        """For at most so many."""
        room = Placements._make(np.empty(most, column.dtype) for column in NO_PLACEMENTS)
        return cls(room, np.zeros(1, np.int64))

    def placements(self) -> Placements:
        return self.room.kept(slice(self.made[0]))


@kernel
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
    room, new = outbox.room, outbox.made[0]
    outbox.made[0] += 1
    room.places[new] = place
    room.times[new] = now
    room.publications[new] = publication
    room.scores[new] = score
    room.named[new] = named
    room.possibilities[new] = possibility
    room.necessities[new] = necessity
    room.ranks[new] = rank
    room.promoted[new] = promoted
    room.matched[new] = matched


@kernel
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


@kernel
def of_others(rows: Records, start: int, length: int, subscription: int) -> npt.NDArray[np.bool_]:
    """Which of some rows do not name a subscription."""
    stays = np.empty(length, np.bool_)
    for at in range(length):
        stays[at] = rows[start + at].subscription != subscription
    return stays
