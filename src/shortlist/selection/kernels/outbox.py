"""What windows of all kinds do alike: rows become placements, and go with their subscription."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from shortlist.selection.kernels.arena import Longs, Records
from shortlist.selection.kernels.window_rows import DEGREES, DELIVERED

PLACED = np.dtype(
    [
        ("place", "i4"),
        ("time", "i8"),
        ("publication", "i4"),
        ("score", "f8"),
        ("named", "i4"),
        ("possibility", "f8"),
        ("necessity", "f8"),
        ("rank", "i4"),
        ("promoted", "?"),
        ("matched", "i4"),
    ]
)
NOBODY: Any = np.int64(-1)
"""No literal: what is called with one is compiled once more."""


@njit(cache=True)
def put_out(
    records: Records,
    made: Longs,
    rows: Records,
    row: int,
    place: int,
    now: int,
    score: float,
    rank: int,
    arrival: int,
) -> None:
    """Delivers a row: it becomes the next of the records, of which so many are made."""
    held = rows[row]
    held.marks |= DELIVERED
    new = records[made[0]]
    made[0] += 1
    new.place = place
    new.time = now
    new.publication = held.publication
    new.score = score
    new.named = held.subscription
    new.possibility = held.possibility / DEGREES
    new.necessity = held.necessity / DEGREES
    new.rank = rank
    new.promoted = held.publication != arrival
    new.matched = held.matched


@njit(cache=True)
def of_others(rows: Records, start: int, length: int, subscription: int) -> npt.NDArray[np.bool_]:
    """Which of some rows do not name a subscription."""
    stays = np.empty(length, np.bool_)
    for at in range(length):
        stays[at] = rows[start + at].subscription != subscription
    return stays
