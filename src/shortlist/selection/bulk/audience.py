"""The publisher's audience out of columns: the k best of very many candidates."""

from collections.abc import Callable

import numpy as np

from shortlist.matching.blocks import Floats, Ints, Longs
from shortlist.matching.values import Reader
from shortlist.model.subscription import Subscription
from shortlist.scoring.candidates import Scoring
from shortlist.scoring.numbers import Numbers
from shortlist.selection.audience import Advertisements, Inducement
from shortlist.selection.bulk.rankings import Ranking
from shortlist.selection.bulk.traits import Traits
from shortlist.selection.kernels.audience import with_smallest_ids


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
        self, inducement: Inducement, read: Reader, shortlists: Ints, scores: Floats, named: Ints
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
        better, tied = around_border(scores, k)
        missing = min(k - better.size, tied.size)
        if missing < tied.size:
            numbers = shortlists[tied].astype(np.int32)
            tied = tied[with_smallest_ids(self._shortlists.spelled(), numbers, missing)]
        best = np.append(better, tied)
        costs, ids = -scores[best], self._shortlists.ids
        names = [ids[number] for number in shortlists[best].tolist()]
        rows = zip(np.isnan(costs).tolist(), costs.tolist(), names, best.tolist(), strict=True)
        return np.array([place for *_, place in sorted(rows)], np.int64)


def around_border(scores: Floats, k: int) -> tuple[Longs, Longs]:
    """The places that are surely among the k best, and those that compete for what is left.

    >>> around_border(np.array([0.5, np.nan, 0.75, 0.5]), k=2)
    (array([2]), array([0, 3]))
    """
    if not 0 < k < scores.size:
        everyone = np.arange(scores.size)
        return everyone[:0], everyone[:k]
    costs = -scores
    border = np.partition(costs, k - 1)[k - 1]
    if np.isnan(border):  # what cannot be computed comes last
        return np.flatnonzero(~np.isnan(costs)), np.flatnonzero(np.isnan(costs))
    return np.flatnonzero(costs < border), np.flatnonzero(costs == border)
