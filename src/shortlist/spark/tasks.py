"""How tasks run on Spark, and in which process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from shortlist.live.poison import TaskFailed
from shortlist.live.tasks import D, W
from shortlist.live.worker import settle
from shortlist.spark.daemon import SHARD, WORKERS

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext
    from pyspark.sql import SparkSession


def pinned_context(context: SparkContext, shard: int, workers: int) -> SparkContext:
    """Return a view of `context` whose functions run in a shard's worker of a set of workers.

    That worker has in memory what took long to make. Spark keeps Python workers apart by the
    environment that functions ask for, and PySpark takes this from the attribute `environment` of
    the context. It must not be changed in the context itself: that is one dict for all threads of
    a session, so that a function of another stream, or of the user, would get this shard's.
    """
    view: SparkContext = object.__new__(type(context))
    pinned = {SHARD: str(shard), WORKERS: str(workers)}
    view.__dict__ = {**context.__dict__, "environment": {**context.environment, **pinned}}
    return view


def keep_apart(spark: SparkSession) -> None:
    """Lets what is put together by `union` stay partitions of their own, as before Spark 4.1: else
    shards, each of which is one partition, would wait for each other in a single task."""
    spark.conf.set("spark.sql.unionOutputPartitioning", "false")


@dataclass(frozen=True, slots=True)
class _Task:
    """One shard's part, as a function of the rows of a partition."""

    task: Callable[[Any], Any]
    work: Any

    def __call__(self, arriving: Iterable[Any]) -> Iterator[bytes]:
        for _ in arriving:
            pass
        done = pickle.dumps(self.task(self.work))
        settle()
        yield done


WORKER_ENDED = "Python worker exited unexpectedly"
"""Spark's words."""
MOST_ATTEMPTS = 2
"""At the same works where a worker ends: an item that ends its process does so again, and a kill
does not."""


class FreeNumbers:
    """Numbers that are in use; the lowest free one is taken first.

    >>> numbers = FreeNumbers()
    >>> numbers.take(), numbers.take(), numbers.release(0), numbers.take()
    (0, 1, None, 0)
    """

    def __init__(self) -> None:
        self._used: set[int] = set()
        self._lock = Lock()

    def take(self) -> int:
        with self._lock:
            number = next(each for each in count() if each not in self._used)
            self._used.add(number)
            return number

    def release(self, number: int) -> None:
        with self._lock:
            self._used.discard(number)


# Sets of workers that lanes use, in this process. Lanes that begin later find the workers of those
# that have ended: to start a worker takes a second or two.
USED_WORKERS = FreeNumbers()


class Lanes:
    """A `Run` of the driver's; raises `TaskFailed` where workers end again and again.

    Tasks are RDDs, not DataFrames: nothing is planned then, which takes longer than an empty task.

    Until they are closed, no other lanes use the same workers: otherwise a shard would meet workers
    that have a shard of another deployment in memory, and be restored for every other batch.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._context = spark.sparkContext
        self._workers = USED_WORKERS.take()
        self._starts: dict[int, RDD[int]] = {}
        self._ahead: Thread | None = None

    def __call__(self, task: Callable[[W], D], works: Sequence[W]) -> list[D]:
        if not works:
            return []
        if self._ahead is not None:
            self._ahead.join()
            self._ahead = None
        for _ in range(MOST_ATTEMPTS):
            try:
                return self._run(task, works)
            except Exception as error:
                if WORKER_ENDED not in str(error):
                    raise
        raise TaskFailed(f"Python workers have ended {MOST_ATTEMPTS} times")

    def ahead(self, task: Callable[[W], object], works: Sequence[W]) -> None:
        """So that Spark's workers start while the driver recalls what it knew."""
        if not works:
            return

        def run() -> None:
            with suppress(Exception):  # whoever asks next hears of it
                self._run(task, works)

        self._ahead = Thread(target=run, daemon=True)
        self._ahead.start()

    def mend(self, task: Callable[[W], object], works: Callable[[], Sequence[W]]) -> None:
        """Spark does so when there is a task."""

    def _run(self, task: Callable[[W], D], works: Sequence[W]) -> list[D]:
        parts = [self._part(_Task(task, work), work.shard) for work in works]
        found = self._context.union(parts).collect()
        return [pickle.loads(done) for done in found]

    def close(self) -> None:
        """Lets go of what was kept."""
        USED_WORKERS.release(self._workers)
        while self._starts:
            self._starts.popitem()[1].unpersist()

    def _part(self, task: _Task, lane: int) -> RDD[bytes]:
        part = self._start(lane).mapPartitions(task)
        part.ctx = pinned_context(self._context, lane, self._workers)
        return part

    def _start(self, lane: int) -> RDD[int]:
        """One row on the executor that has the lane's engine: a task goes where it is kept."""
        if lane not in self._starts:
            self._starts[lane] = self._context.parallelize([lane], 1).persist()
        return self._starts[lane]
