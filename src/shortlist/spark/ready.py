"""Shards that a process has made before they are needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from shortlist.engine.shard import Shard
from shortlist.engine.stages import Select, Share

READY: dict[str, Shard] = {}
"""Of this process; each is used once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeReady:
    """The task that makes a shard."""

    key: str
    share: Share

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in arriving:
            pass
        READY.clear()
        READY[self.key] = Shard(self.share.registry, self.share.limits)
        yield pa.record_batch({"subscriptions": [len(self.share.registry.subscriptions)]})


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeReady:
    """SELECT with a shard that was made before, if this process has it."""

    key: str
    task: Select

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from replace(self.task, ready=READY.pop(self.key, None))(arriving)
