"""The publisher's audience out of columns: the k best of very many candidates."""

from collections.abc import Callable

import numpy as np

from shortlist.matching.blocks import Floats, Ints, Longs
from shortlist.matching.values import Read
from shortlist.model.subscription import Subscription
from shortlist.scoring.candidates import Scoring
from shortlist.scoring.numbers import Numbers
from shortlist.selection.audience import Advertisements, Inducement
from shortlist.selection.bank.rankings import Ranking
from shortlist.selection.bank.traits import Traits
from shortlist.selection.kernels.audience import around_border, with_smallest_ids


class BulkAudience:
    """Chooses as `Advertisements.nominate` does; shortlists and subscriptions by number."""

    def __init__(
        self,
        advertisements: Advertisements,
        scoring: Scoring,
        shortlists: Numbers,
        subscription: Callable[[int], Subscription],
    ) -> None:
        self._advertisements = advertisements
        self._shortlists = shortlists
        self._traits = Traits(scoring, subscription)

    def forget(self, subscription: int) -> None:
        """A subscription goes, and its number may be used again."""
        self._traits.forget(subscription)

    def chosen(
        self, inducement: Inducement, read: Read, shortlists: Ints, scores: Floats, named: Ints
    ) -> tuple[Longs, Floats]:
        """The places of a publication's k best candidates, best first, and their audience scores.

        A score that cannot be computed is NaN.
        """
        vocabulary = self._advertisements.vocabulary
        ranking = Ranking(vocabulary, self._traits, read, scores, named)
        ranked = ranking.rounded(self._advertisements.score(inducement.advertisement))
        best = self._best(inducement.k, shortlists, ranked)
        return best, ranked[best]

    def _best(self, k: int, shortlists: Ints, scores: Floats) -> Longs:
        best = np.arange(scores.size)[:k]
        if 0 < k < scores.size:
            better, tied = around_border(scores, k)
            if better.size + tied.size > k:
                numbers = shortlists[tied].astype(np.int32)
                spelled = self._shortlists.spelled()
                tied = tied[with_smallest_ids(spelled, numbers, k - better.size)]
            best = np.append(better, tied)
        lacks, ids = np.isnan(scores[best]), self._shortlists.ids
        costs = np.where(lacks, 0.0, -scores[best])
        names = [ids[number] for number in shortlists[best].tolist()]
        rows = zip(lacks.tolist(), costs.tolist(), names, best.tolist(), strict=True)
        return np.array([place for *_, place in sorted(rows)], np.int64)
