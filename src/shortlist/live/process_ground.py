"""A deployment without Spark: its tasks in a few processes, its lines straight from the log."""

import os

from shortlist.live.driver import Driver
from shortlist.live.heartbeats import Heartbeats
from shortlist.live.lanes import Workers
from shortlist.live.log_stream import LogStream
from shortlist.live.running import Told, Wanted
from shortlist.live.worker import look_up
from shortlist.log.base import Log


class ProcessGround:
    """A ground for deployments."""

    def __init__(self, workers: int | None = None) -> None:
        """With as many workers as there are cores if nobody says how many."""
        self.shards = workers or len(os.sched_getaffinity(0))
        self._first: Workers | None = None

    def start(self) -> None:
        """Makes the first workers, before this process has anything that they must not have."""
        look_up()
        self._first = Workers(self.shards)
        self._first.start_here()

    def lanes(self) -> Workers:
        workers, self._first = self._first or Workers(self.shards), None
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
