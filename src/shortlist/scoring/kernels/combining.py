"""From the scored pairs of a block to one row for each publication and shortlist."""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from shortlist.matching.arrays import Bools, Floats, Ints, Longs
from shortlist.matching.kernels.compiling import kernel
from shortlist.matching.kernels.rounding import round9
from shortlist.matching.kernels.sorting import in_order
from shortlist.scoring.blocks import Arrivals
from shortlist.scoring.match_sets import ALONE, MatchSets


class How(IntEnum):
    """What `combine` says."""

    MAX = 0
    MIN = 1
    MEAN = 2
    SUM = 3
    MOST_SPECIFIC = 4


class Members(NamedTuple):
    """Subscriptions, by number."""

    shortlists: Ints
    ranks: Ints
    """The place of its id among those of its shortlist, in order."""
    weights: Floats
    levels: Ints
    """How far down its shortlist's preferences it stands; 0 where there are none."""


class Demands(NamedTuple):
    """What shortlists ask for, by number."""

    hows: Ints
    sets: Bools
    """Whether all matching subscriptions are to be told, not only the one that is named."""


class Ordered(NamedTuple):
    """Pairs in order of shortlist, publication and subscription id."""

    publications: Ints
    shortlists: Ints
    subscriptions: Ints
    scores: Floats
    possibilities: Floats
    necessities: Floats


@kernel
def ordered(members: Members, found: Arrivals, publication_bits: int, rank_bits: int) -> Ordered:
    """The pairs in order; so many bits hold any of their publications, and any rank."""
    count = found.subscriptions.size
    keys = np.empty(count, np.int64)
    for at in range(count):
        subscription = found.subscriptions[at]
        shortlist = np.int64(members.shortlists[subscription])
        group = shortlist << publication_bits | found.publications[at]
        keys[at] = group << rank_bits | members.ranks[subscription]
    keys, places = in_order(keys)
    pairs = Ordered(
        np.empty(count, np.int32),
        np.empty(count, np.int32),
        np.empty(count, np.int32),
        np.empty(count),
        np.empty(count),
        np.empty(count),
    )
    for at in range(count):
        group, place = keys[at] >> rank_bits, places[at]
        subscription = found.subscriptions[place]
        level = members.levels[subscription]
        pairs.publications[at] = group & ((1 << publication_bits) - 1)
        pairs.shortlists[at] = group >> publication_bits
        pairs.subscriptions[at] = subscription
        pairs.scores[at] = -float(level) if level else found.scores[place]
        pairs.possibilities[at] = found.possibilities[place]
        pairs.necessities[at] = found.necessities[place]
    return pairs


@kernel
def survey(demands: Demands, pairs: Ordered) -> tuple[Longs, MatchSets]:
    """Where those groups of several start and end of which only the most specific count.

    Each is two numbers. And room for the sets that are asked for.
    """
    crowds = np.empty(pairs.scores.size, np.int64)
    used, sets, told, first = 0, 0, 0, 0
    while first < pairs.scores.size:
        end, shortlist = _end_of_group(pairs, first), pairs.shortlists[first]
        if end - first > 1 and demands.hows[shortlist] == How.MOST_SPECIFIC:
            crowds[used], crowds[used + 1] = first, end
            used += 2
        if end - first > 1 and demands.sets[shortlist]:
            sets += 1
            told += end - first
        first = end
    return crowds[:used], MatchSets(
        np.zeros(sets + 1, np.int64), np.empty(told, np.int32), np.empty(told), np.empty(told)
    )


@kernel
def combine_groups(
    members: Members, demands: Demands, pairs: Ordered, leaves_out: Bools, room: MatchSets
) -> tuple[Ints, int, int]:
    """Puts the pair that is named of each group, with the combined score, in the place of the first
    pairs, and sets into the room for them; the numbers of their sets, how many groups and sets.

    `leaves_out` tells which pairs do not count; it is empty where all do.
    """
    matched = np.empty(pairs.scores.size, np.int32)
    groups, used, first = 0, 0, 0
    while first < pairs.scores.size:
        start, end = first, _end_of_group(pairs, first)
        first = end
        how = demands.hows[pairs.shortlists[start]]
        named = start
        if end - start > 1:
            named = _named(how, pairs.scores, leaves_out, start, end)
        score = pairs.scores[named]
        if how in (How.MEAN, How.SUM):
            score = _weighted(how, members.weights, pairs, start, end)
            if not np.isfinite(score):
                continue
        matched[groups] = ALONE
        if end - start > 1 and demands.sets[pairs.shortlists[start]]:
            _tell(room, used, pairs, start, end)
            matched[groups] = used
            used += 1
        # at or before the group's own place
        pairs.publications[groups] = pairs.publications[named]
        pairs.shortlists[groups] = pairs.shortlists[named]
        pairs.subscriptions[groups] = pairs.subscriptions[named]
        pairs.scores[groups] = score
        pairs.possibilities[groups] = pairs.possibilities[named]
        pairs.necessities[groups] = pairs.necessities[named]
        groups += 1
    return matched, groups, used


@kernel
def _tell(sets: MatchSets, number: int, pairs: Ordered, first: int, end: int) -> None:
    """Writes a group's pairs down as a set."""
    to = sets.offsets[number]
    for at in range(first, end):
        sets.subscriptions[to] = pairs.subscriptions[at]
        sets.possibilities[to] = pairs.possibilities[at]
        sets.necessities[to] = pairs.necessities[at]
        to += 1
    sets.offsets[number + 1] = to


@kernel
def _end_of_group(pairs: Ordered, first: int) -> int:
    end = first + 1
    while (
        end < pairs.scores.size
        and pairs.shortlists[end] == pairs.shortlists[first]
        and pairs.publications[end] == pairs.publications[first]
    ):
        end += 1
    return end


@kernel
def _named(how: int, scores: Floats, leaves_out: Bools, first: int, end: int) -> int:
    """The best of those that count, with `min` the lowest; of equal ones the first."""
    named = -1
    for at in range(first, end):
        if leaves_out.size and leaves_out[at]:
            continue
        if named < 0:
            named = at
        elif how == How.MIN:
            named = at if scores[at] < scores[named] else named
        else:
            named = at if scores[at] > scores[named] else named
    return named


@kernel(error_model="numpy")
def _weighted(how: int, weights: Floats, pairs: Ordered, first: int, end: int) -> float:
    total, divisor = 0.0, 0.0
    for at in range(first, end):
        weight = weights[pairs.subscriptions[at]]
        total += weight * pairs.scores[at]
        divisor += weight
    return round9(total / divisor if how == How.MEAN else total)
