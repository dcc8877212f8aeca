"""A deployment on Spark, and one that does not wait for it: until it has started, processes do its
tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import dataclass
from threading import Thread
from types import SimpleNamespace
from typing import TYPE_CHECKING

from shortlist.live.lanes import ProcessGround, Workers
from shortlist.live.tasks import D, W
from shortlist.live.worker import prepare
from shortlist.model.problem import ShortlistError
from shortlist.spark.tasks import Lanes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from shortlist.live import running


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
        return closing(Lanes(self.spark))

    def check(self, error: Exception) -> None:
        try:
            has_ended = self.spark.sparkContext._jsc.sc().isStopped()
        except Exception:  # py4j's, of several kinds
            has_ended = True
        if has_ended:
            raise SparkEnded(f"Spark has ended: {error}; start anew") from error

    def close(self) -> None:
        """The session is whose it was."""


class StartingGround:
    """A ground for deployments on this machine.

    Spark begins to start when the first tasks are done, so that these have all cores, and takes
    over between two tasks.
    """

    def __init__(
        self,
        meanwhile: ProcessGround,
        start: Callable[[], SparkSession],
        told: Callable[[], object] = lambda: None,
    ) -> None:
        """Whoever starts Spark, and who is told when it takes over."""
        self.shards = meanwhile.shards
        self._meanwhile = meanwhile
        self._start = start
        self._told = told
        self._starting: Future[SparkGround] | None = None

    @contextmanager
    def lanes(self) -> Iterator[running.Lanes]:
        ground = self.started()
        if ground is not None:
            with ground.lanes() as lanes:
                yield lanes
            return
        with self._meanwhile.lanes() as workers, closing(_Lanes(self, workers)) as both:
            yield both

    def check(self, error: Exception) -> None:
        ground = self.started()
        if ground is not None:
            ground.check(error)

    def close(self) -> None:
        self._meanwhile.close()

    def begin(self) -> None:
        """Begins to start Spark, if nobody has."""
        if self._starting is None:
            self._starting = begin_to_make(self._made)

    def started(self) -> SparkGround | None:
        """Spark, if it has started; raises why it could not."""
        starting = self._starting
        return starting.result() if starting is not None and starting.done() else None

    def take_over(self, ground: SparkGround) -> Lanes:
        """Ends the processes."""
        self._meanwhile.close()
        self._told()
        return Lanes(ground.spark)

    def _made(self) -> SparkGround:
        """With workers that have imported what they need."""
        try:
            ground = SparkGround(self._start())
        except ShortlistError:
            raise
        except Exception as error:  # Spark's, of several kinds
            raise SparkEnded(f"Spark has not started: {error}; start anew") from error
        with ground.lanes() as lanes:
            lanes(lambda _: prepare(), [SimpleNamespace(shard=n) for n in range(self.shards)])
        return ground


class _Lanes:
    """Those of processes, and from some task on those of Spark."""

    def __init__(self, ground: StartingGround, workers: Workers) -> None:
        self._ground = ground
        self._workers = workers
        self._of_spark: Lanes | None = None

    def __call__(self, task: Callable[[W], D], works: Sequence[W]) -> list[D]:
        done = self._now()(task, works)
        self._ground.begin()
        return done

    def ahead(self, task: Callable[[W], object], works: Sequence[W]) -> None:
        self._now().ahead(task, works)

    def mend(self, task: Callable[[W], object], works: Callable[[], Sequence[W]]) -> None:
        """Whoever takes over while nothing is to be done opens the shards before they are asked."""
        before = self._of_spark
        now = self._now()
        if self._of_spark is before:
            now.mend(task, works)
        else:
            now.ahead(task, works())
        self._ground.begin()

    def close(self) -> None:
        if self._of_spark is not None:
            self._of_spark.close()

    def _now(self) -> Workers | Lanes:
        if self._of_spark is None:
            ground = self._ground.started()
            if ground is None:
                return self._workers
            self._of_spark = self._ground.take_over(ground)
        return self._of_spark


def begin_to_make(make: Callable[[], D]) -> Future[D]:
    """What is made in a thread that no exit of this process waits for.

    >>> begin_to_make(lambda: 3).result()
    3
    """
    made: Future[D] = Future()

    def run() -> None:
        try:
            made.set_result(make())
        except BaseException as error:
            made.set_exception(error)

    Thread(target=run, daemon=True).start()
    return made
