"""The attribute that splits a registry best: the fullest of its lanes holds the least."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from random import Random

import numpy as np

from shortlist.language.tree import Predicate
from shortlist.live.keys import ByCell, ByValue, Key, Meeting, demanded, listed, numbers
from shortlist.matching.predicates import Intervals, in_common
from shortlist.model.paths import Path, format_path
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription

LOOKED_AT = 10_000
"""Subscriptions; of a larger registry a sample, always the same."""
TRIED = 4
"""Attributes of each form: those that most subscriptions ask for."""

Demands = list[Predicate]


@dataclass(frozen=True, slots=True)
class Split:
    """What a key does to a registry."""

    key: Key
    fullest: float
    """The share of all subscriptions that the fullest lane holds."""
    keyed: float
    """The share of subscriptions that are not held by every lane."""
    values: int
    """Different values that they ask for, of a key by value."""

    @property
    def attribute(self) -> str:
        return format_path(self.key.path)


def best_split(registry: Registry, lanes: int, limits: Limits) -> Split | None:
    """None where every attribute leaves a lane with all subscriptions.

    >>> from shortlist.intake.files import registry_from_documents
    >>> wanted = [{"id": f"s{n}", "where": f"city = 'c{n}' and rent < 900"} for n in range(99)]
    >>> split = best_split(registry_from_documents({"subscriptions": wanted}), 2, Limits())
    >>> split.attribute, split.values, split.keyed
    ('city', 99, 1.0)
    """
    some: Sequence[Subscription] = registry.subscriptions
    if len(some) > LOOKED_AT:
        some = Random(0).sample(some, LOOKED_AT)
    vocabulary = registry.vocabulary
    asked = [[*demanded(subscription, vocabulary, limits)] for subscription in some]
    keys: list[Key] = [*_by_value(asked, lanes), *_by_cell(asked, lanes)]
    splits = [_split(Meeting(key, lanes, vocabulary, limits), asked, lanes) for key in keys]
    return min(
        (split for split in splits if split.fullest < 1), key=lambda it: it.fullest, default=None
    )


def _by_value(asked: Sequence[Demands], lanes: int) -> list[ByValue]:
    wanted = Counter(each.path for predicates in asked for each in predicates if listed(each))
    return [ByValue(path, lanes) for path, _ in wanted.most_common(TRIED)]


def _by_cell(asked: Sequence[Demands], lanes: int) -> list[ByCell]:
    """Cells that as many subscriptions lie in the middle of."""
    middles: dict[Path, list[float]] = defaultdict(list)
    for predicates in asked:
        parts: dict[Path, list[Intervals]] = defaultdict(list)
        for predicate in predicates:
            if (found := numbers(predicate)) is not None:
                parts[predicate.path].append(found)
        for path, sets in parts.items():
            common = in_common(sets)
            ends = [end for part in common for end in (part.low, part.high) if isfinite(end)]
            if ends:
                middles[path].append(sum(ends) / len(ends))
    most = sorted(middles, key=lambda path: -len(middles[path]))[:TRIED]
    shares = np.arange(1, lanes) / lanes
    return [
        ByCell(path, tuple(np.unique(np.quantile(middles[path], shares)).tolist())) for path in most
    ]


def _split(meeting: Meeting, asked: Sequence[Demands], lanes: int) -> Split:
    held = Counter(meeting.of_predicates(predicates) for predicates in asked)
    loads = [sum(n for some, n in held.items() if some >> lane & 1) for lane in range(lanes)]
    values = {
        value
        for predicates in asked
        for predicate in predicates
        if predicate.path == meeting.key.path
        for value in listed(predicate)
    }
    return Split(
        key=meeting.key,
        fullest=max(loads) / len(asked),
        keyed=1 - held[(1 << lanes) - 1] / len(asked),
        values=len(values),
    )
