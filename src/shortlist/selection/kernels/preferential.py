"""The policy `top-k`: of each place the delivered publications that can still count.

A row is dominated by those before it that end no earlier: whenever it is valid, so are they. With k
of them it never decides again, for an arrival below it is refused without it. What is kept is
therefore the k-skyband of (score, end).
"""

from typing import Any

import numpy as np

from shortlist.matching.arrays import Ints, Longs
from shortlist.matching.kernels.compiling import kernel
from shortlist.scoring.combined import UNSET
from shortlist.selection.bank.offers import NEVER, Offers
from shortlist.selection.kernels.arena import Records, insert, with_room

HEAD = [("k", "i4"), ("refresh", "i8"), ("period", "i8"), ("floor", "f8"), ("until", "i8")]
"""`floor` is the k-th best score, -inf where there are fewer; all of the k best are valid before
`until`. Without a policy's own `refresh` that is `UNSET`, without a `period` that is 0."""
ROW = [("score", "f8"), ("end", "i8"), ("publication", "i4"), ("dominators", "i4")]
"""Best score first, then latest end, then the most recent."""


@kernel
def ranked(
    rows: Records,
    heads: Records,
    tail: Longs,
    offers: Offers,
) -> tuple[Records, Ints]:
    """The rows afterwards, and the rank of each offer that is delivered, 0 for the others."""
    places, times, publications = offers.places, offers.times, offers.publications
    expiries, scores, refreshes = offers.expiries, offers.scores, offers.refreshes
    ranks = np.zeros(places.size, np.int32)
    made = np.empty(1, rows.dtype)  # kept as an array: a record alone would not keep its memory
    for offer in range(places.size):
        place, now = places[offer], times[offer]
        head = heads[place]
        if now >= head.until:
            _drop_ended(rows, head, now)
        if scores[offer] < head.floor:
            continue
        new = made[0]
        new.score = scores[offer]
        new.end = _end(head, now, expiries[offer], refreshes[offer])
        new.publication = publications[offer]
        better, at, new.dominators = _standing(rows, head, new)
        ranks[offer] = 1 + better
        if new.dominators < head.k:
            _drop_dominated(rows, head, at, new.end)
            rows = with_room(rows, heads, tail, place, head.length + 1)
            insert(rows, heads, place, at, new)
            _look_ahead(rows, head)
    return rows, ranks


@kernel
def _end(head: Any, now: int, expiry: int, refresh: int) -> int:
    end = min(expiry, NEVER)
    if refresh == UNSET:
        refresh = head.refresh
    if refresh != UNSET:
        end = min(end, now + min(refresh, NEVER // 2))
    if head.period > 0:
        end = min(end, (now // head.period + 1) * head.period)
    return end


@kernel
def _standing(rows: Records, head: Any, new: Any) -> tuple[int, int, int]:
    """How many rows have a higher score, how many stand before, how many of these dominate."""
    better, at, dominators = 0, 0, 0
    while at < head.length:
        row = rows[head.start + at]
        if row.score > new.score:
            better += 1
        elif row.score < new.score or row.end <= new.end:
            break
        dominators += row.end >= new.end
        at += 1
    return better, at, dominators


@kernel
def _drop_ended(rows: Records, head: Any, now: int) -> None:
    """Whoever dominates a row ends no earlier, so that counts of dominators stay right."""
    kept = 0
    for row in range(head.start, head.start + head.length):
        if rows[row].end > now:
            rows[head.start + kept] = rows[row]
            kept += 1
    head.length = min(head.length, kept)
    _look_ahead(rows, head)


@kernel
def _drop_dominated(rows: Records, head: Any, at: int, end: int) -> None:
    """Those behind `at` get one more dominator if they end by then.

    One that is dropped dominated nobody who is kept: its own dominators are theirs, too.
    """
    kept = at
    for row in range(head.start + at, head.start + head.length):
        if rows[row].end <= end:
            rows[row].dominators += 1
        if rows[row].dominators < head.k:
            rows[head.start + kept] = rows[row]
            kept += 1
    head.length = kept


@kernel
def retract(rows: Records, heads: Records, places: Longs, publication: int) -> None:
    """A publication counts no more at some places, which hold it; nor does it dominate there."""
    for place in places:
        head = heads[place]
        at = 0
        while rows[head.start + at].publication != publication:
            at += 1
        end = rows[head.start + at].end
        for row in range(head.start + at + 1, head.start + head.length):
            if rows[row].end <= end:
                rows[row].dominators -= 1
            rows[row - 1] = rows[row]
        head.length -= 1
        _look_ahead(rows, head)


@kernel
def shorten(rows: Records, heads: Records, places: Longs) -> None:
    """Lets go of what has enough dominators for a smaller k, in some places."""
    for place in places:
        head = heads[place]
        _drop_dominated(rows, head, 0, -NEVER)
        _look_ahead(rows, head)


@kernel
def _look_ahead(rows: Records, head: Any) -> None:
    """What decides about most arrivals by one comparison."""
    counted = min(head.k, head.length)
    head.floor = rows[head.start + counted - 1].score if counted == head.k else -np.inf
    until = NEVER
    for row in range(head.start, head.start + counted):
        until = min(until, rows[row].end)
    head.until = until
