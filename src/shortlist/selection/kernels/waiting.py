"""What waits at many places, and is released there: for `digest` and `quiet`.

The rows of a place stand in the order in which they came, and all wait for the same instant.
"""

from typing import Any, NamedTuple

import numpy as np

from shortlist.matching.arrays import Ints, Longs
from shortlist.matching.kernels.borrowing import borrowed
from shortlist.matching.kernels.compiling import kernel
from shortlist.selection.bank.offers import NEVER, Offers
from shortlist.selection.kernels.arena import OWNED, TAKEN, Records, padded, with_room
from shortlist.selection.kernels.outbox import NOBODY, Outbox, put_down, put_out
from shortlist.selection.kernels.periods import Tables, end_of_period
from shortlist.selection.kernels.skyband import packed
from shortlist.selection.kernels.window_rows import in_order, outranks, write_offer

HEAD = [
    ("k", "i8"),
    ("next_due", "i8"),  # when all that waits is released, or NEVER
]
SPARE = 2
"""One part in so many is spare room: much comes before anything goes."""
FEW = 64
"""So many are found by looking at each row once; for more, rows are sorted."""


class Inbox(NamedTuple):
    """Rows that wait to enter."""

    places: Ints
    rows: Records
    made: Longs
    """How many there are, as an array of one."""
    since: Longs
    """When the earliest of them came, as an array of one."""


@kernel
def admit(heads: Records, offers: Offers, tables: Tables, inbox: Inbox, outbox: Outbox) -> Longs:
    """Lets offers wait in the inbox or pass; the answer is which are left, since something else at
    their place is due before."""
    tables = borrowed(tables)
    left, found, behind = np.empty(offers.places.size, np.int64), 0, NOBODY
    for offer in range(offers.places.size):
        place, now = offers.places[offer], offers.times[offer]
        head = heads[place]
        if place == behind or head.next_due <= now:
            left[found] = offer
            found, behind = found + 1, place
        elif _has_to_wait(head, now, place, tables):
            new = inbox.made[0]
            inbox.since[0] = min(now, inbox.since[0]) if new > 0 else now
            inbox.made[0] += 1
            inbox.places[new] = place
            write_offer(inbox.rows, new, offers, offer, offers.scores[offer], NEVER)
        else:
            _pass_on(offers, offer, outbox)
    return left[:found]


@kernel
def enter_all(heads: Records, rows: Records, tail: Longs, inbox: Inbox) -> Records:
    """Lets the rows of the inbox enter in turn; the answer is the rows, as of `with_room`."""
    for at in range(inbox.made[0]):
        rows = _enter(heads, rows, tail, inbox.places[at], inbox.since[0], inbox.rows, at)
    return rows


