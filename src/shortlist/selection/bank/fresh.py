"""Fresh scores in bulk: windows whose scores halve with each half-life."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from shortlist.matching.blocks import Floats, Longs
from shortlist.scoring.match_sets import MatchSets
from shortlist.selection.bank.arena import Fields
from shortlist.selection.bank.offers import Offers, Placements
from shortlist.selection.bank.window import WindowBank, window_settings
from shortlist.selection.fresh import half_life_of
from shortlist.selection.kernels.window_rows import (
    FADING,
    FADING_HEAD,
    PUSHED,
    WINDOW_HEAD,
    WINDOW_ROW,
    lasting_keys,
)


class FreshBank(WindowBank):
    """Time windows and endless ones. All scores fade alike, so that the order never changes."""

    head: ClassVar[Fields] = [*FADING_HEAD, *WINDOW_HEAD]
    row: ClassVar[Fields] = [*FADING, *WINDOW_ROW]

    def open_all(self, shortlists: Sequence[str], policy: Any) -> Longs:
        settings = {**window_settings(policy), "half_life": half_life_of(policy), "base": 2.0}
        return self._arena.open_all(len(shortlists), **settings)

    def arrive(self, offers: Offers, sets: MatchSets) -> Placements:
        """What has no score above 0 does not enter, but time runs on to its instant."""
        enters = offers.scores > 0.0
        entering = offers.kept(enters)
        placements = self._arrive(entering, self._keys(entering))
        if enters.all():
            return placements
        refused = offers.kept(np.flatnonzero(~enters)[::-1])
        places, last = np.unique(refused.places, return_index=True)
        later = self._advance(places.astype(np.int64), refused.times[last])
        return Placements.joined([placements, later])

    def expected(self, until: int) -> None:
        """Keys are no scores."""

    def _allowed(self, policy: Any) -> float:
        return 0.0

    def _keys(self, offers: Offers) -> Floats:
        half_lives = self._arena.heads["half_life"][offers.places]
        return lasting_keys(offers.scores, offers.appeared, half_lives)


class CountFreshBank(FreshBank):
    """Count windows: each row also knows which match pushes it out."""

    row: ClassVar[Fields] = [*PUSHED, *FreshBank.row]
