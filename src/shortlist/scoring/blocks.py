"""The matches of a block in, pairs with a score out."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shortlist.matching.arrays import with_length
from shortlist.matching.blocks import Block, Bools, Floats, Ints
from shortlist.matching.index.matches import Matches
from shortlist.matching.index.storage import Parts
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.bulk import BulkScores
from shortlist.scoring.kernels.distances import Hopes
from shortlist.scoring.kernels.layout import Findings


class Arrivals(NamedTuple):
    """Matches that are deliveries: publications by place in the block, subscriptions by number."""

    publications: Ints
    subscriptions: Ints
    scores: Floats
    possibilities: Floats
    necessities: Floats

    @classmethod
    def joined(cls, some: Sequence["Arrivals"]) -> "Arrivals":
        return cls._make(np.concatenate(arrays) for arrays in zip(*some, strict=True))

    def kept(self, which: Bools | Ints) -> "Arrivals":
        return Arrivals._make(array[which] for array in self)

    def between(self, first: int, end: int) -> "Arrivals":
        """Those of the publications from one place to another, with places from 0."""
        is_between = (self.publications >= first) & (self.publications < end)
        some = self if is_between.all() else self.kept(is_between)
        return some._replace(publications=some.publications - np.int32(first))


def certain(found: Findings) -> Arrivals:
    """What has a score, where there is no condition."""
    sure = np.ones(found.scores.size)
    return Arrivals(*found, sure, sure)


def scored_pairs(
    scores: BulkScores, block: Block, matches: Matches, unconditional: Ints
) -> Arrivals:
    """The pairs that have a score: matches, and everything for those who have no condition."""
    high, low = matches.possibility, matches.necessity
    who = matches.publications, matches.subscriptions
    pairs = Arrivals(*who, scores.of_pairs(block, *who, high, low), high, low)
    if unconditional.size:
        pairs = Arrivals.joined([pairs, certain(scores.of_block(block, unconditional))])
    has_score = ~np.isnan(pairs.scores)
    return pairs if has_score.all() else pairs.kept(has_score)


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
        self._is_unconditional: Bools = np.zeros(8, np.bool_)

    def add(self, number: int, subscription: Subscription) -> None:
        self._scores.add(number, subscription)
        self._is_unconditional = with_length(self._is_unconditional, number + 1)
        self._is_unconditional[number] = subscription.where is None

    def remove(self, number: int) -> None:
        self._scores.remove(number)
        self._is_unconditional[number] = False

    def replace(self, number: int, old: Subscription, new: Subscription) -> None:
        """A subscription that was added has other settings."""
        if (old.score, old.at_least.score) != (new.score, new.at_least.score):
            self._scores.remove(number)
            self._scores.add(number, new)
        self._is_unconditional[number] = new.where is None

    def saved(self) -> Parts:
        return {"scores": self._scores.saved(), "is_unconditional": self._is_unconditional}

    def load(self, saved: Parts) -> None:
        """Takes the place of all scores."""
        self._scores.load(saved["scores"])
        self._is_unconditional = saved["is_unconditional"]

    def wants_nearest(self, number: int) -> bool:
        """Whether a subscription ranks everything by distance."""
        return bool(self._is_unconditional[number]) and self._scores.measures_distance(number)

    def scored(self, block: Block, matches: Matches, among: Ints | None = None) -> Arrivals:
        """The pairs that have a score; matches are those of subscriptions with a condition.

        Where only some subscriptions are asked about, `among` has their numbers.
        """
        if among is None:
            unconditional = self._unconditional
        else:
            unconditional = among[self._is_unconditional[among]]
        return scored_pairs(self._scores, block, matches, unconditional)

    def hopeful(
        self, block: Block, matches: Matches, hopes: Hopes, lasts: Bools
    ) -> tuple[Arrivals, int]:
        """As `scored`, but without what cannot matter, where hopes say so; how many that were.

        Hopes are of subscriptions that want the nearest; `lasts` says which publications leave no
        earlier than those before them.
        """
        others = np.setdiff1d(self._unconditional, hopes.subscriptions, assume_unique=True)
        found = scored_pairs(self._scores, block, matches, others)
        near, scored = self._scores.hopeful_in_block(block, hopes, lasts)
        if near.scores.size:
            found = Arrivals.joined([found, certain(near)])
        return found, scored - near.scores.size

    @property
    def _unconditional(self) -> Ints:
        return np.flatnonzero(self._is_unconditional).astype(np.int32)
