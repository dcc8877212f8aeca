"""Shortlists are hashed into fixed slots, and a shard is a group of slots."""

import zlib
from dataclasses import replace

from shortlist.model.registry import Registry
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription

SLOTS = 256


def shard_of(shortlist: str, shards: int) -> int:
    """The shard that selects for a shortlist; the slot never changes, so rescaling moves slots.

    >>> {shard_of(f"L{n}", 2) for n in range(10)}
    {0, 1}
    """
    return zlib.crc32(shortlist.encode()) % SLOTS % shards


def cut_registry(registry: Registry, shards: int) -> list[Registry]:
    """The part of each shard; advertisements and vocabulary are everybody's."""
    shortlists: list[list[Shortlist]] = [[] for _ in range(shards)]
    subscriptions: list[list[Subscription]] = [[] for _ in range(shards)]
    for made in registry.shortlists:
        shortlists[shard_of(made.id, shards)].append(made)
    for each in registry.subscriptions:
        subscriptions[shard_of(each.shortlist_id, shards)].append(each)
    return [
        replace(registry, shortlists=tuple(some), subscriptions=tuple(others))
        for some, others in zip(shortlists, subscriptions, strict=True)
    ]
