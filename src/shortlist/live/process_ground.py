"""A deployment without Spark: its tasks in a few processes."""

import os

from shortlist.live.lanes import Workers
from shortlist.live.worker import look_up


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

    def check(self, error: Exception) -> None:
        """Every attempt begins with new workers."""
