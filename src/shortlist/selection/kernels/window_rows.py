"""The rows of windows: what a row holds, and how rows come and go.

The rows of a place stand in order of rank: by key, the higher first, then by publication, the more
recent first. A row that has left may still stand behind the k best.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import overload

from shortlist.matching.arrays import Floats, Longs
from shortlist.matching.kernels.compiling import kernel
from shortlist.matching.kernels.rounding import round9
from shortlist.selection.bank.offers import NEVER, Offers
from shortlist.selection.kernels.arena import Records, with_room

WINDOW_HEAD = [
    ("k", "i4"),
    ("span", "i8"),  # the length of a time window, or NEVER
    ("count", "i8"),  # the length of a count window, or 0
    ("matches", "i8"),  # so far, where matches are counted
    ("next_due", "i8"),  # the first instant at which one of the k best leaves
    ("next_push", "i8"),  # the first match that pushes out one of the k best
    ("pruned", "i4"),  # how many rows the last pruning left
    ("threshold", "f8"),  # the k-th best key, or -inf
    ("threshold_changes", "i4"),
    ("cell_changes", "i4"),
    ("allowed", "f8"),  # drop what enters with a smaller probability
    ("next_judgement", "i8"),
    ("bar", "f8"),  # what comes before that with a smaller key is dropped
    ("above_bar", "i8"),  # how many that last were seen to come above it
    ("seen_since", "i8"),  # since when, on the clock
    ("dropped", "i8"),
]
WINDOW_ROW = [
    ("key", "f8"),
    ("end", "i8"),  # the instant at which it leaves, unless it is pushed out
    ("publication", "i4"),
    ("subscription", "i4"),
    ("possibility", "u4"),  # in units of 1e-9
    ("necessity", "u4"),
    ("matched", "i4"),
    ("marks", "u1"),
]
PUSHED = [("push", "i8")]  # the match that pushes it out of a count window
FADING_HEAD = [
    ("half_life", "f8"),
    ("base", "f8"),  # 2.0: with a constant the compiler takes exp2, which is not always pow
]
FADING = [("score", "f8"), ("appeared", "i8")]

DELIVERED = 1
LASTING = 2
"""Nothing but the window ends its stay."""
SPARE = 4
"""Windows have a fourth of what they hold as spare room: they grow and are pruned all the time."""
DEGREES = 1e9
"""Degrees have nine decimals."""


def _chosen_by(field: str, present: Callable[..., Any], absent: Callable[..., Any]) -> Any:
    """A function for kernels that is one of two, by whether the rows have a field."""

    def chosen(rows: Records, *others: Any) -> Any:
        raise NotImplementedError  # only kernels call it

    overload(chosen, strict=False)(
        lambda rows, *others: present if field in rows.dtype.fields else absent
    )
    return chosen


def _write_push(rows: Records, row: int, push: int) -> None:
    rows[row].push = push


def _write_score(rows: Records, row: int, score: float, appeared: int) -> None:
    rows[row].score = score
    rows[row].appeared = appeared


def _faded(rows: Records, row: int, head: Any, now: int) -> Any:
    age = now - rows[row].appeared
    return round9(rows[row].score * head.base ** (-age / head.half_life))


push_of = _chosen_by("push", lambda rows, row: rows[row].push, lambda rows, row: NEVER)
score_at = _chosen_by("score", _faded, lambda rows, row, head, now: rows[row].key)
write_push = _chosen_by("push", _write_push, lambda rows, row, push: None)
write_score = _chosen_by("score", _write_score, lambda rows, row, score, appeared: None)


@kernel
def lasting_keys(scores: Floats, appeared: Longs, half_lives: Floats) -> Floats:
    """Logarithms of scores, counted from one instant for all: they rank as what they fade to.

    >>> lasting_keys(np.array([8.0, 4.0]), np.array([0, 10]), np.array([5.0, 5.0])).tolist()
    [3.0, 4.0]
    """
    keys = np.empty(scores.size)
    for at in range(scores.size):
        keys[at] = math.log2(scores[at]) + appeared[at] / half_lives[at]
    return keys


@kernel(forceinline=True)
def full_life_of(came: int, span: int) -> int:
    """When the window ends the stay of what came at an instant."""
    return NEVER if span == NEVER else came + span


@kernel(forceinline=True)
def write_offer(
    rows: Records, row: int, offers: Offers, offer: int, key: float, full_life: int
) -> None:
    """Makes a row of an offer, whose stay ends with its full life or its expiry."""
    new = rows[row]
    new.key = key
    new.end = min(full_life, offers.expiries[offer])
    new.publication = offers.publications[offer]
    new.subscription = offers.named[offer]
    new.possibility = np.uint32(np.rint(offers.possibilities[offer] * DEGREES))
    new.necessity = np.uint32(np.rint(offers.necessities[offer] * DEGREES))
    new.matched = offers.matched[offer]
    new.marks = LASTING if offers.expiries[offer] >= full_life else 0


@kernel(forceinline=True)
def write_row(
    head: Any, rows: Records, row: int, offers: Offers, keys: Floats, offer: int, earlier: int
) -> None:
    """Makes a row of an offer to a window; the first offer is its match after the earlier ones."""
    full_life = full_life_of(offers.times[offer], head.span)
    write_offer(rows, row, offers, offer, keys[offer], full_life)
    write_push(rows, row, earlier + offer + 1 + head.count)
    write_score(rows, row, offers.scores[offer], offers.appeared[offer])


@kernel(forceinline=True)
def outranks(rows: Records, row: int, key: float, publication: int) -> bool:
    """Whether a row is better than a publication with a key."""
    held = rows[row]
    return bool(held.key > key or (held.key == key and held.publication > publication))


@kernel(forceinline=True)
def enter(
    heads: Records,
    rows: Records,
    tail: Longs,
    offers: Offers,
    keys: Floats,
    offer: int,
    earlier: int,
) -> tuple[Records, int]:
    """Makes an offer a row of its place, by rank; the rows, as of `with_room`, and which it is."""
    place, publication = offers.places[offer], offers.publications[offer]
    head = heads[place]
    if head.length == head.capacity:
        rows = with_room(rows, heads, tail, place, head.length + 1, SPARE)
    row = head.start + head.length
    while row > head.start and not outranks(rows, row - 1, keys[offer], publication):
        rows[row] = rows[row - 1]
        row -= 1
    head.length += 1
    write_row(head, rows, row, offers, keys, offer, earlier)
    return rows, row


@kernel(forceinline=True)
def is_there(rows: Records, row: int, now: int, matches: int) -> bool:
    """Whether a row is still in the window at an instant, after so many matches."""
    return bool(rows[row].end > now and push_of(rows, row) > matches)


@kernel
def leave(heads: Records, rows: Records, place: int, now: int, matches: int) -> None:
    """Removes rows that have left, so that the first k rows are the k best."""
    head = heads[place]
    end = head.start + head.length
    row = kept = head.start
    while row < end and kept - head.start < head.k:
        if is_there(rows, row, now, matches):
            if kept < row:
                rows[kept] = rows[row]
            kept += 1
        row += 1
    if kept < row:
        head.length -= row - kept
        for later in range(row, end):
            rows[later - (row - kept)] = rows[later]


@kernel
def merged_by_rank(rows: Records, fresh: Records) -> Records:
    """Rows in order of rank together with some in any order."""
    merged = np.empty(rows.size + fresh.size, rows.dtype)
    order = in_order(fresh, 0, fresh.size, False)
    row = new = 0
    for at in range(merged.size):
        if new == order.size or (
            row < rows.size
            and outranks(rows, row, fresh[order[new]].key, fresh[order[new]].publication)
        ):
            merged[at] = rows[row]
            row += 1
        else:
            merged[at] = fresh[order[new]]
            new += 1
    return merged


@kernel
def in_order(rows: Records, start: int, length: int, by_subscription: bool) -> Longs:
    """Where some rows stand, the best first, or those of one subscription together (Shellsort)."""
    order = np.arange(start, start + length)
    gap = length // 2
    while gap > 0:
        for sorted_so_far in range(gap, length):
            at, row = sorted_so_far, order[sorted_so_far]
            while at >= gap and _stands_before(rows, row, order[at - gap], by_subscription):
                order[at] = order[at - gap]
                at -= gap
            order[at] = row
        gap = gap * 5 // 11 if gap != 2 else 1
    return order


@kernel
def _stands_before(rows: Records, row: int, other: int, by_subscription: bool) -> bool:
    if by_subscription and rows[row].subscription != rows[other].subscription:
        return bool(rows[row].subscription < rows[other].subscription)
    return outranks(rows, row, rows[other].key, rows[other].publication)
