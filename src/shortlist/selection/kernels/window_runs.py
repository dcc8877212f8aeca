"""Windows that take runs of offers; docs/windows.md says why what is dropped makes no difference.

A short run is played offer by offer. A longer one is cut into pieces, and of a piece only those
offers go through their instants one by one that may be among the k best meanwhile.
"""

from typing import NamedTuple

import numpy as np

from shortlist.matching.arrays import Floats, Longs
from shortlist.matching.kernels.borrowing import borrowed
from shortlist.matching.kernels.compiling import kernel
from shortlist.selection.bank.offers import Offers
from shortlist.selection.kernels.arena import Records, padded, with_room
from shortlist.selection.kernels.chances import judge, judge_until, stride_of
from shortlist.selection.kernels.outbox import NOBODY
from shortlist.selection.kernels.parting import run_end
from shortlist.selection.kernels.skyband import Sweep, sweep_for, swept, undominated
from shortlist.selection.kernels.window import Reports, advance_place, fill
from shortlist.selection.kernels.window_rows import (
    SPARE,
    enter,
    is_there,
    leave,
    merged_by_rank,
    write_row,
)

FEW = 16
"""A run of no more offers is played one by one: looking ahead would take longer."""
SLACK = 8
"""Rows may grow by so many, and by a part of so many, before they are pruned again."""


class Arrivals(NamedTuple):
    """Offers, the keys by which they are ranked, and room to sweep runs of them."""

    offers: Offers
    keys: Floats
    sweep: Sweep
    kept: Longs


@kernel
def arrive(
    heads: Records,
    rows: Records,
    tail: Longs,
    offers: Offers,
    keys: Floats,
    piece: int,
    reports: Reports,
) -> Records:
    """Lets offers come; the answer is the rows, as of `with_room`."""
    heads, tail, offers = borrowed(heads), borrowed(tail), borrowed(offers)
    keys, reports = borrowed(keys), borrowed(reports)
    places, times, size = offers.places, offers.times, keys.size
    longest = longest_run(places)
    arrivals = Arrivals(offers, keys, sweep_for(longest), np.empty(longest, np.int64))
    first = 0
    while first < size:
        place, now = places[first], times[first]
        head = heads[place]
        has_few = first + FEW >= size or places[first + FEW] != place
        # an offer may not come alone: something leaves, or is judged
        is_alone = head.next_due > now and head.next_push > head.matches + 1 and head.allowed == 0.0
        if not (has_few and is_alone):
            stop = run_end(places, first)
            rows = play_run(heads, rows, tail, arrivals, first, stop, piece, reports)
            first = stop
            continue
        if head.length == head.capacity:
            prune(heads, rows, place, now, head.matches)
            rows = with_room(rows, heads, tail, place, padded(head.length, SLACK), SPARE)
        rows, row = enter(heads, rows, tail, offers, keys, first, head.matches - first)
        if head.count > 0:
            head.matches += 1
        if row < head.start + head.k:
            fill(heads, rows, place, now, offers.publications[first], reports)
        prune_if_grown(heads, rows, place, now, head.matches)
        first += 1
    return rows


@kernel
def longest_run(places: Longs) -> int:
    """How many offers come to a place at most."""
    longest, first = 0, 0
    for at in range(places.size):
        if places[at] != places[first]:
            first = at
        longest = max(longest, at + 1 - first)
    return longest


@kernel
def play_run(
    heads: Records,
    rows: Records,
    tail: Longs,
    arrivals: Arrivals,
    first: int,
    stop: int,
    piece: int,
    reports: Reports,
) -> Records:
    """All offers of a place, piece by piece."""
    times = arrivals.offers.times
    place = arrivals.offers.places[first]
    head = heads[place]
    while first < stop:
        advance_place(heads, rows, place, times[first], reports)
        judge_until(heads, rows, place, times[first])
        end = min(stop, _until_judgement(heads, place, times, first, stop))
        floor = floor_of(heads, rows, place, times[end - 1], head.matches + end - first)
        if end - first > piece and _is_low(floor, arrivals.keys[first : first + piece]):
            end = first + piece
            floor = floor_of(heads, rows, place, times[end - 1], head.matches + end - first)
        rows = play_piece(heads, rows, tail, arrivals, first, end, floor, reports)
        if head.allowed > 0.0 and head.count > 0 and head.matches % stride_of(heads, place) == 0:
            judge(heads, rows, place, head.matches, times[end - 1])
        first = end
    return rows


@kernel
def _until_judgement(heads: Records, place: int, times: Longs, first: int, stop: int) -> int:
    """Where the offers end that come before the next judgement."""
    head = heads[place]
    if head.allowed == 0.0:
        return stop
    if head.count > 0:
        stride = stride_of(heads, place)
        return int(first + stride - head.matches % stride)
    return int(first + np.searchsorted(times[first:stop], head.next_judgement))


@kernel
def _is_low(floor: float, keys: Floats) -> bool:
    """Whether more than a quarter of the next offers are not under a floor."""
    above = 0
    for key in keys:
        above += key >= floor
    return 4 * above > keys.size


