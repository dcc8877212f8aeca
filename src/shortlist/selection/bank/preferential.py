"""The policy `top-k` for many shortlists at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist.matching.blocks import Longs
from shortlist.model.policy import TopK
from shortlist.scoring.combined import UNSET
from shortlist.scoring.match_sets import MatchSets
from shortlist.selection.bank.arena import Arena
from shortlist.selection.bank.base import Bank, Expectations
from shortlist.selection.bank.offers import NEVER, NO_PLACEMENTS, Offers, Placements
from shortlist.selection.bank.shown import Contents, valid_rows
from shortlist.selection.kernels.preferential import HEAD, ROW, ranked, retract, shorten

MOST = 2**31 - 1


class PreferentialBank(Bank):
    """As `PreferentialSelector`; keeps only what can still count: k rows where nothing ends."""

    def __init__(self) -> None:
        self._arena = Arena(HEAD, ROW)

    def open_all(self, shortlists: Sequence[str], policy: TopK) -> Longs:
        settings = _settings(policy)
        return self._arena.open_all(len(shortlists), **settings, floor=-np.inf, until=NEVER)

    def arrive(self, offers: Offers, sets: MatchSets) -> Placements:
        arena = self._arena
        arena.rows, ranks = ranked(arena.rows, arena.heads, arena.tail, offers)
        delivered = np.flatnonzero(ranks)
        return offers.placed(delivered, ranks[delivered])

    def expected(self, until: int) -> Expectations:
        heads = self._arena.heads
        places = np.flatnonzero(heads["is_open"] & (heads["until"] > until))
        return Expectations(places, heads["floor"][places], np.zeros(places.size, np.int32))

    def retract(self, publication: int, time: int) -> Placements:
        arena = self._arena
        retract(arena.rows, arena.heads, arena.holders("publication", publication), publication)
        return NO_PLACEMENTS

    def change(self, places: Longs, policy: TopK, times: Longs) -> Placements:
        for name, value in _settings(policy).items():
            self._arena.heads[name][places] = value
        shorten(self._arena.rows, self._arena.heads, places)
        return NO_PLACEMENTS

    def shown(self, places: Longs, now: int) -> Contents:
        return valid_rows(self._arena, places, now)


def _settings(policy: TopK) -> dict[str, Any]:
    # Longer spans reach beyond all times as well, and sums with these stay within 64 bits.
    return {
        "k": min(policy.k, MOST),
        "refresh": UNSET if policy.refresh is None else min(policy.refresh, NEVER // 2),
        "period": 0 if policy.period is None else min(policy.period, NEVER // 2),
    }
