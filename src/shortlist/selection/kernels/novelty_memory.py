"""What the policy `novelty` remembers of each place, and room for what comes.

`counts` has a row for every subscription that matched; `samples` has rows beside them for the
algorithm `sampling`. `highest` serves the lazy threshold and `recent` the eager one,
`deliveries` every eager quota, `pairs` eager sampling.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from shortlist.selection.kernels.arena import Longs, Records, insert, with_room

Ints = npt.NDArray[np.int32]

THRESHOLD, SAMPLING, RANDOM = range(3)
NO_NOVELTY = -1.0
"""Lower than any."""

COUNTS_HEAD = [
    ("is_eager", "?"),
    ("is_interval", "?"),
    ("algorithm", "u1"),
    ("rate", "f8"),
    ("aging", "f8"),
    ("period", "i8"),
    ("quota", "i8"),
    ("draws", "u8"),
    ("t", "i8"),
    ("delivered", "i8"),
    ("threshold", "f8"),
]
"""The settings; matches so far; deliveries, if lazy in this period; the threshold, if lazy."""
COUNTS_ROW = [("subscription", "i4"), ("served", "i8"), ("used", "f8")]
"""In order of subscription. `served` is the number of deliveries for the measure `rate`, the t of
the last one for `interval`; `used` is the novelty at the previous match, or `NO_NOVELTY`."""

SAMPLES_HEAD = [("matched", "i4"), ("matched_before", "i4")]
"""How many subscriptions have matches: now, and, if lazy, at the end of the previous period."""
SAMPLES_ROW = [("matches", "i8"), ("first", "i8"), ("last", "i8"), ("chance", "f8")]
"""If lazy, of all matches the first and last t, and the chance in the period of the last; if eager,
of those in the window the first and last pair, counted from the first that there was."""

DELIVERIES_ROW = [("t", "i8")]
"""A ring of the last deliveries, as many as the quota: delivery n stands in row n modulo that."""

PAIRS_HEAD = [("front", "i4"), ("passed", "i8")]
"""Rows before `front` have left the window; `passed` pairs were there before the first row."""
PAIRS_ROW = [("t", "i8"), ("subscription", "i4"), ("gap", "i4")]
"""A match and a subscription, -1 once that is cancelled; its next pair is `gap` rows further."""


class Held(NamedTuple):
    """One arena."""

    heads: Records
    rows: Records
    tail: Longs


class Memory(NamedTuple):
    """All of them, for the same places."""

    counts: Held
    samples: Held
    highest: Held
    recent: Held
    deliveries: Held
    pairs: Held


class Arrivals(NamedTuple):
    """Offers, of which number n matches subscriptions[firsts[n]:ends[n]], in order of id."""

    places: Ints
    firsts: Longs
    ends: Longs
    subscriptions: Ints


@njit(cache=True)
def row_of(counts: Held, place: int, subscription: int) -> int:
    """Which of a place's rows is a subscription's, or where it would stand."""
    start = counts.heads[place].start
    low, high = 0, counts.heads[place].length
    while low < high:
        middle = (low + high) // 2
        if counts.rows[start + middle].subscription < subscription:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def with_room_for(memory: Memory, arrivals: Arrivals, first: int, end: int) -> Memory:
    """The memory, in which one place has room for what its offers from `first` to `end` need."""
    place, counts, samples = arrivals.places[first], memory.counts, memory.samples
    members = 0
    for offer in range(first, end):
        for member in range(arrivals.firsts[offer], arrivals.ends[offer]):
            counts, samples = _with_row(counts, samples, place, arrivals.subscriptions[member])
            members += 1
    head = counts.heads[place]
    highest, recent = memory.highest, memory.recent
    deliveries, pairs = memory.deliveries, memory.pairs
    if head.algorithm == THRESHOLD:
        if head.is_eager:
            recent = _with_bounded_room(recent, place, end - first, head.period)
        else:
            highest = _with_bounded_room(highest, place, end - first, head.quota)
    if head.is_eager:
        deliveries = _with_bounded_room(deliveries, place, end - first, head.quota)
        if head.algorithm == SAMPLING:
            pairs = _with_room_for_pairs(pairs, place, members)
    return Memory(counts, samples, highest, recent, deliveries, pairs)


@njit(cache=True)
def _with_row(counts: Held, samples: Held, place: int, subscription: int) -> tuple[Held, Held]:
    """Both, with a row for a subscription."""
    head = counts.heads[place]
    at = row_of(counts, place, subscription)
    if at < head.length and counts.rows[head.start + at].subscription == subscription:
        return counts, samples
    if head.algorithm == SAMPLING:
        samples = _with_room(samples, place, head.length + 1)
        insert(samples.rows, samples.heads, place, at, np.zeros(1, samples.rows.dtype)[0])
    counts = _with_room(counts, place, head.length + 1)
    new = np.zeros(1, counts.rows.dtype)[0]
    new.subscription, new.used = subscription, NO_NOVELTY
    insert(counts.rows, counts.heads, place, at, new)
    return counts, samples


@njit(cache=True)
def _with_bounded_room(held: Held, place: int, more: int, most: int) -> Held:
    return _with_room(held, place, min(held.heads[place].length + more, most))


@njit(cache=True)
def _with_room_for_pairs(pairs: Held, place: int, more: int) -> Held:
    head = pairs.heads[place]
    if head.length + more <= head.capacity:
        return pairs
    _close_up(pairs, place)
    needed = head.length + more
    # some more, so that as many may come before the rows are moved again
    return _with_room(pairs, place, needed + needed // 8)


@njit(cache=True)
def _close_up(pairs: Held, place: int) -> None:
    """Takes out what has left the window."""
    head = pairs.heads[place]
    for row in range(head.front, head.length):
        pairs.rows[head.start + row - head.front] = pairs.rows[head.start + row]
    head.length -= head.front
    head.passed += head.front
    head.front = 0


@njit(cache=True)
def _with_room(held: Held, place: int, needed: int) -> Held:
    if needed <= held.heads[place].capacity:
        return held
    rows = with_room(held.rows, held.heads, held.tail, place, needed)
    return Held(held.heads, rows, held.tail)
