"""Who are the candidates: asked one by one, of any matcher, or in blocks, of the compiled index."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from shortlist.matching.base import Matcher
from shortlist.matching.blocks import Block, Bools
from shortlist.matching.index.index import Index
from shortlist.matching.values import Reader
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.blocks import NO_ARRIVALS, Arrivals, BlockScoring
from shortlist.scoring.candidates import Candidate, Scoring


class Published(NamedTuple):
    """Publications that are matched together, with what reads each of them."""

    publications: Sequence[Publication]
    reads: Sequence[Reader]
    block: Block

    @classmethod
    def of(cls, publications: Sequence[Publication], reads: Sequence[Reader]) -> "Published":
        return cls(publications, reads, Block.of_readers(reads))


class Found(NamedTuple):
    """Each publication's candidates, in order of shortlist, and matches that need none.

    Those are deliveries as they are; the numbers of subscriptions are places in `subscriptions`.
    """

    candidates: list[list[Candidate]]
    arrivals: Arrivals = NO_ARRIVALS
    subscriptions: Sequence[Subscription | None] = ()


class Finder(Protocol):
    """Keeps the subscriptions that `Scoring` knows, and finds their candidates."""

    def add(self, subscription: Subscription) -> None: ...

    def remove(self, subscription: str) -> None: ...

    def find(self, published: Published, wants_objects: Bools) -> Found:
        """Of publications that want objects, all candidates are there."""
        ...


class OneByOne:
    """With any matcher: the oracle."""

    def __init__(self, matcher: Matcher, scoring: Scoring) -> None:
        self._matcher = matcher
        self._scoring = scoring

    def add(self, subscription: Subscription) -> None:
        self._matcher.add(subscription)

    def remove(self, subscription: str) -> None:
        self._matcher.remove(subscription)

    def find(self, published: Published, wants_objects: Bools) -> Found:
        return Found(
            [
                self._scoring.candidates(publication, read, self._matcher.match(read))
                for publication, read in zip(published.publications, published.reads, strict=True)
            ]
        )


class InBlocks:
    """With the compiled index."""

    def __init__(
        self, index: Index, scoring: Scoring, vocabulary: Vocabulary, limits: Limits
    ) -> None:
        self._index = index
        self._scoring = BlockScoring(vocabulary, limits, scoring, index.numbering.number)

    def add(self, subscription: Subscription) -> None:
        self._index.add(subscription)
        number = self._index.numbering.number(subscription.id)
        self._scoring.add(number, subscription)

    def remove(self, subscription: str) -> None:
        number = self._index.numbering.number(subscription)
        self._index.remove(subscription)
        self._scoring.remove(number)

    def find(self, published: Published, wants_objects: Bools) -> Found:
        block = published.block
        matches = self._index.match_block(block, unconditional=False)
        found = self._scoring.candidates(block, published.publications, matches, wants_objects)
        return Found(*found, self._scoring.subscriptions)


def finder(matcher: Matcher, scoring: Scoring, vocabulary: Vocabulary, limits: Limits) -> Finder:
    if isinstance(matcher, Index):
        return InBlocks(matcher, scoring, vocabulary, limits)
    return OneByOne(matcher, scoring)
