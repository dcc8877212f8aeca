"""The policy `diverse` for many places: arrivals, departures and cancellations."""

import numpy as np

from shortlist.matching.arrays import Longs
from shortlist.matching.kernels.compiling import kernel
from shortlist.selection.bank.offers import NEVER, Offers
from shortlist.selection.kernels.arena import Records
from shortlist.selection.kernels.diverse_choice import NO_STEP, choose_from, step_won
from shortlist.selection.kernels.diverse_pruning import prune, prune_if_grown
from shortlist.selection.kernels.diverse_rows import enter, put_in_order
from shortlist.selection.kernels.outbox import NOBODY, Outbox, put_out
from shortlist.selection.kernels.points import Points
from shortlist.selection.kernels.skyband import packed
from shortlist.selection.kernels.window_rows import DELIVERED, is_there


@kernel
def arrive(
    heads: Records, rows: Records, tail: Longs, offers: Offers, points: Points, outbox: Outbox
) -> Records:
    """Offers one after the other; the answer is the rows, as of `with_room`."""
    for offer in range(offers.places.size):
        place, now = offers.places[offer], offers.times[offer]
        advance_place(heads, rows, place, now, points, outbox)
        head = heads[place]
        head.matches += 1
        score, publication = offers.scores[offer], offers.publications[offer]
        left = _first_that_left(heads, rows, place, now)
        won = step_won(heads, rows, place, score, publication, min(left, head.chosen), points)
        rows = enter(heads, rows, tail, place, offers, offer)
        if min(left, won) < NO_STEP:
            _choose_and_fill(heads, rows, place, min(left, won), now, publication, points, outbox)
        prune_if_grown(heads, rows, place, now, points)
    return rows


@kernel
def advance(
    heads: Records, rows: Records, places: Longs, befores: Longs, points: Points, outbox: Outbox
) -> None:
    """All departures of some places, each before an instant of its own."""
    for place, before in zip(places, befores):  # noqa: B905 (numba's zip is never strict)
        advance_place(heads, rows, place, before, points, outbox)


@kernel
def advance_place(
    heads: Records, rows: Records, place: int, before: int, points: Points, outbox: Outbox
) -> None:
    """The departures of one place, each filled at its own instant."""
    while heads[place].next_due < before:
        now = heads[place].next_due
        left = _first_that_left(heads, rows, place, now)
        _choose_and_fill(heads, rows, place, left, now, NOBODY, points, outbox)


@kernel
def cancel(
    heads: Records,
    rows: Records,
    places: Longs,
    times: Longs,
    subscription: int,
    points: Points,
    outbox: Outbox,
) -> None:
    """What names a subscription leaves some places, each at an instant, after what is due at or
    before that.

    So does what is chosen beyond a k that was larger.
    """
    for place, time in zip(places, times):  # noqa: B905 (numba's zip is never strict)
        advance_place(heads, rows, place, time + 1, points, outbox)
        head = heads[place]
        put_in_order(heads, rows, place, head.chosen)
        stays = rows[head.start : head.start + head.length]["subscription"] != subscription
        step = 0
        while step < head.chosen and stays[step]:
            step += 1
        step = min(step, head.k)
        is_chosen_one_gone = step < head.chosen
        head.chosen = np.sum(stays[: head.chosen])
        kept = packed(rows, head.start, stays)
        if kept < head.length:
            head.length = head.ranked = kept
        if is_chosen_one_gone:
            _choose_and_fill(heads, rows, place, step, time, NOBODY, points, outbox)


@kernel
def retract(
    heads: Records, rows: Records, places: Longs, publication: int, time: int, points: Points
) -> None:
    """A publication leaves some places at an instant; all that is due before has happened.

    What is hopeless goes first, so that the outcome depends on nothing but the offers so far.
    """
    for place in places:
        prune(heads, rows, place, time - 1, points, heads[place].length)
        head = heads[place]
        for at in range(head.length):
            held = rows[head.start + at]
            if held.publication == publication and held.end > time:
                held.end = time
                if at < head.chosen:
                    head.next_due = min(head.next_due, time)


@kernel
def _first_that_left(heads: Records, rows: Records, place: int, now: int) -> int:
    """The step of the first of the chosen that is no longer in the window, or `NO_STEP`."""
    head = heads[place]
    if head.next_due > now and head.next_push > head.matches:
        return NO_STEP
    for step in range(head.chosen):
        if not is_there(rows, head.start + step, now, head.matches):
            return step
    return NO_STEP


@kernel
def _choose_and_fill(
    heads: Records,
    rows: Records,
    place: int,
    step: int,
    now: int,
    arrival: int,
    points: Points,
    outbox: Outbox,
) -> None:
    """Chooses from a step on anew, and delivers those of the chosen that never were delivered."""
    choose_from(heads, rows, place, step, now, points)
    head = heads[place]
    head.next_due = head.next_push = NEVER
    for rank in range(head.chosen):
        held = rows[head.start + rank]
        head.next_due = min(head.next_due, held.end)
        head.next_push = min(head.next_push, held.push)
        if held.marks & DELIVERED:
            continue
        row, score = head.start + rank, held.key
        put_out(outbox, rows, row, place, now, score, rank + 1, arrival)
