"""The plain matcher: every subscription is asked about every publication."""

from shortlist.fuzzy.degrees import Degrees
from shortlist.matching.base import Match
from shortlist.matching.coarse import asked_at_least, asked_where, told
from shortlist.matching.conditions import Meets, condition
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
        self._asked: dict[str, tuple[Meets, AtLeast]] = {}

    def add(self, subscription: Subscription) -> None:
        tree = asked_where(subscription.where, self._vocabulary, self._limits)
        meets = condition(tree, self._vocabulary, subscription.norm)
        at_least = asked_at_least(subscription.at_least, self._limits)
        self._asked[subscription.id] = meets, at_least

    def remove(self, subscription: str) -> None:
        del self._asked[subscription]

    def match(self, read: Reader) -> list[Match]:
        matches = []
        for subscription, (meets, at_least) in self._asked.items():
            degrees = meets(read)
            if reaches(at_least, degrees):
                matches.append(Match(subscription, *told(degrees, self._limits)))
        matches.sort()
        return matches


def reaches(at_least: AtLeast, degrees: Degrees) -> bool:
    """Whether degrees come to a match: above 0, and not under a threshold."""
    return (
        degrees.possibility > 0.0
        and degrees.possibility >= at_least.possibility
        and degrees.necessity >= at_least.necessity
    )
