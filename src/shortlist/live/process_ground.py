"""A deployment without Spark: its tasks in a few processes."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from shortlist.live.lanes import Workers
from shortlist.live.poison import TaskFailed
from shortlist.live.shard import Work
from shortlist.live.shard import run as run_shard
from shortlist.live.worker import prepare


class ProcessGround:
    """A ground for deployments."""

    def __init__(self, workers: int | None = None) -> None:
        """With as many workers as there are cores if nobody says how many."""
        self.shards = workers or len(os.sched_getaffinity(0))
        self._workers = Workers(self.shards)

    def start(self, works: Sequence[Work] = ()) -> None:
        """Makes the first workers, before this process has anything that they must not have; they
        may begin with works, which nobody waits for."""
        prepare()
        self._workers.start_here()
        self._workers.ahead(run_shard, works)

    @contextmanager
    def lanes(self) -> Iterator[Workers]:
        """The same workers for every attempt, with what they know, unless they have failed."""
        self._workers.start()
        try:
            yield self._workers
        except TaskFailed:
            self.close()
            raise
        finally:
            self._workers.end_busy()

    def check(self, error: Exception) -> None:
        """Another attempt has workers that answer."""

    def close(self) -> None:
        self._workers.close()
