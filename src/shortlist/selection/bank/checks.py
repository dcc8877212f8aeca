"""Rules for the saved state of banks: kernels index rows by it, and check nothing.

A rule names a field and says of each head, or of each row, whether its value can be used. It
asks only for what keeps kernels within their rows and their loops finite: a forged state may
still lead to other deliveries.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shortlist.matching.blocks import Bools, Longs
from shortlist.selection.bank.offers import NEVER
from shortlist.selection.kernels.arena import Records
from shortlist.selection.kernels.novelty_memory import SAMPLING, THRESHOLD

# Fields of heads that follow from a shortlist's policy alone, in banks of any kind.
SETTINGS = frozenset(
    (
        *("k", "span", "count", "allowed", "half_life", "base", "weight", "refresh", "period"),
        *("most", "is_eager", "is_interval", "algorithm", "rate", "aging", "quota", "draws"),
    )
)
# The first instant that can be written down (0001-01-01), in microseconds since 1970.
FIRST_TIME = -62_135_596_800_000_000
# Degrees are saved in units of 1e-9, so none is larger than this.
MOST_DEGREE = 10**9
# All marks of a row together: DELIVERED and LASTING.
MOST_MARKS = 3


@dataclass(frozen=True)
class SavedArena:
    """The columns of one arena; rows stand place by place, as many as each head's `length`."""

    heads: Mapping[str, Records]
    rows: Mapping[str, Records]
    now: int
    """The instant that time had reached."""

    @cached_property
    def lengths(self) -> Longs:
        return self.heads["length"].astype(np.int64)

    @cached_property
    def starts(self) -> Longs:
        """The first row of each place."""
        starts: Longs = np.cumsum(self.lengths) - self.lengths
        return starts

    @cached_property
    def owners(self) -> Longs:
        """The place of each row."""
        return np.repeat(np.arange(self.lengths.size), self.lengths)

    @cached_property
    def inside(self) -> Longs:
        """The number of each row within its place."""
        inside: Longs = np.arange(self.owners.size) - self.starts[self.owners]
        return inside

    def of(self, column: Records) -> Records:
        """Return for each row the value of its place."""
        return column[self.owners]

    def least(self, name: str, counts: Records) -> Longs:
        """The least value among the first rows of each place, `NEVER` where there are none."""
        least = np.full(self.lengths.size, NEVER)
        is_first = self.inside < self.of(counts)
        np.minimum.at(least, self.owners[is_first], self.rows[name][is_first])
        return least


# The arenas of a bank, in its order.
Arenas = Sequence[SavedArena]
Rule = Callable[[Arenas], Bools]


def within(name: str, first: int, last: int) -> Rule:
    """A field of heads, or else of rows, lies between two numbers."""

    def holds(arenas: Arenas) -> Bools:
        held = next(column for column in _columns(arenas, name))
        return (held >= first) & (held <= last)

    return holds


def _columns(arenas: Arenas, name: str) -> Iterator[Records]:
    for arena in arenas:
        for columns in (arena.heads, arena.rows):
            if name in columns:
                yield columns[name]


