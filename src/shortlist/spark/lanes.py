"""Runs the tasks of a micro-batch on Spark, each shard's always in the same process."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shortlist.live.tasks import D, W
from shortlist.spark.pinning import pinned

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DONE = pa.schema([("number", pa.int64()), ("done", pa.binary())])


@dataclass(frozen=True, slots=True)
class _Task:
    """One shard's part, as a function of batches."""

    number: int
    task: Callable[[Any], Any]
    work: Any

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in arriving:
            pass
        done = pickle.dumps(self.task(self.work))
        _settle()
        yield pa.record_batch([[self.number], [done]], schema=DONE)


@cache
def _settle() -> None:
    """What a worker has in memory after its first task is an engine, mostly, and stays: Python's
    collector need not go through it again and again, which takes half a second for 50,000
    subscriptions."""
    gc.collect()
    gc.freeze()


class Lanes:
    """A `Run` of the driver's."""

    def __init__(self, spark: SparkSession) -> None:
        # each shard is a partition of its own, and must stay one
        self._spark = spark.newSession()
        self._spark.conf.set("spark.sql.adaptive.enabled", "false")
        self._starts: dict[int, DataFrame] = {}

    def __call__(self, task: Callable[[W], D], works: Sequence[W]) -> list[D]:
        frames = [
            self._frame(_Task(number, task, work), work.shard) for number, work in enumerate(works)
        ]
        together = reduce(lambda frame, more: frame.union(more), frames)
        found = together.toArrow().sort_by("number").column("done").to_pylist()
        return [pickle.loads(done) for done in found]

    def release(self) -> None:
        """Lets go of what was kept."""
        while self._starts:
            self._starts.popitem()[1].unpersist()

    def _frame(self, task: _Task, lane: int) -> DataFrame:
        with pinned(self._spark, lane):
            return self._start(lane).mapInArrow(task, "number bigint, done binary")

    def _start(self, lane: int) -> DataFrame:
        """One row on the executor that has the lane's engine: a task goes where it is kept."""
        if lane not in self._starts:
            self._starts[lane] = self._spark.range(0, 1, 1, 1).persist()
        return self._starts[lane]
