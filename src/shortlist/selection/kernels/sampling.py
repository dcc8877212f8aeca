"""The chances of the algorithm `sampling`, and the matches that they depend on."""

from typing import Any

from numba import njit

from shortlist.selection.kernels.novelty_memory import Memory, row_of


@njit(cache=True)
def chance_of(memory: Memory, place: int, at: int) -> float:
    """Of the subscription in a row, before the present match counts."""
    head, samples = memory.counts.heads[place], memory.samples.heads[place]
    row = memory.samples.rows[samples.start + at]
    if not head.is_eager:
        return _lazy_chance(head, samples, row)
    pairs = memory.pairs.heads[place]
    zero = pairs.start - pairs.passed
    span = 0
    if row.matches > 1:
        span = memory.pairs.rows[zero + row.last].t - memory.pairs.rows[zero + row.first].t
    total = min(head.t - 1, head.period)
    return _chance(head, row.matches, span, samples.matched, total)


@njit(cache=True)
def _lazy_chance(head: Any, samples: Any, row: Any) -> float:
    """As it was at the end of the previous period: until a subscription matches again, its counts
    are what they were then."""
    ended = (head.t - 1) // head.period * head.period
    if row.last > ended:
        kept: float = row.chance
        return kept
    return _chance(head, row.matches, row.last - row.first, samples.matched_before, ended)


@njit(cache=True)
def _chance(head: Any, matches: int, span: int, matched: int, total: int) -> float:
    if matches < 2:
        return 1.0
    share = head.rate / matched
    frequency = matches / total
    if frequency < share:
        return 1.0
    if head.is_interval:
        return min(1.0, share * (span / (matches - 1)))
    return min(1.0, share / frequency)


@njit(cache=True)
def count_match(memory: Memory, place: int, at: int) -> None:
    """The present match of the subscription in a row counts."""
    head, samples = memory.counts.heads[place], memory.samples.heads[place]
    row = memory.samples.rows[samples.start + at]
    if not head.is_eager:
        row.chance = _lazy_chance(head, samples, row)
    now = _add_pair(memory, place, at) if head.is_eager else head.t
    if row.matches == 0:
        row.first = now
        samples.matched += 1
    row.last = now
    row.matches += 1
    samples.touched = 1


@njit(cache=True)
def _add_pair(memory: Memory, place: int, at: int) -> int:
    """Its number among all pairs that there were."""
    head, pairs = memory.counts.heads[place], memory.pairs.heads[place]
    number: int = pairs.passed + pairs.length
    new = memory.pairs.rows[pairs.start + pairs.length]
    new.t = head.t
    new.subscription = memory.counts.rows[head.start + at].subscription
    new.gap = 0
    sample = memory.samples.rows[memory.samples.heads[place].start + at]
    if sample.matches > 0:
        previous = pairs.start + sample.last - pairs.passed
        memory.pairs.rows[previous].gap = number - sample.last
    pairs.length += 1
    pairs.touched = 1
    return number


@njit(cache=True)
def drop_old_pairs(memory: Memory, place: int) -> None:
    """Pairs of matches that are not among the last of a period count no longer."""
    head, pairs = memory.counts.heads[place], memory.pairs.heads[place]
    samples = memory.samples.heads[place]
    while pairs.front < pairs.length:
        pair = memory.pairs.rows[pairs.start + pairs.front]
        if pair.t > head.t - head.period:
            break
        if pair.subscription >= 0:
            at = row_of(memory.counts, place, pair.subscription)
            row = memory.samples.rows[samples.start + at]
            row.matches -= 1
            row.first += pair.gap
            samples.matched -= row.matches == 0
            pair.subscription = -1
        pairs.front += 1
