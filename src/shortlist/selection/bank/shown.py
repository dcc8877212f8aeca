"""What shortlists show at an instant, as columns, and how it is read from rows."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shortlist.matching.blocks import Bools, Floats, Ints, Longs
from shortlist.model.rounding import rounded
from shortlist.selection.bank.arena import Arena
from shortlist.selection.bank.offers import NEVER
from shortlist.selection.kernels.arena import Records
from shortlist.selection.kernels.window_rows import DEGREES, DELIVERED


class Contents(NamedTuple):
    """Publications that shortlists show: of one place together, the best first."""

    places: Ints | Longs
    publications: Ints
    scores: Floats
    named: Ints
    """The numbers of subscriptions; -1 where the policy does not keep them."""
    possibilities: Floats
    necessities: Floats
    ranks: Longs
    ends: Longs
    """When they leave, if nothing happens before, or `NEVER`."""
    pushes: Longs
    """The match that pushes them out of a count window, or `NEVER`."""
    windowed: Bools
    """Whether they leave with a window, if they do not expire."""
    waiting: Bools
    """Whether they wait to be delivered yet; their ranks are as if they were now."""

    @classmethod
    def joined(cls, some: Sequence["Contents"]) -> "Contents":
        return cls._make(np.concatenate(columns) for columns in zip(*some, strict=True))


KINDS = ["i4", "i4", "f8", "i4", "f8", "f8", "i8", "i8", "i8", "?", "?"]
NO_CONTENTS = Contents._make(np.empty(0, kind) for kind in KINDS)


def valid_rows(arena: Arena, places: Longs, now: int) -> Contents:
    """What is shown of rows that are all delivered; those with equal scores share a rank."""
    rows, owners = _first_rows(arena, places, ["k"], now)
    steps = _steps(owners)
    is_lower = (steps == 0) | (np.diff(rows["score"], prepend=np.nan) != 0.0)
    first_equals = np.maximum.accumulate(np.where(is_lower, np.arange(rows.size), 0))
    return _contents(rows, owners, 1 + steps[first_equals], rows["score"])


def window_rows(arena: Arena, places: Longs, limits: Sequence[str], now: int) -> Contents:
    """What is shown of windows: among the best, of which there are at most so many as these fields
    of heads say, what has been delivered."""
    rows, owners = _first_rows(arena, places, limits, now)
    ranks = 1 + _steps(owners)
    is_delivered = (rows["marks"] & DELIVERED) > 0
    rows, owners, ranks = rows[is_delivered], owners[is_delivered], ranks[is_delivered]
    scores = _faded(arena, rows, owners, now) if arena.holds("appeared") else rows["key"]
    return _contents(rows, owners, ranks, scores, windowed=True)


def waiting_rows(arena: Arena, places: Longs, now: int) -> Contents:
    """What is shown of rows in any order that wait: the k best, as if they were released now."""
    places = places[arena.heads["next_due"][places] > now]
    rows, owners = _first_rows(arena, places, ["k"], now, in_order=False)
    shown = _contents(rows, owners, 1 + _steps(owners), rows["key"], waiting=True)
    return shown._replace(ends=np.minimum(rows["end"], arena.heads["next_due"][owners]))


def _contents(
    rows: Records,
    owners: Longs,
    ranks: Longs,
    scores: Floats,
    *,
    windowed: bool = False,
    waiting: bool = False,
) -> Contents:
    """Rows as they are shown; what they do not have a field for is not known."""
    size, fields = rows.size, rows.dtype.names or ()
    names_one = "subscription" in fields
    return Contents(
        places=owners,
        publications=rows["publication"],
        scores=scores,
        named=rows["subscription"] if names_one else np.full(size, -1, np.int32),
        possibilities=rows["possibility"] / DEGREES if names_one else np.full(size, np.nan),
        necessities=rows["necessity"] / DEGREES if names_one else np.full(size, np.nan),
        ranks=ranks,
        ends=rows["end"],
        pushes=rows["push"] if "push" in fields else np.full(size, NEVER),
        windowed=np.full(size, windowed),
        waiting=np.full(size, waiting),
    )


def _first_rows(
    arena: Arena, places: Longs, limits: Sequence[str], now: int, *, in_order: bool = True
) -> tuple[Records, Longs]:
    """The best rows that are there at an instant, and whose they are: of each place at most so many
    as these fields of its head say."""
    heads = arena.heads[places]
    rows = arena.rows[arena.rows_of_all(places)]
    owners = np.repeat(np.arange(places.size), heads["length"])
    is_there = rows["end"] > now
    if arena.holds("push"):
        is_there &= rows["push"] > heads["matches"][owners]
    rows, owners = rows[is_there], owners[is_there]
    if not in_order:
        best_first = np.lexsort((-rows["publication"], -rows["key"], owners))
        rows, owners = rows[best_first], owners[best_first]
    most = np.min([heads[limit] for limit in limits], axis=0)
    is_first = _steps(owners) < most[owners]
    return rows[is_first], places[owners[is_first]]


def _steps(owners: Longs) -> Longs:
    """How many rows of the same owner stand before each; those of one stand together.

    >>> _steps(np.array([4, 4, 4, 2, 7, 7]))
    array([0, 1, 2, 0, 0, 1])
    """
    numbers = np.arange(owners.size)
    is_new = np.diff(owners, prepend=-1) != 0
    steps: Longs = numbers - np.maximum.accumulate(np.where(is_new, numbers, 0))
    return steps


def _faded(arena: Arena, rows: Records, owners: Longs, now: int) -> Floats:
    """One by one, since a power of many at once may differ in its last digit."""
    columns = rows["score"], rows["appeared"], arena.heads["half_life"][owners]
    return np.array(
        [
            rounded(score * 2.0 ** (-(now - appeared) / half_life))
            for score, appeared, half_life in zip(*(c.tolist() for c in columns), strict=True)
        ],
        np.float64,
    )
