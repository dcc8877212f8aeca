"""The chances of the algorithm `sampling`, and the matches that they depend on."""

from typing import Any

from shortlist.matching.arrays import Ints
from shortlist.matching.kernels.compiling import kernel
from shortlist.selection.kernels.novelty_memory import Memory, row_of


@kernel
def chance_of(memory: Memory, place: int, subscription: int) -> float:
    """Before the present match counts."""
    head, samples = memory.counts.heads[place], memory.samples.heads[place]
    at = row_of(memory.counts.rows, head, subscription)
    row = memory.samples.rows[samples.start + at]
    if not head.is_eager:
        return _lazy_chance(head, samples, row)
    pairs = memory.pairs.heads[place]
    zero = pairs.start - pairs.passed
    span = 0
    if row.matches > 1:
        span = memory.pairs.rows[zero + row.last].t - memory.pairs.rows[zero + row.first].t
    total = min(head.t - 1, head.period)
    return _chance(head, row.matches, span, samples.matching, total)


@kernel
def _lazy_chance(head: Any, samples: Any, row: Any) -> float:
    """As it was at the end of the previous period: until a subscription matches again, its counts
    are what they were then."""
    ended = (head.t - 1) // head.period * head.period
    if row.last > ended:
        kept: float = row.chance
        return kept
    return _chance(head, row.matches, row.last - row.first, samples.matching_before, ended)


@kernel
def _chance(head: Any, matches: int, span: int, matching: int, total: int) -> float:
    if matches < 2:
        return 1.0
    share: float = head.rate / matching
    frequency = matches / total
    if frequency < share:
        return 1.0
    if head.is_interval:
        return min(1.0, share * (span / (matches - 1)))
    return min(1.0, share / frequency)


@kernel
def count_matches(memory: Memory, place: int, subscriptions: Ints, first: int, end: int) -> None:
    """The present match counts for the subscriptions from `first` to `end`."""
    head, samples = memory.counts.heads[place], memory.samples.heads[place]
    for member in range(first, end):
        at = row_of(memory.counts.rows, head, subscriptions[member])
        row = memory.samples.rows[samples.start + at]
        if head.is_eager:
            now = _add_pair(memory, place, subscriptions[member], row)
        else:
            now = head.t
            row.chance = _lazy_chance(head, samples, row)
        if row.matches == 0:
            row.first = now
            samples.matching += 1
        row.last = now
        row.matches += 1
    if head.is_eager:
        _drop_old_pairs(memory, place)
    elif head.t % head.period == 0:
        samples.matching_before = samples.matching


@kernel
def _add_pair(memory: Memory, place: int, subscription: int, sample: Any) -> int:
    """Its number among all pairs that there were."""
    head, pairs = memory.counts.heads[place], memory.pairs.heads[place]
    number: int = pairs.passed + pairs.back
    new = memory.pairs.rows[pairs.start + pairs.back]
    new.t = head.t
    new.subscription = subscription
    new.gap = 0
    if sample.matches > 0:
        previous = pairs.start + sample.last - pairs.passed
        memory.pairs.rows[previous].gap = number - sample.last
    pairs.back += 1
    return number


@kernel
def _drop_old_pairs(memory: Memory, place: int) -> None:
    """Pairs of matches that are not among the last of a period count no longer."""
    head, pairs = memory.counts.heads[place], memory.pairs.heads[place]
    samples = memory.samples.heads[place]
    while pairs.front < pairs.back:
        pair = memory.pairs.rows[pairs.start + pairs.front]
        if pair.t > head.t - head.period:
            break
        if pair.subscription >= 0:
            at = row_of(memory.counts.rows, head, pair.subscription)
            row = memory.samples.rows[samples.start + at]
            row.matches -= 1
            row.first += pair.gap
            samples.matching -= row.matches == 0
            pair.subscription = -1
        pairs.front += 1
