"""A deployment on Spark: tasks in workers of a session, lines through a streaming query."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shortlist.live.driver import Driver
from shortlist.live.heartbeats import Heartbeats
from shortlist.live.running import Told, Wanted
from shortlist.log.base import Log
from shortlist.model.problem import ShortlistError
from shortlist.spark.streaming import Stream, stream_log
from shortlist.spark.tasks import Lanes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkEnded(ShortlistError, ConnectionError):
    """The JVM is gone, or has given up: only a new process can start it again."""


def remove_before(checkpoints: Path, epoch: int) -> None:
    """Removes what drivers of earlier epochs have left; what a later one uses stays."""
    for folder in checkpoints.glob("*"):
        if not folder.name.isdecimal() or int(folder.name) < epoch:
            shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class SparkGround:
    """A ground for deployments."""

    spark: SparkSession

    @property
    def shards(self) -> int:
        return int(self.spark.sparkContext.defaultParallelism)

    def lanes(self) -> Lanes:
        return Lanes(self.spark)

    def streaming(
        self, wanted: Wanted, driver: Driver, log: Log, told: Told, beats: Heartbeats | None
    ) -> Stream:
        """The manifest says where to go on, so Spark's own checkpoints are of one run only.

        Spark decides what a batch reads, so heartbeats come behind it.
        """
        epoch = driver.manifest.epoch
        checkpoints = wanted.folder / "checkpoints"
        remove_before(checkpoints, epoch)
        after = driver.manifest.position - driver.manifest.base
        lines = stream_log(
            self.spark,
            wanted.log,
            after=after,
            at_most=wanted.at_most,
            most_bytes=wanted.most_bytes,
        )
        stream = Stream(lines, driver, checkpoints / str(epoch), told)
        stream.start()
        return stream

    def check(self, error: Exception) -> None:
        if not self._is_there():
            raise SparkEnded(f"Spark has ended: {error}; start anew") from error

    def _is_there(self) -> bool:
        try:
            return not self.spark.sparkContext._jsc.sc().isStopped()
        except Exception:  # py4j's, of several kinds
            return False
