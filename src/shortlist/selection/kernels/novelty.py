"""The policy `novelty` on offers to many places.

`head` is always that of a place's counts. Functions that are called for every offer take the few
arrays that they need: to pass the whole memory on takes longer than what they do.
"""

from typing import Any

import numpy as np

from shortlist.matching.arrays import Floats, Ints, Longs
from shortlist.matching.kernels.borrowing import borrowed
from shortlist.matching.kernels.compiling import kernel
from shortlist.matching.kernels.rounding import round9
from shortlist.selection.draws import GOLDEN
from shortlist.selection.kernels.arena import Records
from shortlist.selection.kernels.largest import keep_largest
from shortlist.selection.kernels.novelty_memory import (
    NO_NOVELTY,
    SAMPLING,
    THRESHOLD,
    Arrivals,
    Memory,
    row_of,
)
from shortlist.selection.kernels.order_statistics import kth_highest, put_recent
from shortlist.selection.kernels.sampling import chance_of, count_matches

# numba makes floats of a signed and an unsigned number: here all are unsigned
STEP = np.uint64(GOLDEN)
FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11))


@kernel
def drawn(start: int, count: int) -> float:
    """The count-th draw of a stream, uniform in [0, 1); `start` is unsigned.

    >>> from shortlist.selection.draws import draw
    >>> drawn(np.uint64(7), 2) == draw(7, 2)
    True
    """
    mixed = start + np.uint64(count) * STEP + STEP
    mixed = (mixed ^ (mixed >> SHIFTS[0])) * FIRST_FACTOR
    mixed = (mixed ^ (mixed >> SHIFTS[1])) * SECOND_FACTOR
    mixed = mixed ^ (mixed >> SHIFTS[2])
    return float(mixed >> SHIFTS[3]) * 2.0**-53


REFUSED = -1


@kernel
def named_members(memory: Memory, arrivals: Arrivals) -> tuple[Longs, Floats]:
    """For each offer whom a delivery names, a place in the subscriptions, or `REFUSED`; and the
    novelty. There are rows for all that has to be remembered."""
    memory, arrivals = borrowed(memory), borrowed(arrivals)
    heads, rows, subscriptions = memory.counts.heads, memory.counts.rows, arrivals.subscriptions
    highest, highest_rows = memory.highest.heads, memory.highest.rows
    recent, recent_rows = memory.recent.heads, memory.recent.rows
    deliveries, delivery_rows = memory.deliveries.heads, memory.deliveries.rows
    named = np.full(arrivals.places.size, REFUSED, np.int64)
    novelties = np.empty(arrivals.places.size)
    for offer in range(arrivals.places.size):
        place, first, end = arrivals.places[offer], arrivals.firsts[offer], arrivals.ends[offer]
        head = heads[place]
        head.t += 1
        member, novelty = _most_novel(rows, head, subscriptions, first, end)
        passes = _has_quota(head, deliveries[place], delivery_rows)
        if passes and head.algorithm == THRESHOLD:
            passes = novelty >= _threshold(head, recent[place], recent_rows)
        elif passes:
            chance = head.rate
            if head.algorithm == SAMPLING:
                chance = chance_of(memory, place, subscriptions[member])
            passes = drawn(head.draws, head.t) < chance
        if passes:
            named[offer] = member
            _serve(rows, head, subscriptions, first, end)
            _note_delivery(head, deliveries[place], delivery_rows)
        novelties[offer] = novelty
        if head.algorithm == THRESHOLD and head.is_eager:
            _note_recent(head, recent[place], recent_rows, novelty)
        elif head.algorithm == THRESHOLD:
            _note_highest(head, highest[place], highest_rows, novelty)
        elif head.algorithm == SAMPLING:
            count_matches(memory, place, subscriptions, first, end)
        if not head.is_eager and head.t % head.period == 0:
            head.delivered = 0
    return named, novelties


@kernel
def _most_novel(
    rows: Records, head: Any, subscriptions: Ints, first: int, end: int
) -> tuple[int, float]:
    """The most novel member of a set of matches, after all of them have been used once more."""
    most_novel, highest = REFUSED, NO_NOVELTY
    for member in range(first, end):
        row = rows[head.start + row_of(rows, head, subscriptions[member])]
        if head.is_interval:
            novel = float(head.t - row.served)
        else:
            novel = 1.0 - row.served / (head.t - 1) if head.t > 1 else 1.0
        if row.used != NO_NOVELTY:
            novel = head.aging * novel + (1.0 - head.aging) * row.used
        row.used = round9(novel)
        row.matches += 1
        if row.used > highest:
            most_novel, highest = member, row.used
    return most_novel, highest


@kernel
def _serve(rows: Records, head: Any, subscriptions: Ints, first: int, end: int) -> None:
    """A delivery counts for every subscription that is matched."""
    for member in range(first, end):
        row = rows[head.start + row_of(rows, head, subscriptions[member])]
        row.served = head.t if head.is_interval else row.served + 1


@kernel
def _has_quota(head: Any, deliveries: Any, rows: Records) -> bool:
    """Eager: if the last delivery but quota has left the window."""
    if head.delivered < head.quota:
        return True
    if not head.is_eager:
        return False
    oldest = rows[deliveries.start + head.delivered % head.quota].t
    return bool(oldest < head.t - head.period)


@kernel
def _note_delivery(head: Any, deliveries: Any, rows: Records) -> None:
    if head.is_eager:
        rows[deliveries.start + head.delivered % head.quota].t = head.t
    head.delivered += 1
    head.total += 1


@kernel
def _threshold(head: Any, recent: Any, rows: Records) -> float:
    threshold: float = head.threshold
    if head.is_eager:
        size = min(head.t - 1, head.period)
        threshold = kth_highest(rows, recent.start, size, head.quota)
    return threshold


@kernel
def _note_recent(head: Any, recent: Any, rows: Records, novelty: float) -> None:
    slot, size = (head.t - 1) % head.period, min(head.t - 1, head.period)
    put_recent(rows, recent.start, size, head.quota, slot, novelty)


@kernel
def _note_highest(head: Any, highest: Any, rows: Records, novelty: float) -> None:
    slot = (head.t - 1) % head.period
    heap = rows[highest.start : highest.start + head.quota]["novelty"]
    keep_largest(heap, min(slot, head.quota), novelty)
    if slot == head.period - 1:
        head.threshold = rows[highest.start].novelty
