"""The matches of a block in, candidates out: scores in bulk, objects only where they are needed.

Most subscriptions are alone in their shortlist, where nothing is to be combined; and of those most
that want everything need no candidate at all, since each match is a delivery.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from shortlist.matching.blocks import Block, Bools, Floats, Ints
from shortlist.matching.index.matches import Matches
from shortlist.model.policy import Everything
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.bulk import BulkScores
from shortlist.scoring.candidates import Candidate, Scoring
from shortlist.scoring.combine import ScoredMatch


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


NO_ARRIVALS = Arrivals(*(np.empty(0, kind) for kind in ("i4", "i4", "f8", "f8", "f8")))


def scored_pairs(
    scores: BulkScores, block: Block, matches: Matches, unconditional: Iterable[int]
) -> Arrivals:
    """The pairs that have a score: matches, and everything for those who have no condition."""
    high, low = matches.possibility, matches.necessity
    who = matches.publications, matches.subscriptions
    pairs = Arrivals(*who, scores.of_pairs(block, *who, high, low), high, low)
    everyone = np.array([*unconditional], np.int32)
    if everyone.size:
        more = scores.of_block(block, everyone)
        sure = np.ones(more.scores.size)
        pairs = Arrivals(
            np.append(pairs.publications, more.publications),
            np.append(pairs.subscriptions, more.subscriptions),
            np.append(pairs.scores, more.scores),
            np.append(high, sure),
            np.append(low, sure),
        )
    has_score = ~np.isnan(pairs.scores)
    return pairs if has_score.all() else pairs.kept(has_score)
