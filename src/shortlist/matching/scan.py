"""The plain matcher: every subscription is asked whose first predicate does not fail."""

from typing import NamedTuple

from shortlist.fuzzy.degrees import Degrees
from shortlist.language.parser import parse_where
from shortlist.language.printer import print_where
from shortlist.language.tree import And, Exists, Or, Predicate, Where
from shortlist.matching.base import Match
from shortlist.matching.conditions import STRICT, Meets, condition
from shortlist.matching.predicates import Judge, judge
from shortlist.matching.values import Reader
from shortlist.model.paths import Path
from shortlist.model.settings import Limits
from shortlist.model.subscription import AtLeast, Norm, Subscription
from shortlist.model.vocabulary import Vocabulary


class _Asked(NamedTuple):
    meets: Meets
    at_least: AtLeast


class _Opening(NamedTuple):
    """The subscriptions that begin with one and the same predicate."""

    judged: Judge
    members: dict[str, _Asked]


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
        self._always: dict[str, _Asked] = {}
        self._openings: dict[Path, dict[str, _Opening]] = {}
        self._first: dict[str, tuple[Path, str] | None] = {}

    def add(self, subscription: Subscription) -> None:
        where = subscription.where
        tree = None if where is None else parse_where(where, self._vocabulary, self._limits)
        meets = condition(tree, self._vocabulary, subscription.norm)
        asked = _Asked(meets, subscription.at_least)
        first = decisive(tree, subscription.norm)
        if first is None:
            self._first[subscription.id] = None
            self._always[subscription.id] = asked
            return
        text = print_where(first)
        self._first[subscription.id] = first.path, text
        openings = self._openings.setdefault(first.path, {})
        if text not in openings:
            openings[text] = _Opening(judge(first, self._vocabulary), {})
        openings[text].members[subscription.id] = asked

    def remove(self, subscription: str) -> None:
        first = self._first.pop(subscription)
        if first is None:
            del self._always[subscription]
            return
        path, text = first
        openings = self._openings[path]
        del openings[text].members[subscription]
        if not openings[text].members:
            del openings[text]
        if not openings:
            del self._openings[path]

    def match(self, read: Reader) -> list[Match]:
        matches = _matches(self._always, read)
        for path, openings in self._openings.items():
            value = read(path)
            if value is None:
                continue
            for judged, members in openings.values():
                if judged(value).degrees.possibility:
                    matches += _matches(members, read)
        matches.sort()
        return matches


def decisive(where: Where | None, norm: Norm) -> Predicate | None:
    """The predicate that a condition begins with, if nothing matches where that one fails.

    It also fails on an absent attribute.

    >>> decisive(parse_where("not rent exists and size > 50"), "min")
    >>> decisive(parse_where("size > 50 and not rent exists"), "min").path
    ('size',)
    >>> decisive(parse_where("size > 50 and not rent exists"), "average")
    """
    if isinstance(where, And):
        where = where.operands[0] if norm in STRICT else None
    return None if where is None or isinstance(where, And | Or | Exists) else where


def _matches(members: dict[str, _Asked], read: Reader) -> list[Match]:
    found = []
    for subscription, (meets, at_least) in members.items():
        degrees = meets(read)
        if degrees.possibility and _reaches(at_least, degrees):
            found.append(Match(subscription, *degrees))
    return found


def _reaches(at_least: AtLeast, degrees: Degrees) -> bool:
    return degrees.possibility >= at_least.possibility and degrees.necessity >= at_least.necessity
