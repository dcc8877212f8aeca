"""Counts values that are absent for a predicate because they are of another type."""

from collections import Counter, defaultdict

from shortlist.fuzzy.sets import Graded, Trapezoid
from shortlist.language.parser import parse_any_where
from shortlist.language.tree import Exists, Is
from shortlist.matching.conditions import predicates
from shortlist.matching.predicates import fuzzy_set, literal
from shortlist.matching.values import Many, Reader, Value
from shortlist.model.paths import Path
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary

FORMS: dict[type, type] = {Trapezoid: float, Graded: str}
"""A fuzzy value is of the type of the values that it grades."""


class TypeCensus:
    """How often an attribute held another type than a live predicate asked for, per attribute.

    Each publication counts once for each live subscription's predicate, so that the counts of
    several shards add up.
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits | None = None) -> None:
        self._vocabulary = vocabulary
        self._limits = limits or Limits()
        self._asked: dict[Path, Counter[type]] = defaultdict(Counter)
        self.mismatches: Counter[str] = Counter()

    def add(self, subscription: Subscription) -> None:
        for path, asked in self._types(subscription):
            self._asked[path][asked] += 1

    def remove(self, subscription: Subscription) -> None:
        for path, asked in self._types(subscription):
            self._asked[path][asked] -= 1

    def observe(self, read: Reader) -> None:
        for path, asked in self._asked.items():
            value = read(path)
            if value is None:
                continue
            found = _types_of(value)
            missed = sum(count for kind, count in asked.items() if kind not in found)
            if missed:
                self.mismatches[".".join(path)] += missed

    def _types(self, subscription: Subscription) -> list[tuple[Path, type]]:
        where = parse_any_where(subscription.where, self._vocabulary, self._limits)
        asked = []
        for predicate in predicates(where):
            if isinstance(predicate, Is):
                asked.append((predicate.path, FORMS[type(fuzzy_set(predicate, self._vocabulary))]))
            elif not isinstance(predicate, Exists):
                asked.append((predicate.path, type(literal(predicate))))
        return asked


def _types_of(value: Value | Many) -> set[type]:
    if isinstance(value, Many):
        return {type(element) for element in value.elements}
    return {FORMS.get(type(value), type(value))}