def _ends_in_window(arenas: Arenas) -> Bools:
    """Rows that outlive their window would be judged again and again until they end."""
    arena = arenas[0]
    spans = arena.of(arena.heads["span"])
    return (spans >= NEVER // 2) | (arena.rows["end"] - np.minimum(spans, NEVER // 2) <= arena.now)


def _is_judged_later(arenas: Arenas) -> Bools:
    """Judgements that were missed are made up for one by one."""
    arena = arenas[0]
    judged = (arena.heads["allowed"] > 0) & (arena.heads["count"] == 0)
    later = arena.of(arena.heads["next_judgement"]) > arena.rows["time"]
    return ~arena.of(judged) | later


def _pushes_later(arenas: Arenas) -> Bools:
    heads = arenas[0].heads
    return heads["next_push"] > heads["matches"]


WINDOW: dict[str, Rule] = {
    "matches": within("matches", 0, NEVER),
    "pruned": within("pruned", 0, 2**31 - 1),
    "next_due": within("next_due", FIRST_TIME, 2 * NEVER - 1),
    "next_push": _pushes_later,
    "next_judgement": _is_judged_later,
    "end": _ends_in_window,
}


def _chosen_first(arenas: Arenas) -> Bools:
    arena = arenas[0]
    chosen, ranked = arena.heads["chosen"], arena.heads["ranked"]
    is_few = (chosen >= 0) & (chosen <= np.minimum(arena.heads["k"], ranked))
    return is_few & (ranked <= arena.lengths)


def _is_least(field: str, of: str) -> Rule:
    """A head knows the least value of a field among the chosen."""

    def holds(arenas: Arenas) -> Bools:
        arena = arenas[0]
        is_right: Bools = arena.heads[field] == arena.least(of, arena.heads["chosen"])
        return is_right

    return holds


DIVERSE: dict[str, Rule] = {
    "matches": within("matches", 0, NEVER),
    "pruned": within("pruned", 0, 2**31 - 1),
    "chosen and ranked": _chosen_first,
    "next_due": _is_least("next_due", "end"),
    "next_push": _is_least("next_push", "push"),
}


def _is_as_long(number: int, least: Callable[[Mapping[str, Records]], tuple[Records, ...]]) -> Rule:
    """An arena of `novelty` has as many rows as the counts ask for: so many at least and at most,
    where it has any use, and else none."""

    def holds(arenas: Arenas) -> Bools:
        is_used, low, high = least(arenas[0].heads)
        lengths = arenas[number].lengths
        return (lengths >= np.where(is_used, low, 0)) & (lengths <= np.where(is_used, high, 0))

    return holds


def _highest_lengths(heads: Mapping[str, Records]) -> tuple[Records, ...]:
    is_used = ~heads["is_eager"] & (heads["algorithm"] == THRESHOLD)
    return is_used, np.minimum(heads["t"] % heads["period"], heads["quota"]), heads["quota"]


def _recent_lengths(heads: Mapping[str, Records]) -> tuple[Records, ...]:
    length = np.minimum(heads["t"], heads["period"])
    return heads["is_eager"] & (heads["algorithm"] == THRESHOLD), length, length


def _delivery_lengths(heads: Mapping[str, Records]) -> tuple[Records, ...]:
    return heads["is_eager"], np.minimum(heads["delivered"], heads["quota"]), heads["quota"]


def _sample_lengths(arenas: Arenas) -> Bools:
    is_used = arenas[0].heads["algorithm"] == SAMPLING
    is_right: Bools = arenas[1].lengths == np.where(is_used, arenas[0].lengths, 0)
    return is_right


def _pair_lengths(arenas: Arenas) -> Bools:
    heads = arenas[0].heads
    is_used = heads["is_eager"] & (heads["algorithm"] == SAMPLING)
    is_right: Bools = is_used | (arenas[5].lengths == 0)
    return is_right


def _cells_have_slots(arenas: Arenas) -> Bools:
    recent = arenas[3]
    cells, slots = recent.rows["cell"], recent.rows["slot"]
    lengths = recent.of(recent.lengths)
    is_inside = (cells >= 0) & (cells < lengths) & (slots >= 0) & (slots < lengths)
    at = recent.of(recent.starts) + np.where(is_inside, cells, 0)
    is_right: Bools = is_inside & (slots[at] == recent.inside)
    return is_right


def _front_is_before_back(arenas: Arenas) -> Bools:
    heads = arenas[5].heads
    front, back = heads["front"], heads["back"]
    return (front >= 0) & (front <= back) & (back <= arenas[5].lengths)


def _matching(arenas: Arenas) -> Bools:
    samples = arenas[1]
    has_matches = samples.rows["matches"] > 0
    count = np.bincount(samples.owners[has_matches], minlength=samples.lengths.size)
    is_right: Bools = samples.heads["matching"] == count
    return is_right


def _matching_before(arenas: Arenas) -> Bools:
    """Lazy: at least those that are still there and had matched when the last period ended."""
    heads, samples = arenas[0].heads, arenas[1]
    ended = heads["t"] // heads["period"] * heads["period"]
    before = (samples.rows["matches"] > 0) & (samples.rows["first"] <= samples.of(ended))
    count = np.bincount(samples.owners[before], minlength=samples.lengths.size)
    held = samples.heads["matching_before"]
    return (held >= 0) & (heads["is_eager"] | (held >= count))


def _lazy_samples(arenas: Arenas) -> Bools:
    heads, samples = arenas[0].heads, arenas[1]
    first, last, matches = (samples.rows[name] for name in ("first", "last", "matches"))
    is_possible = (first >= 1) & (first <= last) & (last <= samples.of(heads["t"]))
    is_possible &= matches <= last - first + 1
    is_right: Bools = (matches == 0) | samples.of(heads["is_eager"]) | ((matches > 0) & is_possible)
    return is_right


def _pairs_are_chained(arenas: Arenas) -> Bools:
    """Eager: each pair in the window refers to the next one of its subscription, and samples say
    which pairs of a subscription are the first and the last, and how many there are."""
    counts, samples, pairs = arenas[0], arenas[1], arenas[5]
    front, back = (pairs.of(pairs.heads[name]) for name in ("front", "back"))
    names = pairs.rows["subscription"]
    which = np.flatnonzero((pairs.inside >= front) & (pairs.inside < back) & (names >= 0))
    which = which[np.lexsort((which, names[which], pairs.owners[which]))]
    owners, names, inside = pairs.owners[which], names[which], pairs.inside[which]
    # whether another subscription's pairs begin there; behind the last one all end
    begins = np.ones(which.size + 1, np.bool_)
    begins[1:-1] = (owners[1:] != owners[:-1]) | (names[1:] != names[:-1])
    firsts, lasts = np.flatnonzero(begins[:-1]), np.flatnonzero(begins[1:])
    gaps = np.where(begins[1:], 0, np.append(inside[1:], 0) - inside)
    numbers = inside + pairs.heads["passed"][owners]
    found = owners[firsts], names[firsts], numbers[firsts], numbers[lasts], lasts - firsts + 1

    known = counts.rows["subscription"][counts.of(counts.heads["algorithm"] == SAMPLING)]
    matches = samples.rows["matches"]
    said = np.flatnonzero((matches != 0) & samples.of(counts.heads["is_eager"]))
    said = said[np.lexsort((known[said], samples.owners[said]))]
    bounds = (samples.rows[name][said] for name in ("first", "last"))
    samples_say = samples.owners[said], known[said], *bounds, matches[said]
    is_chained = np.array_equal(gaps, pairs.rows["gap"][which])
    return np.array([is_chained and all(map(np.array_equal, found, samples_say))])


def _pair_times(arenas: Arenas) -> Bools:
    """Pairs older than a period leave, the oldest first: others would stay for ever."""
    heads, pairs = arenas[0].heads, arenas[5]
    front, back = (pairs.of(pairs.heads[name]) for name in ("front", "back"))
    times, t = pairs.rows["t"], pairs.of(heads["t"])
    is_recent = (times <= t) & (times > t - pairs.of(heads["period"]))
    return (pairs.inside < front) | (pairs.inside >= back) | is_recent


NOVELTY: dict[str, Rule] = {
    "t": within("t", 0, NEVER),
    "delivered": within("delivered", 0, NEVER),
    "total": within("total", 0, NEVER),
    "length of samples": _sample_lengths,
    "length of highest": _is_as_long(2, _highest_lengths),
    "length of recent": _is_as_long(3, _recent_lengths),
    "length of deliveries": _is_as_long(4, _delivery_lengths),
    "length of pairs": _pair_lengths,
    "cell and slot": _cells_have_slots,
    "front and back": _front_is_before_back,
    "passed": within("passed", 0, NEVER),
    "matching": _matching,
    "first, last and matches": _lazy_samples,
    "matching_before": _matching_before,
    "t of pairs": _pair_times,
    "gap, first, last and matches": _pairs_are_chained,
}
WAITING: dict[str, Rule] = {"next_due": within("next_due", FIRST_TIME, 2 * NEVER - 1)}
RULES: dict[str, dict[str, Rule]] = {
    "window": WINDOW,
    "fresh": WINDOW,
    "diverse": DIVERSE,
    "novelty": NOVELTY,
    "digest": WAITING,
    "quiet": WAITING,
    "top-k": {"dominators": within("dominators", 0, 2**31 - 1)},
    "cap": {"passed": within("passed", 0, NEVER)},
}
"""By kind of policy, in the order in which they are asked: later ones rely on earlier ones."""
# Of every bank's rows that have such fields.
FIELDS: dict[str, tuple[int, int]] = {
    "end": (FIRST_TIME, 2 * NEVER - 1),
    "appeared": (FIRST_TIME, NEVER),
    "possibility": (0, MOST_DEGREE),
    "necessity": (0, MOST_DEGREE),
    "marks": (0, MOST_MARKS),
}


def wrong_field(policy: str, arenas: Arenas) -> str | None:
    """The first field with a value that its bank cannot use; None if there is none."""
    for arena in arenas:
        for name, column in arena.rows.items():
            first, last = FIELDS.get(name, (None, None))
            if first is not None and not ((column >= first) & (column <= last)).all():
                return name
            if column.dtype.kind == "f" and not np.isfinite(column).all():
                return name
        for name, column in arena.heads.items():
            if column.dtype.kind == "f" and np.isnan(column).any():
                return name
    for name, rule in RULES.get(policy, {}).items():
        if not rule(arenas).all():
            return name
    return None
