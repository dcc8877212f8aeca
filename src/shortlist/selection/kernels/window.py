"""The k best of sliding windows: what is delivered, who leaves, and when."""

from typing import NamedTuple

import numpy as np

from shortlist.matching.arrays import Floats, Longs
from shortlist.matching.kernels.compiling import kernel
from shortlist.selection.bank.offers import NEVER
from shortlist.selection.kernels.arena import Records
from shortlist.selection.kernels.chances import judge_until
from shortlist.selection.kernels.outbox import NOBODY, Outbox, put_out
from shortlist.selection.kernels.skyband import packed, undominated
from shortlist.selection.kernels.window_rows import (
    DELIVERED,
    LASTING,
    leave,
    push_of,
    score_at,
)


class Reports(NamedTuple):
    """Where placements go, and what is asked about thresholds."""

    outbox: Outbox
    offsets: Longs
    """Where the breakpoints of each place start and end; none for places beyond."""
    breakpoints: Floats
    """Keys at which the interest of a place changes, ascending."""


@kernel
def fill(
    heads: Records, rows: Records, place: int, now: int, arrival: int, reports: Reports
) -> None:
    """Delivers what is among the k best and never was delivered, and looks who leaves next."""
    head = heads[place]
    next_due = next_push = NEVER
    for rank in range(min(head.k, head.length)):
        row = head.start + rank
        held = rows[row]
        if not held.marks & DELIVERED:
            score = score_at(rows, row, head, now)
            put_out(reports.outbox, rows, row, place, now, score, rank + 1, arrival)
        next_due = min(next_due, held.end)
        next_push = min(next_push, push_of(rows, row))
    head.next_due = next_due
    head.next_push = next_push
    threshold = rows[head.start + head.k - 1].key if head.length >= head.k else -np.inf
    if threshold != head.threshold:
        head.threshold_changes += 1
        head.cell_changes += _crosses(reports, place, head.threshold, threshold)
        head.threshold = threshold


@kernel
def _crosses(reports: Reports, place: int, old: float, new: float) -> bool:
    if place + 1 >= reports.offsets.size:
        return False
    breakpoints = reports.breakpoints[reports.offsets[place] : reports.offsets[place + 1]]
    crossed = np.searchsorted(breakpoints, min(old, new))
    return bool(crossed < breakpoints.size and breakpoints[crossed] < max(old, new))


@kernel
def advance_place(heads: Records, rows: Records, place: int, before: int, reports: Reports) -> None:
    """All departures before an instant, and the judgements that fall between them."""
    while heads[place].length > 0 and heads[place].next_due < before:
        now = heads[place].next_due
        judge_until(heads, rows, place, now)
        leave(heads, rows, place, now, heads[place].matches)
        fill(heads, rows, place, now, NOBODY, reports)


@kernel
def advance_places(
    heads: Records, rows: Records, places: Longs, befores: Longs, reports: Reports
) -> None:
    """All departures of some places, each before an instant of its own."""
    for place, before in zip(places, befores):  # noqa: B905 (numba's zip is never strict)
        advance_place(heads, rows, place, before, reports)


@kernel
def cancel(
    heads: Records,
    rows: Records,
    places: Longs,
    subscription: int,
    times: Longs,
    reports: Reports,
) -> None:
    """What names a subscription leaves some places, each at an instant, after what is due at or
    before that."""
    for place, time in zip(places, times):  # noqa: B905 (numba's zip is never strict)
        advance_place(heads, rows, place, time + 1, reports)
        judge_until(heads, rows, place, time)
        head = heads[place]
        its_rows = rows[head.start : head.start + head.length]
        kept = packed(rows, head.start, its_rows["subscription"] != subscription)
        head.length = min(head.length, kept)
        head.bar = -np.inf  # it counted on what is gone
        # what has left unseen may be among the first now
        leave(heads, rows, place, time, head.matches)
        fill(heads, rows, place, time, NOBODY, reports)


@kernel
def retract(heads: Records, rows: Records, places: Longs, publication: int, time: int) -> None:
    """A publication leaves some places at an instant; all that is due before has happened.

    What is dominated goes first, so that the outcome depends on nothing but the offers so far.
    """
    for place in places:
        head = heads[place]
        counted, before = head.count > 0, time - 1
        head.length = undominated(
            rows, head.start, head.length, head.k, counted, before, head.matches
        )
        head.pruned = head.length
        for at in range(head.length):
            held = rows[head.start + at]
            if held.publication == publication and held.end > time:
                held.end = time
                held.marks &= ~LASTING
                head.bar = -np.inf  # it counted on what goes
                if at < head.k:
                    head.next_due = min(head.next_due, time)
