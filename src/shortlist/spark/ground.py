"""A deployment on Spark: its tasks in workers of a session."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shortlist.model.problem import ShortlistError
from shortlist.spark.tasks import Lanes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkEnded(ShortlistError, ConnectionError):
    """The JVM is gone, or has given up: only a new process can start it again."""


@dataclass(frozen=True, slots=True)
class SparkGround:
    """A ground for deployments."""

    spark: SparkSession

    @property
    def shards(self) -> int:
        return int(self.spark.sparkContext.defaultParallelism)

    def lanes(self) -> closing[Lanes]:
        return closing(self.make_lanes())

    def make_lanes(self) -> Lanes:
        """For whoever closes them."""
        return Lanes(self.spark)

    def check(self, error: Exception) -> None:
        if not self._is_there():
            raise SparkEnded(f"Spark has ended: {error}; start anew") from error

    def close(self) -> None:
        """The session is whose it was."""

    def _is_there(self) -> bool:
        try:
            return not self.spark.sparkContext._jsc.sc().isStopped()
        except Exception:  # py4j's, of several kinds
            return False
