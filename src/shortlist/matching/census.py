"""Counts values that are absent for a predicate because they are of another type, and texts without
tokens for `relevance` because they have too many marks."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from shortlist.fuzzy.sets import Graded, Trapezoid
from shortlist.language.parser import parse_any_score, parse_where
from shortlist.language.reader import parted
from shortlist.language.tree import Exists, Is, Relevance, Where, parts, predicates
from shortlist.matching.blocks import Block, Bools, Column, Special
from shortlist.matching.marks import has_too_many_marks
from shortlist.matching.predicates import fuzzy_set, literal
from shortlist.matching.values import Many
from shortlist.model.paths import Path
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.times import Instant
from shortlist.model.vocabulary import Vocabulary


class Words:
    """A text that can be cut into tokens, which `relevance` asks for."""


# The types that predicates and scores ask for. A state has their places in this tuple.
TYPES = (float, str, bool, Instant, Words)
FORMS: dict[type, type] = {Trapezoid: float, Graded: str}
"""A fuzzy value is of the type of the values that it grades."""

KEPT = 4_096
"""Shapes of conditions whose types are remembered."""

Asked = tuple[Path, type]
"""An attribute, and the type that a predicate asks of it."""


class TypeCensus:
    """Counts, by attribute, of values of another type than a live predicate asked for, and of texts
    without tokens where a live score asks for their `relevance`.

    Each publication counts once for each predicate, and each `relevance`, of a live subscription,
    so that the counts of several shards add up.
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits | None = None) -> None:
        self._vocabulary = vocabulary
        self._limits = limits or Limits()
        self._asked: dict[Path, Counter[type]] = defaultdict(Counter)
        self._by_shape: dict[tuple[str, int], list[Asked]] = {}
        self._by_score: dict[str, list[Asked]] = {}
        self.mismatches: Counter[str] = Counter()
        self._seen: tuple[Block, int] | None = None
        self._missing: dict[Asked, list[int]] = {}
        """From each publication that was seen on, how many have another type."""

    def add(self, subscription: Subscription) -> None:
        self._count(self._types(subscription), 1)

    def add_many(self, where: Where, count: int) -> None:
        """So many subscriptions whose conditions ask for the same types."""
        self._count(self._asked_in(where), count)

    def add_scores(self, score: str | float | None, count: int) -> None:
        """So many subscriptions with a score."""
        self._count(self._asked_by_score(score), count)

    def remove(self, subscription: Subscription) -> None:
        self._count(self._types(subscription), -1)

    def replace(self, old: Subscription, new: Subscription) -> None:
        """As one goes and the other comes."""
        went, came = self._types(old), self._types(new)
        if went != came:
            self._count(went, -1)
            self._count(came, 1)

    def _count(self, some: Iterable[Asked], by: int) -> None:
        for each in some:
            path, asked = each
            self._asked[path][asked] += by
            if self._seen is not None:
                block, first = self._seen
                if each not in self._missing:
                    missed = _missed(block.column(path), asked)
                    self._missing[each] = np.cumsum(missed[::-1])[::-1].tolist()
                self._miss(path, by * self._missing[each][first])

    def behind(self, block: Block, first: int) -> None:
        """Whoever comes or goes does so before one of the publications observed last; all of a
        block stand before what was not observed yet."""
        if self._seen is None or self._seen[0] is not block:
            self._missing.clear()
        self._seen = (block, first) if first < block.size else None

    def saved(self) -> list[list[Any]]:
        """Who asks for what, as JSON can say it."""
        return [
            [list(path), TYPES.index(asked), count]
            for path, counts in self._asked.items()
            for asked, count in counts.items()
        ]

    def load(self, saved: Iterable[Sequence[Any]]) -> None:
        """Takes the place of who asks for what."""
        self._asked.clear()
        for path, asked, count in saved:
            self._asked[tuple(path)][TYPES[asked]] = count

    def observe(self, block: Block) -> None:
        for path, asked in self._asked.items():
            column = block.column(path)
            counted = ((count, kind) for kind, count in asked.items() if count)
            self._miss(
                path, sum(count * int(_missed(column, kind).sum()) for count, kind in counted)
            )

    def _miss(self, path: Path, count: int) -> None:
        if count:
            name = ".".join(path)
            self.mismatches[name] += count
            if not self.mismatches[name]:
                del self.mismatches[name]

    def _types(self, subscription: Subscription) -> list[Asked]:
        """Conditions that differ only in their literals ask for the same types."""
        by_score = self._asked_by_score(subscription.score)
        if subscription.where is None:
            return by_score
        alike = parted(subscription.where)[0], self._vocabulary.version
        if alike not in self._by_shape:
            if len(self._by_shape) >= KEPT:
                self._by_shape.clear()
            where = parse_where(subscription.where, self._vocabulary, self._limits)
            self._by_shape[alike] = self._asked_in(where)
        asked = self._by_shape[alike]
        return asked + by_score if by_score else asked

    def _asked_by_score(self, score: str | float | None) -> list[Asked]:
        """The texts that a score cuts into tokens; few scores do, and others are not read."""
        if not isinstance(score, str) or "relevance" not in score.lower():
            return []
        alike = parted(score)[0]
        if alike not in self._by_score:
            if len(self._by_score) >= KEPT:
                self._by_score.clear()
            read = parse_any_score(score, self._limits)
            self._by_score[alike] = [
                (part.path, Words) for part in parts(read) if isinstance(part, Relevance)
            ]
        return self._by_score[alike]

    def _asked_in(self, where: Where) -> list[Asked]:
        asked: list[Asked] = []
        for predicate in predicates(where):
            if isinstance(predicate, Is):
                asked.append((predicate.path, FORMS[type(fuzzy_set(predicate, self._vocabulary))]))
            elif not isinstance(predicate, Exists):
                asked.append((predicate.path, type(literal(predicate))))
        return asked


def _missed(column: Column, kind: type) -> Bools:
    """Which publications have a value, and none of the type."""
    if kind is Words:
        # the last one is of the code -1, for publications that have no text
        is_missed = [*map(has_too_many_marks, column.words), False]
        return np.array(is_missed, np.bool_)[column.codes]
    return column.present & ~_has(column, kind)


def _has(column: Column, kind: type) -> Bools:
    """Which publications have a value of the type, among others perhaps."""
    if kind is float:
        has = ~np.isnan(column.numbers)
        has[column.fuzzy_numbers.places] = True
    elif kind is str:
        has = column.codes >= 0
        has[column.element_places] = True
        has[column.fuzzy_texts.places] = True
    else:
        has = column.booleans >= 0 if kind is bool else column.is_time.copy()
    for place, value in column.special.items():
        has[place] = kind in _types_of(value)
    return has


def _types_of(value: Special) -> set[type]:
    return {type(element) for element in value.elements} if isinstance(value, Many) else {tuple}
