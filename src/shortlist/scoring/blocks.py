"""The matches of a block in, pairs with a score out."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shortlist.matching.blocks import Block, Bools, Floats, Ints
from shortlist.matching.index.matches import Matches
from shortlist.scoring.bulk import BulkScores
from shortlist.scoring.kernels.findings import Findings


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


NO_ARRIVALS = Arrivals(*(np.empty(0, kind) for kind in ("i4", "i4", "f8", "f8", "f8")))


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
