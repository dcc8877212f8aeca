"""The plain matcher: every subscription is asked about every publication."""

from collections.abc import Callable

from shortlist.fuzzy.degrees import Degrees
from shortlist.language.parser import parse_where
from shortlist.matching.base import Match
from shortlist.matching.conditions import condition
from shortlist.matching.values import Reader
from shortlist.model.settings import Limits
from shortlist.model.subscription import AtLeast, Subscription
from shortlist.model.vocabulary import Vocabulary


class Scan:
    """The oracle that faster matchers must equal.

    >>> from shortlist.matching.values import Values
    >>> from shortlist.model.publication import Publication
    >>> scan = Scan(Vocabulary())
    >>> scan.add(Subscription(id="s1", where="genre = 'drama'"))
    >>> film = Publication(id="f", source="cinema", time=0, position=0, data={"genre": "drama"})
    >>> scan.match(Values(Vocabulary()).of(film))
    [Match(subscription='s1', possibility=1.0, necessity=1.0)]
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits | None = None) -> None:
        self._vocabulary = vocabulary
        self._limits = limits or Limits()
        self._conditions: dict[str, tuple[Callable[[Reader], Degrees], AtLeast]] = {}
        self._order: list[str] | None = []

    def add(self, subscription: Subscription) -> None:
        where = subscription.where
        tree = None if where is None else parse_where(where, self._vocabulary, self._limits)
        meets = condition(tree, self._vocabulary, subscription.norm)
        self._conditions[subscription.id] = meets, subscription.at_least
        self._order = None

    def remove(self, subscription: str) -> None:
        del self._conditions[subscription]
        self._order = None

    def match(self, read: Reader) -> list[Match]:
        if self._order is None:
            self._order = sorted(self._conditions)
        matches = []
        for subscription in self._order:
            meets, at_least = self._conditions[subscription]
            possibility, necessity = meets(read)
            if possibility and _reaches(at_least, possibility, necessity):
                matches.append(Match(subscription, possibility, necessity))
        return matches


def _reaches(at_least: AtLeast, possibility: float, necessity: float) -> bool:
    return possibility >= at_least.possibility and necessity >= at_least.necessity
