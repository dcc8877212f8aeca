"""The matching half in bulk: a block of publications in, one row for each candidate out."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from shortlist.engine.admitted import Admitted
from shortlist.engine.finding import Finder, FoundElsewhere, Numbered
from shortlist.engine.live import LiveRegistry
from shortlist.matching.blocks import Block, Bools, Floats, Longs
from shortlist.matching.index.index import Index
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.combined import BlockCombining, Combined, Expected
from shortlist.scoring.match_sets import MatchSets
from shortlist.scoring.numbers import Numbers
from shortlist.selection.audience import Nomination
from shortlist.selection.bank.audience import BulkAudience


class BulkMatching(LiveRegistry):
    """Subscriptions are known by number, and so are shortlists.

    Without an index matches are found elsewhere, and only combined here.
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits, index: Index | None) -> None:
        super().__init__(vocabulary, limits)
        self._finder = None if index is None else Finder(vocabulary, limits, index)
        self._numbered: Numbered = self._finder or FoundElsewhere()
        self.shortlists = Numbers()
        self.combining = BlockCombining(
            self.scoring, self.shortlists, self._numbered.number, self._numbered.wants_nearest
        )
        self._audience = BulkAudience(
            self.advertisements, self.scoring, self.shortlists, self.subscription
        )

    def number(self, subscription: str) -> int:
        return self._numbered.number(subscription)

    def subscription(self, number: int) -> Subscription:
        subscription = self.combining.subscriptions[number]
        assert subscription is not None
        return subscription

    def combined(
        self, block: Block, expected: Expected | None = None
    ) -> tuple[Combined, MatchSets, int]:
        """The candidates of a block's publications, in order of shortlist and publication.

        Where it is known what they must reach to matter, so many others are left out.
        """
        assert self._finder is not None
        self.census.observe(block)
        if expected is None:
            found, left_out = self._finder.found(block), 0
        else:
            hopes = self.combining.hopes(expected)
            found, left_out = self._finder.hopeful(block, hopes, expected.lasts)
        return *self.combining.grouped(block.size, found), left_out

    def nominations(self, block: Sequence[Admitted]) -> list[list[Nomination]]:
        """The k best candidates of each publication, by its publisher's own score."""
        combined, *_ = self.combined(Block.of_readers([admitted.read for admitted in block]))
        nominations: list[list[Nomination]] = [[] for _ in block]
        for place, candidates in _of_each(range(len(block)), combined):
            some = combined.kept(candidates)
            best, scores = self._best(block[place], some)
            for number, score in zip(some.shortlists[best].tolist(), scores.tolist(), strict=True):
                known = None if math.isnan(score) else score
                nominations[place].append(Nomination(self._shortlist(number), known))
        return nominations

    def is_chosen(self, block: Sequence[Admitted], combined: Combined) -> Bools:
        """Which candidates the publishers want to reach."""
        is_chosen = np.ones(combined.publications.size, np.bool_)
        limited = [place for place, admitted in enumerate(block) if admitted.inducement is not None]
        for place, candidates in _of_each(limited, combined):
            is_chosen[candidates] = False
            is_chosen[candidates[self._reached(block[place], combined.kept(candidates))]] = True
        return is_chosen

    def _reached(self, admitted: Admitted, candidates: Combined) -> Bools | Longs:
        """Which candidates of one publication its publisher wants to reach."""
        if admitted.allowed is None:
            return self._best(admitted, candidates)[0]
        allowed = [self.shortlists.find(name) for name in admitted.allowed]
        return np.isin(candidates.shortlists, [number for number in allowed if number is not None])

    def _best(self, admitted: Admitted, candidates: Combined) -> tuple[Longs, Floats]:
        inducement = admitted.inducement
        assert inducement is not None
        return self._audience.chosen(
            inducement, admitted.read, candidates.shortlists, candidates.scores, candidates.named
        )

    def _shortlist(self, number: int) -> str:
        shortlist = self.shortlists.ids[number]
        assert shortlist is not None
        return shortlist

    def _subscribed(self, subscription: Subscription) -> None:
        self.combining.add(self._numbered.add(subscription), subscription)

    def _unsubscribed(self, subscription: str) -> None:
        number = self._numbered.remove(subscription)
        self.combining.remove(number)
        self._audience.forget(number)

    def _reopen(self, shortlist: Shortlist) -> None:
        super()._reopen(shortlist)
        self.combining.reopen(shortlist.id)

    def _close(self, shortlist: str) -> None:
        super()._close(shortlist)
        self.shortlists.release(shortlist)


def _of_each(places: Sequence[int], combined: Combined) -> Iterator[tuple[int, Longs]]:
    """The candidates of publications at some places of a block."""
    if not places:
        return
    order = np.argsort(combined.publications, kind="stable")
    sorted_places = combined.publications[order]
    firsts = np.searchsorted(sorted_places, places, "left").tolist()
    ends = np.searchsorted(sorted_places, places, "right").tolist()
    for place, first, end in zip(places, firsts, ends, strict=True):
        yield place, order[first:end]
