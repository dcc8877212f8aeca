"""What banks may ask about the numbers that come to them."""

from collections.abc import Callable
from typing import NamedTuple

from shortlist.matching.blocks import Longs
from shortlist.scoring.candidates import Candidate
from shortlist.scoring.combine import ScoredMatch
from shortlist.scoring.combined import UNSET
from shortlist.scoring.match_sets import ALONE, MatchSets
from shortlist.selection.bank.kept_sets import KeptSets
from shortlist.selection.bank.publications import Publications


class Subscriptions(NamedTuple):
    """Who the numbers of live subscriptions stand for."""

    refreshes: Callable[[], Longs]
    """By number, `UNSET` for those without."""
    name: Callable[[int], str]
    number: Callable[[str], int]


class World(NamedTuple):
    """All that numbers stand for; what chained shortlists matched is in `sets`."""

    publications: Publications
    subscriptions: Subscriptions
    sets: KeptSets

    def candidate(
        self,
        shortlist: str,
        sets: MatchSets,
        publication: int,
        score: float,
        named: int,
        possibility: float,
        necessity: float,
        matched: int,
    ) -> Candidate:
        """What numbers say of a candidate, whose matches have its score for one of their own."""
        match = self._match(named, score, possibility, necessity)
        matches: tuple[ScoredMatch, ...] = (match,)
        if matched != ALONE:
            first, end = sets.offsets[matched:][:2].tolist()
            columns = sets.subscriptions, sets.possibilities, sets.necessities
            members = zip(*(column[first:end].tolist() for column in columns), strict=True)
            matches = tuple(self._match(number, score, *degrees) for number, *degrees in members)
        return Candidate(self.publications[publication], shortlist, score, match, matches)

    def _match(self, number: int, score: float, high: float, low: float) -> ScoredMatch:
        refresh = int(self.subscriptions.refreshes()[number])
        span = None if refresh == UNSET else refresh
        return ScoredMatch(self.subscriptions.name(number), score, high, low, refresh=span)