@kernel
def floor_of(heads: Records, rows: Records, place: int, until: int, matches: int) -> float:
    """The k-th best key of what stays beyond an instant and so many matches, or -inf."""
    head, staying = heads[place], 0
    for row in range(head.start, head.start + head.length):
        staying += is_there(rows, row, until, matches)
        if staying == head.k:
            return float(rows[row].key)
    return -np.inf


@kernel
def floors(heads: Records, rows: Records, places: Longs, until: int) -> Floats:
    """The floors of some places, -inf where an offer that is left out would be missed."""
    found = np.full(places.size, -np.inf)
    for at, place in enumerate(places):
        head = heads[place]
        if head.count > 0 or (head.allowed > 0.0 and until >= head.next_judgement):
            continue
        if head.bar > -np.inf:  # what is above it is counted
            found[at] = head.bar
        else:
            found[at] = floor_of(heads, rows, place, until, 0)
    return found


@kernel
def play_piece(
    heads: Records,
    rows: Records,
    tail: Longs,
    arrivals: Arrivals,
    first: int,
    stop: int,
    floor: float,
    reports: Reports,
) -> Records:
    """Offers of a place of which those under the floor are not among the k best meanwhile.

    There are three kinds of events: one of the k best is due and leaves, a contender comes, an
    offer pushes one of the k best out of a count window. An offer comes after all that is due
    before it, and after all that is due at its instant if that instant has seen an offer already.
    """
    offers, keys, times = arrivals.offers, arrivals.keys, arrivals.offers.times
    place = offers.places[first]
    head = heads[place]
    matches = head.matches
    kept = arrivals.kept
    found = swept(head, offers, keys, first, stop, floor, arrivals.sweep, kept)
    left = found
    while True:
        while left > 0 and keys[kept[left - 1]] < floor:
            left -= 1
        contender = kept[left - 1] if left > 0 else stop
        step = min(contender, first + head.next_push - matches - 1, stop)
        before = times[step] if step < stop else times[stop - 1] + 1
        if step > first:
            before = max(before, times[step - 1] + 1)
        if head.next_due < before:
            now = head.next_due
            leave(heads, rows, place, now, _matches_at(heads, place, times, first, stop, now))
            fill(heads, rows, place, now, NOBODY, reports)
        elif step == stop:
            break
        else:
            arrival, number = NOBODY, matches + step - first + 1
            if step == contender:
                left -= 1
                arrival = offers.publications[step]
                rows, _ = enter(heads, rows, tail, offers, keys, step, matches - first)
            leave(heads, rows, place, times[step], number)
            fill(heads, rows, place, times[step], arrival, reports)
            prune_if_grown(heads, rows, place, times[step], number)
    hidden = 0
    for offer in kept[:found]:
        if keys[offer] < floor:
            kept[hidden] = offer
            hidden += 1
    if hidden > 0:
        rows = hide(heads, rows, tail, arrivals, first, stop, hidden)
    if head.count > 0:
        head.matches += stop - first
    return rows


@kernel
def _matches_at(heads: Records, place: int, times: Longs, first: int, stop: int, now: int) -> int:
    """How many matches a count window has seen when a departure of an instant is filled.

    If offers come at that instant, the first of them is there already.
    """
    if heads[place].count == 0:
        return 0
    offer = first + np.searchsorted(times[first:stop], now)
    if offer < stop and times[offer] == now:
        offer += 1
    return int(heads[place].matches + offer - first)


@kernel(forceinline=True)
def prune_if_grown(heads: Records, rows: Records, place: int, now: int, matches: int) -> None:
    head = heads[place]
    if head.length > head.pruned + head.pruned // SLACK + SLACK:
        prune(heads, rows, place, now, matches)


@kernel
def prune(heads: Records, rows: Records, place: int, now: int, matches: int) -> None:
    """Lets go what can never come among the k best."""
    head = heads[place]
    head.length = undominated(rows, head.start, head.length, head.k, head.count > 0, now, matches)
    head.pruned = head.length


@kernel
def hide(
    heads: Records,
    rows: Records,
    tail: Longs,
    arrivals: Arrivals,
    first: int,
    stop: int,
    hidden: int,
) -> Records:
    """Puts offers behind the k best after their piece: few one by one, many in one go."""
    offers, keys, kept = arrivals.offers, arrivals.keys, arrivals.kept
    place = offers.places[first]
    head = heads[place]
    now, earlier = offers.times[stop - 1], head.matches - first
    matches = earlier + stop
    if hidden <= SLACK:
        for at in range(hidden):
            rows, _ = enter(heads, rows, tail, offers, keys, kept[at], earlier)
        prune_if_grown(heads, rows, place, now, matches)
        return rows
    fresh = np.empty(hidden, rows.dtype)
    for at in range(hidden):
        write_row(head, fresh, at, offers, keys, kept[at], earlier)
    merged = merged_by_rank(rows[head.start : head.start + head.length], fresh)
    length = undominated(merged, 0, merged.size, head.k, head.count > 0, now, matches)
    head.length = 0
    rows = with_room(rows, heads, tail, place, length, SPARE)
    rows[head.start : head.start + length] = merged[:length]
    head.length = head.pruned = length
    return rows
