"""The system's matchers on the workload."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import numpy as np
import numpy.typing as npt

from shortlist.matching.blocks import Block
from shortlist.matching.index.index import Index
from shortlist.matching.index.matches import Matches
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary

Pairs = npt.NDArray[np.int64]


def index_of(
    subscriptions: Iterable[Subscription], vocabulary: Vocabulary, limits: Limits | None = None
) -> Index:
    """The compiled index of some subscriptions."""
    index = Index(vocabulary, limits)
    for subscription in subscriptions:
        index.add(subscription)
    return index


def grown(
    subscriptions: Iterable[Subscription],
    sizes: Iterable[int],
    block: Block,
    vocabulary: Vocabulary,
    limits: Limits | None = None,
) -> list[Matches]:
    """What a block matches of the first so many subscriptions, for each of ascending sizes."""
    index, rest = Index(vocabulary, limits), iter(subscriptions)
    found = []
    for size in sizes:
        for subscription in islice(rest, size - len(index.numbering)):
            index.add(subscription)
        found.append(index.match_block(block))
    return found


def pairs(matches: Matches) -> Pairs:
    """Publication and subscription in one number each, ascending; none is there twice."""
    both = matches.publications.astype(np.int64) << 32 | matches.subscriptions
    return np.sort(both)
