"""The policy `novelty` on offers to many places."""

import numpy as np
import numpy.typing as npt
from numba import njit

from shortlist.matching.kernels.rounding import round9
from shortlist.selection.kernels.arena import Longs
from shortlist.selection.kernels.draws import drawn
from shortlist.selection.kernels.novelty_memory import (
    NO_NOVELTY,
    SAMPLING,
    THRESHOLD,
    Arrivals,
    Ints,
    Memory,
    row_of,
    with_room_for,
)
from shortlist.selection.kernels.order_statistics import keep_highest, kth_highest, put_recent
from shortlist.selection.kernels.sampling import chance_of, count_match, drop_old_pairs

Floats = npt.NDArray[np.float64]

REFUSED = -1


@njit(cache=True)
def named_members(memory: Memory, arrivals: Arrivals) -> tuple[Memory, Longs, Floats]:
    """The memory afterwards; for each offer whom a delivery names, a place in the subscriptions, or
    `REFUSED`; and the novelty."""
    named = np.full(arrivals.places.size, REFUSED, np.int64)
    novelties = np.empty(arrivals.places.size)
    first = 0
    while first < arrivals.places.size:
        end = _end_of_run(arrivals.places, first)
        memory = with_room_for(memory, arrivals, first, end)
        for offer in range(first, end):
            named[offer], novelties[offer] = _named_member(memory, arrivals, offer)
        first = end
    return memory, named, novelties


@njit(cache=True)
def _end_of_run(places: Ints, first: int) -> int:
    """Where another place follows."""
    end = first + 1
    while end < places.size and places[end] == places[first]:
        end += 1
    return end


@njit(cache=True)
def _named_member(memory: Memory, arrivals: Arrivals, offer: int) -> tuple[int, float]:
    place = arrivals.places[offer]
    head = memory.counts.heads[place]
    head.t += 1
    head.touched = 1
    member, novelty = _most_novel(memory, arrivals, offer)
    subscription = arrivals.subscriptions[member]
    if _quota_is_left(memory, place) and _passes(memory, place, subscription, novelty):
        _serve(memory, arrivals, offer)
    else:
        member = REFUSED
    _remember(memory, arrivals, offer, novelty)
    return member, novelty


@njit(cache=True)
def _most_novel(memory: Memory, arrivals: Arrivals, offer: int) -> tuple[int, float]:
    place = arrivals.places[offer]
    head = memory.counts.heads[place]
    most_novel, highest = REFUSED, NO_NOVELTY
    for member in range(arrivals.firsts[offer], arrivals.ends[offer]):
        at = row_of(memory.counts, place, arrivals.subscriptions[member])
        row = memory.counts.rows[head.start + at]
        if head.is_interval:
            novel = float(head.t - row.served)
        else:
            novel = 1.0 - row.served / (head.t - 1) if head.t > 1 else 1.0
        if row.used != NO_NOVELTY:
            novel = head.aging * novel + (1.0 - head.aging) * row.used
        row.used = round9(novel)
        if row.used > highest:
            most_novel, highest = member, row.used
    return most_novel, highest


@njit(cache=True)
def _quota_is_left(memory: Memory, place: int) -> bool:
    head = memory.counts.heads[place]
    if not head.is_eager:
        return bool(head.delivered < head.quota)
    ring = memory.deliveries.heads[place]
    if ring.length < head.quota:
        return True
    oldest = memory.deliveries.rows[ring.start + head.delivered % head.quota].t
    return bool(oldest < head.t - head.period)


@njit(cache=True)
def _passes(memory: Memory, place: int, subscription: int, novelty: float) -> bool:
    head = memory.counts.heads[place]
    if head.algorithm == THRESHOLD:
        if head.is_eager:
            recent = memory.recent
            return novelty >= kth_highest(recent.rows, recent.heads[place], head.quota)
        return bool(novelty >= head.threshold)
    chance = head.rate
    if head.algorithm == SAMPLING:
        chance = chance_of(memory, place, row_of(memory.counts, place, subscription))
    return bool(drawn(head.draws, head.t) < chance)


@njit(cache=True)
def _serve(memory: Memory, arrivals: Arrivals, offer: int) -> None:
    """A delivery counts for every subscription that is matched."""
    place = arrivals.places[offer]
    head = memory.counts.heads[place]
    for member in range(arrivals.firsts[offer], arrivals.ends[offer]):
        at = row_of(memory.counts, place, arrivals.subscriptions[member])
        row = memory.counts.rows[head.start + at]
        row.served = head.t if head.is_interval else row.served + 1
    if head.is_eager:
        ring = memory.deliveries.heads[place]
        memory.deliveries.rows[ring.start + head.delivered % head.quota].t = head.t
        ring.length = min(ring.length + 1, head.quota)
        ring.touched = 1
    head.delivered += 1


@njit(cache=True)
def _remember(memory: Memory, arrivals: Arrivals, offer: int, novelty: float) -> None:
    place = arrivals.places[offer]
    head = memory.counts.heads[place]
    if head.algorithm == SAMPLING:
        for member in range(arrivals.firsts[offer], arrivals.ends[offer]):
            at = row_of(memory.counts, place, arrivals.subscriptions[member])
            count_match(memory, place, at)
        if head.is_eager:
            drop_old_pairs(memory, place)
    elif head.algorithm == THRESHOLD:
        if head.is_eager:
            slot = (head.t - 1) % head.period
            put_recent(memory.recent.rows, memory.recent.heads[place], head.quota, slot, novelty)
        else:
            keep_highest(memory.highest.rows, memory.highest.heads[place], head.quota, novelty)
    if not head.is_eager and head.t % head.period == 0:
        _end_period(memory, place)


@njit(cache=True)
def _end_period(memory: Memory, place: int) -> None:
    head = memory.counts.heads[place]
    head.delivered = 0
    if head.algorithm == THRESHOLD:
        highest = memory.highest.heads[place]
        head.threshold = memory.highest.rows[highest.start].novelty
        highest.length = 0
        highest.touched = 1
    elif head.algorithm == SAMPLING:
        samples = memory.samples.heads[place]
        samples.matched_before = samples.matched
