"""The rows of windows: what a row holds, and how rows come and go.

The rows of a place stand in order of rank: by key, the higher first, then by publication, the more
recent first. A row that has left may still stand behind the k best.
"""

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.extending import overload

from shortlist.matching.kernels.rounding import round9
from shortlist.selection.bulk.offers import NEVER, Offers
from shortlist.selection.kernels.arena import Longs, Records, with_room

Floats = npt.NDArray[np.float64]

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
FADING_HEAD = [("half_life", "i8")]
FADING = [("score", "f8"), ("appeared", "i8")]  # what its score of an instant is computed from

DELIVERED = 1
LASTING = 2
"""Nothing but the window ends its stay."""
DEGREES = 1e9
"""Degrees have nine decimals."""


def push_of(rows: Records, row: int) -> int:
    """The match that pushes a row out, `NEVER` where matches are not counted."""
    raise NotImplementedError  # for kernels only, as what follows


@overload(push_of)
def _push_of(rows, row):  # type: ignore[no-untyped-def]
    if "push" in rows.dtype.fields:
        return lambda rows, row: rows[row].push
    return lambda rows, row: NEVER


def score_at(heads: Records, rows: Records, place: int, row: int, now: int) -> float:
    """The score of a row at an instant: its key, unless scores fade."""
    raise NotImplementedError


@overload(score_at)
def _score_at(heads, rows, place, row, now):  # type: ignore[no-untyped-def]
    if "appeared" in rows.dtype.fields:
        return lambda heads, rows, place, row, now: round9(
            rows[row].score * 2.0 ** (-(now - rows[row].appeared) / heads[place].half_life)
        )
    return lambda heads, rows, place, row, now: rows[row].key


def write_push(rows: Records, row: int, push: int) -> None:
    """Says which match pushes a row out, where matches are counted."""
    raise NotImplementedError


@overload(write_push)
def _write_push(rows, row, push):  # type: ignore[no-untyped-def]
    if "push" not in rows.dtype.fields:
        return lambda rows, row, push: None

    def write(rows, row, push):  # type: ignore[no-untyped-def]
        rows[row].push = push

    return write


def write_score(rows: Records, row: int, score: float, appeared: int) -> None:
    """Says what the score of an instant is computed from, where scores fade."""
    raise NotImplementedError


@overload(write_score)
def _write_score(rows, row, score, appeared):  # type: ignore[no-untyped-def]
    if "appeared" not in rows.dtype.fields:
        return lambda rows, row, score, appeared: None

    def write(rows, row, score, appeared):  # type: ignore[no-untyped-def]
        rows[row].score = score
        rows[row].appeared = appeared

    return write


@njit(cache=True)
def write_row(
    heads: Records,
    place: int,
    rows: Records,
    row: int,
    offers: Offers,
    keys: Floats,
    offer: int,
    number: int,
) -> None:
    """Makes a row of an offer that is the so-and-so-many-th match of a place."""
    new = rows[row]
    full_life = min(NEVER, offers.times[offer] + heads[place].span)
    expiry = offers.expiries[offer]
    new.key = keys[offer]
    new.end = min(full_life, expiry)
    new.publication = offers.publications[offer]
    new.subscription = offers.named[offer]
    new.possibility = np.uint32(np.rint(offers.possibilities[offer] * DEGREES))
    new.necessity = np.uint32(np.rint(offers.necessities[offer] * DEGREES))
    new.matched = offers.matched[offer]
    new.marks = LASTING if expiry >= full_life else 0
    write_push(rows, row, number + heads[place].count)
    write_score(rows, row, offers.scores[offer], offers.appeared[offer])


@njit(cache=True)
def outranks(rows: Records, row: int, key: float, publication: int) -> bool:
    """Whether a row is better than a publication with a key."""
    held = rows[row]
    return held.key > key or (held.key == key and held.publication > publication)


@njit(cache=True)
def enter(
    heads: Records,
    rows: Records,
    tail: Longs,
    place: int,
    offers: Offers,
    keys: Floats,
    offer: int,
    number: int,
) -> Records:
    """Puts an offer among the rows of a place; the answer is the rows, as of `with_room`."""
    rows = with_room(rows, heads, tail, place, heads[place].length + 1)
    head = heads[place]
    row = head.start + head.length
    while row > head.start and not outranks(
        rows, row - 1, keys[offer], offers.publications[offer]
    ):
        rows[row] = rows[row - 1]
        row -= 1
    write_row(heads, place, rows, row, offers, keys, offer, number)
    head.length += 1
    head.touched = 1
    return rows


@njit(cache=True)
def is_there(rows: Records, row: int, now: int, matches: int) -> bool:
    """Whether a row is still in the window at an instant, after so many matches."""
    return rows[row].end > now and push_of(rows, row) > matches


@njit(cache=True)
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
        head.touched = 1
        head.length -= row - kept
        for later in range(row, end):
            rows[later - (row - kept)] = rows[later]
