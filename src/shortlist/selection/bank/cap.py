"""The policy `cap` for many shortlists at once."""

from collections.abc import Sequence

import numpy as np

from shortlist.matching.blocks import Longs
from shortlist.model.policy import Cap
from shortlist.scoring.match_sets import MatchSets
from shortlist.selection.bank.arena import Arena
from shortlist.selection.bank.base import Bank
from shortlist.selection.bank.offers import NEVER, NO_PLACEMENTS, Offers, Placements
from shortlist.selection.bank.timetables import Timetables
from shortlist.selection.calendars import calendar_of
from shortlist.selection.kernels.cap import HEAD, passing


class CapBank(Bank):
    """As `CapSelector`; a shortlist is a count and the end of its period."""

    def __init__(self) -> None:
        self._arena = Arena(HEAD, [])
        self._timetables = Timetables()

    def open_all(self, shortlists: Sequence[str], policy: Cap) -> Longs:
        most = min(policy.most, NEVER)
        places = self._arena.open_all(len(shortlists), most=most, end=-NEVER)
        self._timetables.put(places, calendar_of(policy))
        return places

    def arrive(self, offers: Offers, sets: MatchSets) -> Placements:
        if not offers.places.size:
            return NO_PLACEMENTS
        tables = self._timetables.covering(int(offers.times.min()), int(offers.times.max()))
        passes = passing(self._arena.heads, offers.places, offers.times, tables)
        return offers.placed(np.flatnonzero(passes))

    def change(self, places: Longs, policy: Cap, times: Longs) -> Placements:
        self._arena.heads["most"][places] = min(policy.most, NEVER)
        return NO_PLACEMENTS
