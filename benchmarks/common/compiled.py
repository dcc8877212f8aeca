"""Shortlist's own index, as the benchmark calls it."""

from collections.abc import Iterator, Sequence

import numpy as np

from shortlist.matching.index.index import Index
from shortlist.matching.index.matches import Matches as BlockMatches
from shortlist.matching.index.storage import Arrays, described
from shortlist.model.subscription import Subscription

from .conditions import Condition, where
from .matches import Matches
from .movies import VOCABULARY, Movies
from .rows import block_of

BLOCK = 2048
"""As many films as a mask has bits."""


def subscriptions_of(conditions: Sequence[Condition]) -> list[Subscription]:
    """Conditions as somebody would write them, named by their places."""
    return [
        Subscription(id=subscription_id(place), where=where(condition))
        for place, condition in enumerate(conditions)
    ]


def subscription_id(place: int) -> str:
    return f"s{place}"


class Compiled:
    """An index, asked about films.

    >>> from .conditions import Range
    >>> from .movies import generated_movies
    >>> recent = subscriptions_of([Range("year", 1950, 1999), Range("year", low=1980)])
    >>> sorted(Compiled.of(recent).match(generated_movies(3)).subscriptions.tolist())
    [0, 0, 1]
    """

    def __init__(self, index: Index) -> None:
        self.index = index

    @classmethod
    def of(cls, subscriptions: Sequence[Subscription]) -> "Compiled":
        """Parses and compiles, too."""
        index = Index(VOCABULARY)
        for subscription in subscriptions:
            index.add(subscription)
        index.saved()  # nothing waits to be compiled
        return cls(index)

    @property
    def nbytes(self) -> int:
        """Of all arrays and tables, without the texts of ids and conditions."""
        saved, arrays = self.index.saved(), Arrays()
        numbers, requests = saved["numbers"], saved["requests"]
        described((saved["shelf"], numbers.table, numbers.names.offsets), arrays)
        described((requests.table, requests.places, requests.texts.offsets), arrays)
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))

    def blocks(self, movies: Movies, size: int = BLOCK) -> Iterator[BlockMatches]:
        """The matches of one block after the other."""
        for batch in movies.table.combine_chunks().to_batches(max_chunksize=size):
            yield self.index.match_block(block_of(batch))

    def match(self, movies: Movies) -> Matches:
        found = list(self.blocks(movies))
        publications = [each.publications + BLOCK * n for n, each in enumerate(found)]
        subscriptions = [each.subscriptions for each in found]
        return Matches(np.concatenate(publications), np.concatenate(subscriptions))
