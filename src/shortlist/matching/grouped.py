"""Scans in groups: subscriptions that begin with the same predicate are asked only if it holds."""

from typing import NamedTuple

from shortlist.language.parser import parse_any_where
from shortlist.language.printer import print_where
from shortlist.language.tree import And, Exists, Or, Predicate, Where
from shortlist.matching.base import Match
from shortlist.matching.conditions import STRICT
from shortlist.matching.predicates import Judge, judge
from shortlist.matching.scan import Scan
from shortlist.matching.values import Reader
from shortlist.model.paths import Path
from shortlist.model.settings import Limits
from shortlist.model.subscription import Norm, Subscription
from shortlist.model.vocabulary import Vocabulary


class _Group(NamedTuple):
    """The subscriptions that begin with one predicate, and what judges it."""

    judged: Judge
    members: Scan
    names: set[str]


class Grouped:
    """As `Scan`, but a predicate that fails spares all who begin with it.

    >>> from shortlist.matching.values import Values
    >>> from shortlist.model.publication import Publication
    >>> grouped = Grouped(Vocabulary())
    >>> grouped.add(Subscription(id="s1", where="genre = 'drama' and rating > 7"))
    >>> grouped.add(Subscription(id="s2", where="genre = 'drama'"))
    >>> film = Publication(id="f", source="cinema", time=0, position=0, data={"genre": "drama"})
    >>> grouped.match(Values(Vocabulary()).of(film))
    [Match(subscription='s2', possibility=1.0, necessity=1.0)]
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits | None = None) -> None:
        self._vocabulary = vocabulary
        self._limits = limits or Limits()
        self._ungrouped = Scan(vocabulary, limits)
        self._groups: dict[Path, dict[str, _Group]] = {}
        self._place: dict[str, tuple[Path, str] | None] = {}

    def add(self, subscription: Subscription) -> None:
        tree = parse_any_where(subscription.where, self._vocabulary, self._limits)
        first = decisive(tree, subscription.norm)
        if first is None:
            self._place[subscription.id] = None
            self._ungrouped.add(subscription)
            return
        # Trees do not tell `x = 1` from `x = true`; their texts do.
        text = print_where(first)
        self._place[subscription.id] = first.path, text
        groups = self._groups.setdefault(first.path, {})
        if text not in groups:
            members = Scan(self._vocabulary, self._limits)
            groups[text] = _Group(judge(first, self._vocabulary), members, set())
        groups[text].members.add(subscription)
        groups[text].names.add(subscription.id)

    def remove(self, subscription: str) -> None:
        place = self._place.pop(subscription)
        if place is None:
            self._ungrouped.remove(subscription)
            return
        path, text = place
        group = self._groups[path][text]
        group.members.remove(subscription)
        group.names.remove(subscription)
        if not group.names:
            del self._groups[path][text]
        if not self._groups[path]:
            del self._groups[path]

    def match(self, read: Reader) -> list[Match]:
        matches = self._ungrouped.match(read)
        for path, groups in self._groups.items():
            value = read(path)
            if value is None:
                continue
            for group in groups.values():
                if group.judged(value).degrees.possibility:
                    matches += group.members.match(read)
        matches.sort()
        return matches


def decisive(where: Where | None, norm: Norm) -> Predicate | None:
    """The predicate that a condition begins with, if nothing matches where that one fails.

    It also fails on an absent attribute.

    >>> from shortlist.language.parser import parse_where
    >>> decisive(parse_where("not rent exists and size > 50"), "min")
    >>> decisive(parse_where("size > 50 and not rent exists"), "min").path
    ('size',)
    >>> decisive(parse_where("size > 50 and not rent exists"), "average")
    """
    if isinstance(where, And):
        where = where.operands[0] if norm in STRICT else None
    return None if where is None or isinstance(where, And | Or | Exists) else where
