"""Rows for what the policy `novelty` has to remember of the offers that come next.

Rows that a place is given belong to it at once, though nothing is in them yet: room that is only
promised would be lost as soon as another place has to be moved.
"""

from typing import Any

import numpy as np

from shortlist.matching.kernels.compiling import kernel
from shortlist.selection.kernels.arena import Records, insert, with_room
from shortlist.selection.kernels.novelty_memory import (
    NO_NOVELTY,
    SAMPLING,
    THRESHOLD,
    Arrivals,
    Held,
    Memory,
    row_of,
)
from shortlist.selection.kernels.parting import run_end


@kernel
def with_rows_for(
    memory: Memory, arrivals: Arrivals
) -> tuple[Records, Records, Records, Records, Records, Records]:
    """The rows of all arenas, as many as the offers need. Places of offers are in order then."""
    counts, samples, highest, recent, deliveries, pairs = memory
    rows, samples_rows = counts.rows, samples.rows
    highest_rows, recent_rows = highest.rows, recent.rows
    delivery_rows, pairs_rows = deliveries.rows, pairs.rows
    # one-element arrays: a record alone would not keep its memory
    new, new_sample = np.zeros(1, rows.dtype), np.zeros(1, samples_rows.dtype)
    new[0].used = NO_NOVELTY
    first = 0
    while first < arrivals.places.size:
        place, end = arrivals.places[first], run_end(arrivals.places, first)
        head = counts.heads[place]
        if head.is_restored:
            sort_counts(rows, counts.heads, samples_rows, samples.heads, place)
            head.is_restored = 0
        members = 0
        for offer in range(first, end):
            for member in range(arrivals.firsts[offer], arrivals.ends[offer]):
                subscription = arrivals.subscriptions[member]
                at = row_of(rows, head, subscription)
                if at == head.length or rows[head.start + at].subscription != subscription:
                    new[0].subscription = subscription
                    rows = _with_row(rows, counts, place, at, new)
                    if head.algorithm == SAMPLING:
                        samples_rows = _with_row(samples_rows, samples, place, at, new_sample)
                members += 1
        if head.algorithm == THRESHOLD:
            if head.is_eager:
                wanted = min(head.t + end - first, head.period)
                recent_rows = _with_rows(recent_rows, recent, place, wanted)
            else:
                wanted = min(head.t % head.period + end - first, head.quota)
                highest_rows = _with_rows(highest_rows, highest, place, wanted)
        if head.is_eager:
            wanted = min(head.delivered + end - first, head.quota)
            delivery_rows = _with_rows(delivery_rows, deliveries, place, wanted)
            if head.algorithm == SAMPLING:
                pairs_rows = _with_pairs(pairs_rows, pairs, place, members)
        first = end
    return rows, samples_rows, highest_rows, recent_rows, delivery_rows, pairs_rows


@kernel
def sort_counts(
    rows: Records, heads: Records, samples_rows: Records, samples_heads: Records, place: int
) -> None:
    """Puts counts, and samples beside them, in order; in a state that was saved, subscriptions had
    other numbers."""
    head, samples = heads[place], samples_heads[place]
    its_rows = rows[head.start : head.start + head.length]
    order = np.argsort(its_rows["subscription"])
    its_rows[:] = its_rows[order]
    if head.algorithm == SAMPLING:
        its_samples = samples_rows[samples.start : samples.start + head.length]
        its_samples[:] = its_samples[order]


@kernel
def _with_row(rows: Records, held: Held, place: int, at: int, new: Records) -> Records:
    """The rows, with one more among a place's; `new` holds it."""
    rows = with_room(rows, held.heads, held.tail, place, held.heads[place].length + 1)
    insert(rows, held.heads, place, at, new[0])
    return rows


@kernel
def _with_rows(rows: Records, held: Held, place: int, wanted: int) -> Records:
    """The rows, of which a place has at least so many."""
    head = held.heads[place]
    if wanted > head.length:
        rows = with_room(rows, held.heads, held.tail, place, wanted)
        rows[head.start + head.length : head.start + wanted] = np.zeros(1, rows.dtype)
        head.length = wanted
    return rows


@kernel
def _with_pairs(rows: Records, pairs: Held, place: int, more: int) -> Records:
    """The rows, in which a place has room for so many more pairs."""
    head = pairs.heads[place]
    if head.back + more > head.length:
        _close_up(rows, head)
        wanted = head.back + more
        # some more, so that as many may come before the rows are moved again
        rows = _with_rows(rows, pairs, place, wanted + wanted // 8)
        rows["subscription"][head.start + head.back : head.start + head.length] = -1
    return rows


@kernel
def _close_up(rows: Records, head: Any) -> None:
    """Takes out the pairs that have left the window."""
    for row in range(head.start + head.front, head.start + head.back):
        rows[row - head.front] = rows[row]
    head.back -= head.front
    head.passed += head.front
    head.front = 0
