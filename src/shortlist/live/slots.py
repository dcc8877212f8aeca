"""Shortlists are hashed into fixed slots, and a shard is a group of slots."""

import zlib

SLOTS = 256


def shard_of(shortlist: str, shards: int) -> int:
    """The shard that selects for a shortlist; the slot never changes, so rescaling moves slots.

    >>> {shard_of(f"L{n}", 2) for n in range(10)}
    {0, 1}
    """
    return zlib.crc32(shortlist.encode()) % SLOTS % shards
