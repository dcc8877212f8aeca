"""How tasks run on Spark: with which columns, in which process, and how far they are."""

from __future__ import annotations

import os
import pickle
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shortlist.live.poison import TaskFailed
from shortlist.live.tasks import D, W
from shortlist.live.worker import settle
from shortlist.spark.daemon import SHARD

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


def spark_schema(schema: pa.Schema) -> StructType:
    """The same columns for Spark."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


@contextmanager
def pinned(spark: SparkSession, shard: int) -> Iterator[None]:
    """What is mapped meanwhile runs in the process of a shard, which has in memory what took long
    to make: Spark has Python workers of its own for every environment that functions ask for."""
    environment = spark.sparkContext.environment
    environment[SHARD] = str(shard)
    try:
        yield
    finally:
        del environment[SHARD]


def keep_apart(spark: SparkSession) -> None:
    """Lets what is put together by `union` stay partitions of their own, as before Spark 4.1: else
    shards, each of which is one partition, would wait for each other in a single task."""
    spark.conf.set("spark.sql.unionOutputPartitioning", "false")


class Progress:
    """Counts publications in a file of its own, if there is a folder to put it into."""

    def __init__(self, folder: str | None) -> None:
        self._folder = None if folder is None else Path(folder)
        self._file: Path | None = None
        """Each process has its own."""
        self._count = 0

    def add(self, publications: int) -> None:
        self._count += publications
        if self._folder is not None and self._folder.is_dir():
            if self._file is None:
                self._file = self._folder / f"{os.getpid()}-{uuid.uuid4()}"
            self._file.write_text(str(self._count))


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
        settle()
        yield pa.record_batch([[self.number], [done]], schema=DONE)


WORKER_ENDED = "Python worker exited unexpectedly"
"""Spark's words: an item that ends its process does so again, and a kill does not."""


class Lanes:
    """A `Run` of the driver's; raises `TaskFailed` where a worker ends."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark.newSession()
        self._spark.conf.set("spark.sql.adaptive.enabled", "false")
        keep_apart(self._spark)
        self._starts: dict[int, DataFrame] = {}
        self._ahead: Thread | None = None

    def __call__(self, task: Callable[[W], D], works: Sequence[W]) -> list[D]:
        if self._ahead is not None:
            self._ahead.join()
            self._ahead = None
        return self._run(task, works)

    def ahead(self, task: Callable[[W], object], works: Sequence[W]) -> None:
        """So that Spark's workers start while the driver recalls what it knew."""

        def run() -> None:
            with suppress(Exception):  # whoever asks next hears of it
                self._run(task, works)

        self._ahead = Thread(target=run, daemon=True)
        self._ahead.start()

    def _run(self, task: Callable[[W], D], works: Sequence[W]) -> list[D]:
        frames = [
            self._frame(_Task(number, task, work), work.shard) for number, work in enumerate(works)
        ]
        together = reduce(lambda frame, more: frame.union(more), frames)
        try:
            rows = together.toArrow()
        except Exception as error:
            if WORKER_ENDED in str(error):
                raise TaskFailed("a Python worker has ended") from error
            raise
        found = rows.sort_by("number").column("done").to_pylist()
        return [pickle.loads(done) for done in found]

    def close(self) -> None:
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
