"""The matches of a block in, those that have a score out, subscriptions by number."""

import numpy as np

from shortlist.matching.blocks import Block, Bools
from shortlist.matching.index.matches import Matches
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.blocks import Arrivals, certain, scored_pairs
from shortlist.scoring.bulk import BulkScores
from shortlist.scoring.kernels.hopeful import Hopes


class BlockScoring:
    """The scores of subscriptions, and which of them have no condition.

    >>> from shortlist.matching.values import Values
    >>> from shortlist.model.publication import Publication
    >>> flat = Publication(id="f", source="ads", time=0, position=0, data={"rent": 900})
    >>> block = Block.of_readers([Values(Vocabulary()).of(flat)])
    >>> scoring = BlockScoring(Vocabulary(), Limits())
    >>> scoring.add(7, Subscription(id="near 1000", score="-distance(rent: 1000)"))
    >>> scoring.scored(block, Matches.of_rows([])).scores
    array([-100.])
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits) -> None:
        self._scores = BulkScores(vocabulary, limits)
        self._unconditional: dict[int, None] = {}

    def add(self, number: int, subscription: Subscription) -> None:
        self._scores.add(number, subscription)
        if subscription.where is None:
            self._unconditional[number] = None

    def remove(self, number: int) -> None:
        self._scores.remove(number)
        self._unconditional.pop(number, None)

    def wants_nearest(self, number: int) -> bool:
        """Whether a subscription ranks everything by distance."""
        return number in self._unconditional and self._scores.measures_distance(number)

    def scored(self, block: Block, matches: Matches) -> Arrivals:
        """The pairs that have a score; matches are those of subscriptions with a condition."""
        everyone = np.fromiter(self._unconditional, np.int32, len(self._unconditional))
        return scored_pairs(self._scores, block, matches, everyone)

    def hopeful(
        self, block: Block, matches: Matches, hopes: Hopes, lasts: Bools
    ) -> tuple[Arrivals, int]:
        """As `scored`, but without what cannot matter, where hopes say so; how many that were.

        Hopes are of subscriptions that want the nearest; `lasts` says which publications leave no
        earlier than those before them.
        """
        everyone = np.fromiter(self._unconditional, np.int32, len(self._unconditional))
        others = np.setdiff1d(everyone, hopes.subscriptions, assume_unique=True)
        found = scored_pairs(self._scores, block, matches, others)
        near, scored = self._scores.hopeful_in_block(block, hopes, lasts)
        if near.scores.size:
            found = Arrivals.joined([found, certain(near)])
        return found, scored - near.scores.size
