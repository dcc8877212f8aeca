"""Which plan a deployment runs by: where publications meet the subscriptions that they match."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from shortlist.intake.columns import live_documents
from shortlist.intake.documents import brief
from shortlist.intake.roster import Roster
from shortlist.live.key_choice import Split, best_split
from shortlist.live.keys import MOST_LANES, ByValue, Key
from shortlist.live.slots import shard_of
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits, Plan, PlanSetting

SAFE = Limits()

MANY = 200_000
"""Fewer subscriptions are matched sooner than another stage begins."""
MOST_OPEN = 0.01
"""The share of subscriptions without a condition up to which their matches may travel."""
UNEVEN = 2.0
"""How many times its fair share a shard may have to match, before lanes do it."""
GOOD_SPLIT = 0.5
"""The share of all subscriptions that a lane may hold, for a key to be worth while."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A plan, and why it is the one."""

    plan: Plan
    lanes: int
    """That match, where shards do not."""
    key: Key | None = None
    """Of `rendezvous`."""
    why: str


def choose(
    setting: PlanSetting, live: Registry | Roster, shards: int, limits: Limits = SAFE
) -> Choice:
    """The plan that was asked for, or the one that suits the registry as it is now.

    >>> choice = choose("auto", Registry(), 4)
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
    split = best_split(_registry(live), lanes, limits)
    if split is None:
        why = f"no attribute splits the subscriptions over {lanes} lanes, as rendezvous would need"
        return Choice(plan="broadcast", lanes=lanes, why=why)
    return _meeting_at(split, lanes, "it was asked for")


def _suitable(live: Registry | Roster, shards: int, lanes: int, limits: Limits) -> Choice:
    """Matches travel only where one shard would have to find most of them alone."""
    total, open_ones, by_shard = len(live.subscriptions), 0, Counter[int]()
    for document in _documents(live):
        open_ones += "where" not in document
        by_shard[shard_of(document.get("shortlist", document["id"]), shards)] += 1
    fullest = max(by_shard.values()) / total
    uneven = f"one of {shards} shards has {fullest:.0%} of {total:,} subscriptions"
    if open_ones > MOST_OPEN * total:
        why = f"{open_ones:,} of {total:,} subscriptions match everything: all that would travel"
    elif fullest * shards <= UNEVEN:
        why = f"the shards share the matching: the fullest of {shards} has {fullest:.0%} of it"
    else:
        split = best_split(_registry(live), lanes, limits)
        if split is not None and split.fullest <= GOOD_SPLIT:
            return _meeting_at(split, lanes, uneven)
        why = f"{uneven}, and no attribute splits them well"
        return Choice(plan="broadcast", lanes=lanes, why=why)
    return Choice(plan="replicate", lanes=lanes, why=why)


def _registry(live: Registry | Roster) -> Registry:
    return live.registry() if isinstance(live, Roster) else live


def _documents(live: Registry | Roster) -> Iterator[Mapping[str, Any]]:
    """Those of subscriptions."""
    if isinstance(live, Roster):
        return live_documents(live.subscriptions)
    return map(brief, live.subscriptions)


def _meeting_at(split: Split, lanes: int, reason: str) -> Choice:
    asked = f"a range of `{split.attribute}`"
    if isinstance(split.key, ByValue):
        asked = f"values of `{split.attribute}` ({split.values:,} of them)"
    why = (
        f"{reason}; {split.keyed:.0%} of the subscriptions ask for {asked}, "
        f"so that no lane holds more than {split.fullest:.0%}"
    )
    return Choice(plan="rendezvous", lanes=lanes, key=split.key, why=why)
