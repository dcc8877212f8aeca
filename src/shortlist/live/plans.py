"""Which plan a deployment runs by: where publications meet the subscriptions that they match."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from random import Random

import numpy as np

from shortlist.intake.columns import live_documents
from shortlist.intake.roster import Roster
from shortlist.language.tree import Predicate
from shortlist.live.keys import (
    MOST_LANES,
    ByCell,
    ByValue,
    Key,
    Meeting,
    demanded,
    listed,
    numbers,
)
from shortlist.live.slots import shard_of
from shortlist.matching.predicates import Intervals, in_common
from shortlist.model.paths import Path, format_path
from shortlist.model.registry import Registry
from shortlist.model.settings import UNLIMITED, Limits, Plan, PlanSetting
from shortlist.model.subscription import Subscription

MANY = 200_000
"""Fewer subscriptions are matched sooner than another stage begins."""
MOST_OPEN = 0.01
"""The share of subscriptions without a condition up to which their matches may travel."""
UNEVEN = 2.0
"""How many times its fair share a shard may have to match, before lanes do it."""
GOOD_SPLIT = 0.5
"""The share of all subscriptions that a lane may hold, for a key to be worth while."""
LOOKED_AT = 10_000
"""Subscriptions; of a larger registry a sample, always the same."""
TRIED = 4
"""Attributes of each form: those that most subscriptions ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A plan, and why it is the one."""

    plan: Plan
    lanes: int
    """That match, where shards do not."""
    key: Key | None = None
    """Of `rendezvous`."""
    why: str


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


def choose(setting: PlanSetting, live: Roster, shards: int, limits: Limits = UNLIMITED) -> Choice:
    """The plan that was asked for, or the one that suits the registry as it is now.

    >>> choice = choose("auto", Roster(), 4)
    >>> choice.plan, choice.why
    ('replicate', '0 subscriptions are matched sooner than another stage begins')
    """
    lanes = min(shards, MOST_LANES)
    total = len(live.subscriptions)
    if setting == "auto" and total < MANY:
        why = f"{total:,} subscriptions are matched sooner than another stage begins"
        return Choice(plan="replicate", lanes=lanes, why=why)
    if setting in ("replicate", "broadcast"):
        return Choice(plan=setting, lanes=lanes, why="it was asked for")
    if setting == "auto":
        return _suitable(live, shards, lanes, limits)
    split = best_split(live.registry(), lanes, limits)
    if split is None:
        why = f"no attribute splits the subscriptions over {lanes} lanes, as rendezvous would need"
        return Choice(plan="broadcast", lanes=lanes, why=why)
    return _meeting_at(split, lanes, "it was asked for")


def _suitable(live: Roster, shards: int, lanes: int, limits: Limits) -> Choice:
    """Matches travel only where one shard would have to find most of them alone."""
    total, open_ones, by_shard = len(live.subscriptions), 0, Counter[int]()
    for document in live_documents(live.subscriptions):
        open_ones += "where" not in document
        by_shard[shard_of(document.get("shortlist", document["id"]), shards)] += 1
    fullest = max(by_shard.values()) / total
    uneven = f"one of {shards} shards has {fullest:.0%} of {total:,} subscriptions"
    if open_ones > MOST_OPEN * total:
        why = f"{open_ones:,} of {total:,} subscriptions match everything: all that would travel"
    elif fullest * shards <= UNEVEN:
        why = f"the shards share the matching: the fullest of {shards} has {fullest:.0%} of it"
    else:
        split = best_split(live.registry(), lanes, limits)
        if split is not None and split.fullest <= GOOD_SPLIT:
            return _meeting_at(split, lanes, uneven)
        why = f"{uneven}, and no attribute splits them well"
        return Choice(plan="broadcast", lanes=lanes, why=why)
    return Choice(plan="replicate", lanes=lanes, why=why)


def _meeting_at(split: Split, lanes: int, reason: str) -> Choice:
    asked = f"a range of `{split.attribute}`"
    if isinstance(split.key, ByValue):
        asked = f"values of `{split.attribute}` ({split.values:,} of them)"
    why = (
        f"{reason}; {split.keyed:.0%} of the subscriptions ask for {asked}, "
        f"so that no lane holds more than {split.fullest:.0%}"
    )
    return Choice(plan="rendezvous", lanes=lanes, key=split.key, why=why)


Demands = list[Predicate]


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
