"""What can still come among the k best: the rest of the rows, and of the offers, is let go.

A row that has k better ones which leave no earlier is dominated: it never comes among the k best.
They must name its own subscription, whose cancellation takes them and the row together.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shortlist.matching.arrays import Floats, Longs
from shortlist.matching.kernels.compiling import kernel
from shortlist.selection.bank.offers import NEVER, Offers
from shortlist.selection.kernels.arena import Records
from shortlist.selection.kernels.largest import keep_largest
from shortlist.selection.kernels.window_rows import full_life_of, in_order, is_there, push_of

FEW = 32
"""So many rows are compared with each other, which takes no room."""
SLOTS = 64
"""The subscriptions that a sweep tells apart; a power of two."""


@kernel
def undominated(
    rows: Records, start: int, length: int, k: int, counted: bool, now: int, matches: int
) -> int:
    """Packs the rows that are still there and not dominated; the answer is how many they are.

    In a count window only what never expires dominates: it leaves when it is pushed out.
    """
    several = _several_subscriptions(rows, start, length)
    if length <= FEW and not several:
        return _few_undominated(rows, start, length, k, counted, now, matches)
    order: Longs = np.arange(start, start + length)
    if several:
        order = in_order(rows, start, length, True)
    stays = np.zeros(length, np.bool_)
    last_ends, size, subscription = np.empty(min(k, length), np.int64), 0, -1
    for row in order:
        if not is_there(rows, row, now, matches):
            continue
        if rows[row].subscription != subscription:
            subscription, size = rows[row].subscription, 0
        end = push_of(rows, row) if counted else rows[row].end
        stays[row - start] = size < k or end > last_ends[0]
        if stays[row - start] and (not counted or rows[row].end == NEVER):
            size = keep_largest(last_ends, size, end)
    return packed(rows, start, stays)


@kernel
def _few_undominated(
    rows: Records, start: int, length: int, k: int, counted: bool, now: int, matches: int
) -> int:
    """The same of few rows that name one subscription, each compared with those kept before it."""
    kept = start
    for row in range(start, start + length):
        if not is_there(rows, row, now, matches):
            continue
        end, dominators = push_of(rows, row) if counted else rows[row].end, 0
        for better in range(start, kept):
            if not counted:
                dominators += rows[better].end >= end
            elif rows[better].end == NEVER:
                dominators += push_of(rows, better) >= end
        if dominators < k:
            if kept < row:
                rows[kept] = rows[row]
            kept += 1
    return kept - start


@kernel
def packed(rows: Records, start: int, stays: npt.NDArray[np.bool_]) -> int:
    """Moves some rows together, in their order; the answer is how many they are."""
    kept = 0
    for at in range(stays.size):
        if stays[at]:
            if kept < at:
                rows[start + kept] = rows[start + at]
            kept += 1
    return kept


@kernel
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


@kernel
def sweep_for(k: int) -> Sweep:
    return Sweep(
        np.empty(SLOTS, np.int64),
        np.empty(SLOTS, np.int64),
        np.empty(SLOTS, np.int64),
        np.empty((SLOTS, k), np.float64),
    )


@kernel
def swept(
    head: Any,
    offers: Offers,
    keys: Floats,
    first: int,
    stop: int,
    floor: float,
    sweep: Sweep,
    kept: Longs,
) -> int:
    """Writes down, from the last to the first, the offers of a run that may matter.

    Left out is what is under the floor and has k better ones behind it that name its subscription
    and whose stay only the window ends, so that they leave no earlier. Where there is a bar, only
    what is under it is left out, and what is above it is counted. The answer is the number of
    those kept.
    """
    named, publications = offers.named, offers.publications
    times, expiries = offers.times, offers.expiries
    owners, sizes, oldest, best = sweep
    k, span, bar = min(head.k, stop - first), head.span, head.bar
    if bar > -np.inf:
        floor = -np.inf
    owners[:] = -1
    found, dropped, above, subscription, slot = 0, 0, 0, -1, 0
    is_owner, is_full, mine, cut = False, False, best[0, :k], bar
    for offer in range(stop - 1, first - 1, -1):
        if named[offer] != subscription:
            subscription = named[offer]
            slot = subscription & (SLOTS - 1)
            if owners[slot] < 0:
                owners[slot] = subscription
                sizes[slot] = 0
                oldest[slot] = NEVER
            is_owner, mine = owners[slot] == subscription, best[slot, :k]
            is_full = is_owner and sizes[slot] == k
            cut = max(bar, min(floor, mine[0])) if is_full else bar
        key = keys[offer]
        if key < cut:
            dropped += key < bar
            continue
        if is_full and key == mine[0] and key < floor and publications[offer] < oldest[slot]:
            continue
        kept[found] = offer
        found += 1
        if expiries[offer] < full_life_of(times[offer], span):
            continue
        above += 1
        if is_owner:
            sizes[slot] = keep_largest(mine, sizes[slot], key)
            oldest[slot] = min(oldest[slot], publications[offer])
            if sizes[slot] == k:
                is_full = True
                cut = max(bar, min(floor, mine[0]))
    if bar > -np.inf:
        head.dropped += dropped
        head.above_bar += above
    return found
