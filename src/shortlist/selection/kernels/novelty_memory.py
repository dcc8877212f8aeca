"""What the policy `novelty` remembers of each place.

`counts` has a row for every subscription that matched; `samples` has rows beside them for the
algorithm `sampling`. `highest` serves the lazy threshold and `recent` the eager one, `deliveries`
every eager quota, `pairs` eager sampling: of these a place has as many rows as it needs next, and
how many of them are in use follows from its counts.
"""

from typing import Any, NamedTuple

from shortlist.matching.arrays import Ints, Longs
from shortlist.matching.kernels.compiling import kernel
from shortlist.selection.kernels.arena import Records

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
    ("total", "i8"),
    ("threshold", "f8"),
]
"""The settings; matches so far; deliveries, if lazy in this period, and in all; the threshold, if
lazy."""
COUNTS_ROW = [("subscription", "i4"), ("matches", "i8"), ("served", "i8"), ("used", "f8")]
"""In order of subscription. `served` is the number of deliveries for the measure `rate`, the t of
the last one for `interval`; `used` is the novelty at the previous match, or `NO_NOVELTY`."""

SAMPLES_HEAD = [("matching", "i4"), ("matching_before", "i4")]
"""How many subscriptions have matches: now, and, if lazy, at the end of the previous period."""
SAMPLES_ROW = [("matches", "i8"), ("first", "i8"), ("last", "i8"), ("chance", "f8")]
"""If lazy, of all matches the first and last t, and the chance in the period of the last; if eager,
of those in the window the first and last pair, counted from the first that there was."""

HIGHEST_ROW = [("novelty", "f8")]
"""A heap of the highest, the lowest of them at its root."""

DELIVERIES_ROW = [("t", "i8")]
"""A ring of the last deliveries, as many as the quota: delivery n stands in row n modulo that."""

PAIRS_HEAD = [("front", "i4"), ("back", "i4"), ("passed", "i8")]
"""The window's pairs are rows from `front` to `back`; `passed` ones were before the first row."""
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


@kernel
def row_of(counts: Records, head: Any, subscription: int) -> int:
    """Which of a place's counts is a subscription's, or where it would stand."""
    low, high = 0, head.length
    while low < high:
        middle = (low + high) // 2
        if counts[head.start + middle].subscription < subscription:
            low = middle + 1
        else:
            high = middle
    return low
