"""The protocol of matchers: subscriptions come and go, publications are matched one by one."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from shortlist.matching.values import Reader
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary


class Match(NamedTuple):
    """A subscription whose condition holds, and how far."""

    subscription: str
    possibility: float
    necessity: float


class Matcher(Protocol):
    """Which subscriptions' conditions does a publication meet?"""

    def add(self, subscription: Subscription) -> None: ...

    def remove(self, subscription: str) -> None: ...

    def match(self, read: Reader) -> list[Match]:
        """Every subscription that the publication matches, in order of id."""
        ...


MakeMatcher = Callable[[Vocabulary, Limits], Matcher]
