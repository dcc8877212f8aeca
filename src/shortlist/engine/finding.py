"""Who finds the subscriptions that publications match, or only knows them by number."""

from typing import Protocol

from shortlist.matching.blocks import Block, Bools
from shortlist.matching.index.index import Index
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.blocks import Arrivals, BlockScoring
from shortlist.scoring.kernels.hopeful import Hopes
from shortlist.scoring.numbers import Numbers


class Numbered(Protocol):
    """Gives subscriptions numbers, which may be used again."""

    def number(self, subscription: str) -> int: ...

    def add(self, subscription: Subscription) -> int: ...

    def remove(self, subscription: str) -> int: ...

    def wants_nearest(self, number: int) -> bool:
        """Whether publications are left out that are too far for a subscription."""
        ...


class Finder:
    """The compiled matcher, and the scores of what it finds."""

    def __init__(self, vocabulary: Vocabulary, limits: Limits, index: Index) -> None:
        self._index = index
        self._scoring = BlockScoring(vocabulary, limits)

    def number(self, subscription: str) -> int:
        return self._index.numbering.number(subscription)

    def name(self, number: int) -> str:
        return self._index.numbering.name(number)

    def knows(self, subscription: str) -> bool:
        try:
            self.number(subscription)
        except KeyError:
            return False
        return True

    def add(self, subscription: Subscription) -> int:
        self._index.add(subscription)
        number = self.number(subscription.id)
        self._scoring.add(number, subscription)
        return number

    def remove(self, subscription: str) -> int:
        number = self.number(subscription)
        self._index.remove(subscription)
        self._scoring.remove(number)
        return number

    def wants_nearest(self, number: int) -> bool:
        return self._scoring.wants_nearest(number)

    def found(self, block: Block) -> Arrivals:
        """All that matches and has a score."""
        return self._scoring.scored(block, self._index.match_block(block, unconditional=False))

    def hopeful(self, block: Block, hopes: Hopes, lasts: Bools) -> tuple[Arrivals, int]:
        """The same without what cannot matter, and how much that was."""
        matches = self._index.match_block(block, unconditional=False)
        return self._scoring.hopeful(block, matches, hopes, lasts)


class FoundElsewhere:
    """Numbers and nothing else: for those who are told what matches.

    >>> known = FoundElsewhere()
    >>> known.add(Subscription(id="a")), known.add(Subscription(id="b")), known.remove("a")
    (0, 1, 0)
    >>> known.number("b")
    1
    """

    def __init__(self) -> None:
        self._numbers = Numbers()

    def number(self, subscription: str) -> int:
        number = self._numbers.find(subscription)
        if number is None:
            raise KeyError(subscription)
        return number

    def add(self, subscription: Subscription) -> int:
        return self._numbers.number(subscription.id)

    def remove(self, subscription: str) -> int:
        number = self.number(subscription)
        self._numbers.release(subscription)
        return number

    def wants_nearest(self, number: int) -> bool:
        return False
