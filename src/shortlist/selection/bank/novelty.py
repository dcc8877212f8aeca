"""The policy `novelty` for many shortlists at once."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

import numpy as np

from shortlist.matching.blocks import Longs
from shortlist.model.policy import Novelty
from shortlist.scoring.match_sets import ALONE, MatchSets
from shortlist.selection.bank.arena import Arena
from shortlist.selection.bank.base import Bank
from shortlist.selection.bank.offers import NO_PLACEMENTS, Offers, Placements
from shortlist.selection.draws import streams
from shortlist.selection.kernels.novelty import REFUSED, named_members
from shortlist.selection.kernels.novelty_memory import (
    COUNTS_HEAD,
    COUNTS_ROW,
    DELIVERIES_ROW,
    HIGHEST_ROW,
    PAIRS_HEAD,
    PAIRS_ROW,
    RANDOM,
    SAMPLES_HEAD,
    SAMPLES_ROW,
    SAMPLING,
    THRESHOLD,
    Arrivals,
    Held,
    Memory,
)
from shortlist.selection.kernels.novelty_room import sort_counts, with_rows_for
from shortlist.selection.kernels.order_statistics import RECENT_ROW

ALGORITHMS = {"threshold": THRESHOLD, "sampling": SAMPLING, "random": RANDOM}
MOST = 2**62
"""A period as long as this does not end."""


class NoveltyBank(Bank):
    """As `NoveltySelector`; a match takes O(log period + log subscriptions) in every mode."""

    def __init__(self) -> None:
        self._counts = Arena(COUNTS_HEAD, COUNTS_ROW)
        self._samples = Arena(SAMPLES_HEAD, SAMPLES_ROW)
        self._highest = Arena([], HIGHEST_ROW)
        self._recent = Arena([], RECENT_ROW)
        self._deliveries = Arena([], DELIVERIES_ROW)
        self._pairs = Arena(PAIRS_HEAD, PAIRS_ROW)

    @property
    def arenas(self) -> Sequence[Arena]:
        return [self._counts, *self._others]

    @property
    def _others(self) -> list[Arena]:
        return [self._samples, self._highest, self._recent, self._deliveries, self._pairs]

    def open_all(self, shortlists: Sequence[str], policy: Novelty) -> Longs:
        places = self._counts.open_all(
            len(shortlists),
            is_eager=policy.mode == "eager",
            is_interval=policy.measure == "interval",
            algorithm=ALGORITHMS[policy.algorithm],
            rate=policy.rate,
            aging=policy.aging,
            period=min(policy.period, MOST),
            quota=_quota(policy),
            draws=streams(policy.seed, shortlists),
        )
        for arena in self._others:
            arena.reserve(int(places.max()))
        return places

    def arrive(self, offers: Offers, sets: MatchSets) -> Placements:
        arrivals = _arrivals(offers, sets)
        for arena, rows in zip(self.arenas, with_rows_for(self._memory, arrivals), strict=True):
            arena.rows = rows
        named, novelties = named_members(self._memory, arrivals)
        delivered = np.flatnonzero(named != REFUSED)
        members = named[delivered]
        placed = offers.placed(delivered)
        return placed._replace(
            scores=novelties[delivered],
            named=arrivals.subscriptions[members],
            possibilities=np.concatenate([offers.possibilities, sets.possibilities])[members],
            necessities=np.concatenate([offers.necessities, sets.necessities])[members],
        )

    def warnings(self, place: int, members: Mapping[str, int]) -> Iterator[str]:
        """What a shortlist has seen says something only once it is a period long."""
        head, rows = self._counts.heads[place], self._counts.rows_of(place)
        known = dict(zip(rows["subscription"].tolist(), rows["matches"].tolist(), strict=True))
        matches_of = {name: known.get(number, 0) for name, number in members.items()}
        rate, matches, delivered = (head[name].item() for name in ("rate", "t", "total"))
        if matches_of and matches >= head["period"]:
            yield from rate_warnings(rate, matches, delivered, matches_of)

    def cancel(self, place: int, subscription: int, time: int) -> Placements:
        counts, samples, pairs = self._counts, self._samples, self._pairs
        sort_counts(counts.rows, counts.heads, samples.rows, samples.heads, place)
        for at in np.flatnonzero(counts.rows_of(place)["subscription"] == subscription).tolist():
            _take_out(counts, place, at)
            if counts.heads["algorithm"][place] == SAMPLING:
                samples.heads["matching"][place] -= samples.rows_of(place)["matches"][at] > 0
                _take_out(samples, place, at)
            names = pairs.rows_of(place)["subscription"]
            names[names == subscription] = -1
        return NO_PLACEMENTS

    def close(self, places: Longs, times: Longs) -> Placements:
        self._counts.close_all(places)
        for arena in self._others:
            arena.vacate_all(places)
        return NO_PLACEMENTS

    @property
    def _memory(self) -> Memory:
        return Memory(*(Held(arena.heads, arena.rows, arena.tail) for arena in self.arenas))


def _arrivals(offers: Offers, sets: MatchSets) -> Arrivals:
    """The named subscriptions of all offers stand before the sets: each of those alone is one."""
    numbers = np.arange(offers.places.size)
    is_alone = offers.matched == ALONE
    firsts = sets.offsets[offers.matched] + numbers.size
    ends = sets.offsets[offers.matched + 1] + numbers.size
    return Arrivals(
        places=offers.places,
        firsts=np.where(is_alone, numbers, firsts),
        ends=np.where(is_alone, numbers + 1, ends),
        subscriptions=np.concatenate([offers.named, sets.subscriptions]),
    )


def _quota(policy: Novelty) -> int:
    return min(max(1, int(Decimal(repr(policy.rate)) * policy.period)), MOST)


def _take_out(arena: Arena, place: int, at: int) -> None:
    """Removes one row of a place."""
    rows = arena.rows_of(place)
    rows[at:-1] = rows[at + 1 :]
    arena.heads["length"][place] -= 1


def rate_warnings(
    rate: float, matches: int, delivered: int, matches_of: Mapping[str, int]
) -> Iterator[str]:
    """What is wrong with the rate of a shortlist with so many matches, deliveries, and matches of
    each subscription, if anything is.

    A rate lets every subscription have something, and the rarest one keep up.

    >>> for warning in rate_warnings(0.2, 1000, 200, {"a": 700, "b": 250, "c": 50}):
    ...     print(warning.partition(": ")[2])
    expected at most 0.15, since 'c' has 50 of 1,000 matches
    """
    members, rarest = len(matches_of), min(matches_of, key=lambda name: (matches_of[name], name))
    least = members / max(delivered, 1)
    largest = members * matches_of[rarest] / max(matches, 1)
    shares = f"equal shares of its {members} subscriptions"
    if rate > largest:
        yield (
            f"rate {rate:g} is too high for {shares}: expected at most {largest:.3g}, "
            f"since {rarest!r} has {matches_of[rarest]:,} of {matches:,} matches"
        )
    elif rate < least:
        yield (
            f"rate {rate:g} is too low for {shares}: "
            f"expected at least {least:.3g} after {delivered:,} deliveries"
        )
