"""What can still come among the k best: the rest of the rows, and of the offers, is let go.

A row that has k better ones which leave no earlier is dominated: it never comes among the k best.
They must name its own subscription, whose cancellation takes them and the row together.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from shortlist.selection.bulk.offers import NEVER, Offers
from shortlist.selection.kernels.arena import Longs, Records
from shortlist.selection.kernels.largest import keep_largest
from shortlist.selection.kernels.window_rows import Floats, is_there, push_of

SLOTS = 64
"""The subscriptions that a sweep tells apart; a power of two."""


@njit(cache=True)
def undominated(
    rows: Records, start: int, length: int, k: int, counted: bool, now: int, matches: int
) -> int:
    """Packs the rows that are still there and not dominated; the answer is how many they are.

    In a count window only what never expires dominates: it leaves when it is pushed out.
    """
    by_subscription = np.arange(length)
    if _several_subscriptions(rows, start, length):
        subscriptions = np.empty(length, np.int32)
        for at in range(length):
            subscriptions[at] = rows[start + at].subscription
        by_subscription = np.argsort(subscriptions, kind="mergesort")
    stays = np.zeros(length, np.bool_)
    last_ends, size, subscription = np.empty(k, np.int64), 0, -1
    for at in by_subscription:
        row = start + at
        if not is_there(rows, row, now, matches):
            continue
        if rows[row].subscription != subscription:
            subscription, size = rows[row].subscription, 0
        end = push_of(rows, row) if counted else rows[row].end
        stays[at] = size < k or end > last_ends[0]
        if stays[at] and (not counted or rows[row].end == NEVER):
            size = keep_largest(last_ends, size, end)
    return packed(rows, start, stays)


@njit(cache=True)
def packed(rows: Records, start: int, stays: npt.NDArray[np.bool_]) -> int:
    """Moves some rows together, in their order; the answer is how many they are."""
    kept = 0
    for at in range(stays.size):
        if stays[at]:
            if kept < at:
                rows[start + kept] = rows[start + at]
            kept += 1
    return kept


@njit(cache=True)
def _several_subscriptions(rows: Records, start: int, length: int) -> bool:
    for row in range(start + 1, start + length):
        if rows[row].subscription != rows[start].subscription:
            return True
    return False


class Sweep(NamedTuple):
    """Room for a sweep: the best keys of each subscription among the offers behind."""

    owners: Longs
    """The subscription of each slot, -1 for none; what finds its slot taken is not dropped."""
    sizes: Longs
    oldest: Longs
    """The smallest publication number among a slot's keys."""
    best: Floats
    """A row for each slot: its k best keys, the smallest first."""


@njit(cache=True)
def sweep_for(k: int) -> Sweep:
    return Sweep(
        np.empty(SLOTS, np.int64),
        np.empty(SLOTS, np.int64),
        np.empty(SLOTS, np.int64),
        np.empty((SLOTS, k), np.float64),
    )


@njit(cache=True)
def swept(
    offers: Offers,
    keys: Floats,
    first: int,
    stop: int,
    floor: float,
    k: int,
    span: int,
    sweep: Sweep,
    kept: Longs,
) -> int:
    """Writes down, from the last to the first, the offers of a run that may matter.

    Left out is what is under the floor and has k better ones behind it that name its subscription
    and whose stay only the window ends, so that they leave no earlier. The answer is the number of
    those kept.
    """
    sweep.owners[:] = -1
    found, subscription, slot = 0, -1, 0
    is_owner, cut = False, -np.inf
    for offer in range(stop - 1, first - 1, -1):
        if offers.named[offer] != subscription:
            subscription = offers.named[offer]
            slot = subscription & (SLOTS - 1)
            if sweep.owners[slot] < 0:
                sweep.owners[slot] = subscription
                sweep.sizes[slot] = 0
                sweep.oldest[slot] = NEVER
            is_owner = sweep.owners[slot] == subscription
            full = is_owner and sweep.sizes[slot] == k
            cut = min(floor, sweep.best[slot, 0]) if full else -np.inf
        key = keys[offer]
        if key < cut:
            continue
        if key == cut and key < floor and offers.publications[offer] < sweep.oldest[slot]:
            continue
        kept[found] = offer
        found += 1
        if is_owner and offers.expiries[offer] >= min(NEVER, offers.times[offer] + span):
            sweep.sizes[slot] = keep_largest(sweep.best[slot, :k], sweep.sizes[slot], key)
            sweep.oldest[slot] = min(sweep.oldest[slot], offers.publications[offer])
            if sweep.sizes[slot] == k:
                cut = min(floor, sweep.best[slot, 0])
    return found
