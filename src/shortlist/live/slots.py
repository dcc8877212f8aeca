"""Shortlists are hashed into fixed slots, and a shard is a group of slots."""

import zlib
from dataclasses import replace

from shortlist.model.registry import Registry

SLOTS = 256


def shard_of(shortlist: str, shards: int) -> int:
    """The shard that selects for a shortlist; the slot never changes, so rescaling moves slots.

    >>> {shard_of(f"L{n}", 2) for n in range(10)}
    {0, 1}
    """
    return zlib.crc32(shortlist.encode()) % SLOTS % shards


def cut_registry(registry: Registry, shards: int) -> list[Registry]:
    """The part of each shard; advertisements and vocabulary are everybody's."""
    shortlists = [shard_of(made.id, shards) for made in registry.shortlists]
    subscriptions = [shard_of(made.shortlist_id, shards) for made in registry.subscriptions]
    return [
        replace(
            registry,
            shortlists=tuple(
                made
                for made, home in zip(registry.shortlists, shortlists, strict=True)
                if home == shard
            ),
            subscriptions=tuple(
                made
                for made, home in zip(registry.subscriptions, subscriptions, strict=True)
                if home == shard
            ),
        )
        for shard in range(shards)
    ]
