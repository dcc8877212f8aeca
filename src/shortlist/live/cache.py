"""What a process has in memory of shards, so that a batch need not restore them.

What is taken is gone until it is put back: what was changed by an attempt which failed is
never found again. A token tells the state it is in; numbers would not do, since two attempts at the
same batch have the same number and may have seen different files.
"""

from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """
    >>> cache = Cache[str]()
    >>> cache.put("shard 0", "f3a0", "engine")
    >>> cache.take("shard 0", "77c1"), cache.take("shard 0", "f3a0")
    (None, None)
    >>> cache.put("shard 0", "f3a0", "engine")
    >>> cache.take("shard 0", "f3a0"), cache.take("shard 0", "f3a0")
    ('engine', None)
    """

    def __init__(self) -> None:
        self._kept: dict[str, tuple[str, T]] = {}

    def take(self, key: str, token: str) -> T | None:
        """What was put under a key, if it is in that state; otherwise it is forgotten."""
        known, kept = self._kept.pop(key, (None, None))
        return kept if known == token else None

    def put(self, key: str, token: str, kept: T) -> None:
        self._kept[key] = token, kept

    def clear(self) -> None:
        """Forget everything, as a new process."""
        self._kept.clear()
