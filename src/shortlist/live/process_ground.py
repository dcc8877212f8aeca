"""A deployment without Spark: its tasks in a few processes, its lines straight from the log."""

import os
from dataclasses import dataclass

from shortlist.live.driver import Driver
from shortlist.live.heartbeats import Heartbeats
from shortlist.live.lanes import Workers
from shortlist.live.log_stream import LogStream
from shortlist.live.running import Told, Wanted
from shortlist.log.base import Log


@dataclass(frozen=True, slots=True)
class ProcessGround:
    """A ground for deployments."""

    workers: int | None = None
    """As many as there are cores if nobody says how many."""

    @property
    def shards(self) -> int:
        return self.workers or len(os.sched_getaffinity(0))

    def lanes(self) -> Workers:
        workers = Workers(self.shards)
        workers.start()
        return workers

    def streaming(
        self, wanted: Wanted, driver: Driver, log: Log, told: Told, beats: Heartbeats | None
    ) -> LogStream:
        stream = LogStream(log, driver, wanted.at_most, told, wanted.most_bytes, beats=beats)
        stream.start()
        return stream

    def check(self, error: Exception) -> None:
        """Every attempt begins with new workers."""