@kernel
def merged(heads: Records, rows: Records, tail: Longs, inbox: Inbox) -> Records:
    """The same for very many: all rows in a new array, place by place."""
    places = inbox.places[: inbox.made[0]]
    firsts = np.zeros(heads.size + 1, np.int64)
    for place in places:
        firsts[place + 1] += 1
    total = 0
    for place in range(heads.size):
        if heads[place].capacity > 0 or firsts[place + 1] > 0:
            total += padded(heads[place].length + firsts[place + 1])
        firsts[place + 1] += firsts[place]
    order = np.empty(places.size, np.int32)
    filled = firsts.copy()
    for at in range(places.size):
        place = places[at]
        order[filled[place]] = at
        filled[place] += 1
    made = np.empty(total + max(total // 16, heads.size), rows.dtype)
    start = 0
    for place in range(heads.size):
        head = heads[place]
        more = firsts[place + 1] - firsts[place]
        if head.capacity == 0 and more == 0:
            continue
        kept = 0
        for row in range(head.start, head.start + head.length):
            # whoever has expired makes room
            if more == 0 or rows[row].end > inbox.since[0]:
                made[start + kept] = rows[row]
                kept += 1
        for at in range(more):
            made[start + kept + at] = inbox.rows[order[firsts[place] + at]]
        head.start = start
        head.length = kept + more
        head.capacity = padded(head.length)
        start += head.capacity
    tail[TAKEN] = tail[OWNED] = start
    return made


@kernel
def arrive(
    heads: Records,
    rows: Records,
    tail: Longs,
    offers: Offers,
    which: Longs,
    tables: Tables,
    outbox: Outbox,
) -> Records:
    """Some offers one after the other; the answer is the rows, as of `with_room`."""
    fresh = np.empty(1, rows.dtype)
    for offer in which:
        place, now = offers.places[offer], offers.times[offer]
        if heads[place].next_due <= now:
            _release(heads, rows, place, heads[place].next_due, outbox)
        if _has_to_wait(heads[place], now, place, tables):
            write_offer(fresh, 0, offers, offer, offers.scores[offer], NEVER)
            rows = _enter(heads, rows, tail, place, now, fresh, 0)
        else:
            _pass_on(offers, offer, outbox)
    return rows


@kernel
def _has_to_wait(head: Any, now: int, place: int, tables: Tables) -> bool:
    """Whether what comes to a place has to wait; the first one says until when."""
    if head.next_due == NEVER:
        end = end_of_period(tables, place, now)
        if end <= now:
            return False
        head.next_due = end
    return True


@kernel
def release(heads: Records, rows: Records, places: Longs, befores: Longs, outbox: Outbox) -> None:
    """What is due in some places, in each before an instant of its own."""
    for place, before in zip(places, befores):  # noqa: B905 (numba's zip is never strict)
        if heads[place].next_due < before:
            _release(heads, rows, place, heads[place].next_due, outbox)


@kernel
def cancel(heads: Records, rows: Records, place: int, subscription: int) -> None:
    """What names a subscription waits no more."""
    _keep(heads, rows, place, _rows_of(heads, rows, place)["subscription"] != subscription)


@kernel
def retract(heads: Records, rows: Records, places: Longs, publication: int) -> None:
    """A publication waits no more at some places."""
    for place in places:
        _keep(heads, rows, place, _rows_of(heads, rows, place)["publication"] != publication)


@kernel
def _rows_of(heads: Records, rows: Records, place: int) -> Records:
    return rows[heads[place].start : heads[place].start + heads[place].length]


@kernel
def _keep(heads: Records, rows: Records, place: int, stays: Records) -> None:
    head = heads[place]
    kept = packed(rows, head.start, stays)
    head.length = min(head.length, kept)
    if kept == 0:
        head.next_due = NEVER


@kernel
def _enter(
    heads: Records, rows: Records, tail: Longs, place: int, now: int, fresh: Records, at: int
) -> Records:
    head = heads[place]
    if head.length == head.capacity:
        # whoever has expired makes room first
        head.length = packed(rows, head.start, _rows_of(heads, rows, place)["end"] > now)
    rows = with_room(rows, heads, tail, place, heads[place].length + 1, SPARE)
    head = heads[place]
    rows[head.start + head.length] = fresh[at]
    head.length += 1
    return rows


@kernel
def _release(heads: Records, rows: Records, place: int, now: int, outbox: Outbox) -> None:
    head = heads[place]
    best = _best(rows, head.start, head.length, min(head.k, head.length), now)
    for rank in range(best.size):
        row = best[rank]
        key = rows[row].key
        put_out(outbox, rows, row, place, now, key, rank + 1, NOBODY)
    head.length = 0
    head.next_due = NEVER


@kernel
def _best(rows: Records, start: int, length: int, most: int, now: int) -> Longs:
    """The best rows that have not expired, at most so many, the best first."""
    best = np.empty(most, np.int64)
    found = 0
    if most > FEW:
        for row in in_order(rows, start, length, False):
            if rows[row].end > now and found < most:
                best[found] = row
                found += 1
        return best[:found]
    for row in range(start, start + length):
        held = rows[row]
        if held.end <= now:
            continue
        if found == most and outranks(rows, best[found - 1], held.key, held.publication):
            continue
        at = min(found, most - 1)
        while at > 0 and not outranks(rows, best[at - 1], held.key, held.publication):
            best[at] = best[at - 1]
            at -= 1
        best[at] = row
        found = min(found + 1, most)
    return best[:found]


@kernel
def _pass_on(offers: Offers, offer: int, outbox: Outbox) -> None:
    put_down(
        outbox,
        offers.places[offer],
        offers.times[offer],
        offers.publications[offer],
        offers.scores[offer],
        offers.named[offer],
        offers.possibilities[offer],
        offers.necessities[offer],
        0,
        False,
        offers.matched[offer],
    )
