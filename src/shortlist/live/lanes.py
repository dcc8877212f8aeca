"""Who runs the tasks of a driver where there is no Spark: a few other processes."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from shortlist.live.forking import begin_to_import, fork, fork_here
from shortlist.live.poison import TaskFailed
from shortlist.live.shard import Work
from shortlist.live.shard import run as run_shard
from shortlist.live.tasks import D, OfShard, W
from shortlist.live.worker import prepare, serve
from shortlist.model.problem import ShortlistError

MOST_ATTEMPTS = 3
"""At one list of works: a worker that ends again and again is ended by what it does."""
SPARE = 2
"""Workers in reserve: what else can replace one that is killed takes a second to be ready."""
BUSY_SECONDS = 0.5
"""For which everybody has enough to do after a worker was replaced."""


class WorkersEnded(TaskFailed, ShortlistError):
    """Workers that end whenever they are asked for something."""


class Workers:
    """Processes that each do the tasks of some shards: always the same, which they keep in memory.

    One that is killed is replaced, and what it was asked for done again: what a task does counts
    only when somebody hears of it.
    """

    def __init__(self, count: int) -> None:
        self._workers: list[_Worker | None] = [None] * count
        self._spare: list[_Worker] = []
        self._emptied: float | None = None
        """When the last one was taken of the reserve, if nobody has seen to what comes after."""

    def __call__(self, task: Callable[[W], D], works: Sequence[W]) -> list[D]:
        shares = self._shares(works)
        asked = {
            number: (task, [works[place] for place in places]) for number, places in shares.items()
        }
        answers = self._answers(asked)
        self._prepare()
        found: dict[int, D] = {}
        for number, places in shares.items():
            answer = answers[number]
            if isinstance(answer, Exception):
                raise answer
            found.update(zip(places, answer, strict=True))
        return [found[place] for place in range(len(works))]

    def start(self) -> None:
        """Begins now, and not with the first task."""
        for number in range(len(self._workers)):
            self._worker(number)

    def start_here(self) -> None:
        """The same with copies of this process, which has to be as `fork_here` says; and some in
        reserve."""
        for number in range(len(self._workers)):
            self._workers[number] = _Worker(*fork_here(serve))
        self._spare = [_Worker(*fork_here(serve)) for _ in range(SPARE)]

    def _prepare(self) -> None:
        """Sees to it, a while after the last one was taken of the reserve, that who is killed then
        can be replaced at once."""
        if self._emptied is not None and time.monotonic() - self._emptied > BUSY_SECONDS:
            begin_to_import()
            self._emptied = None

    def ahead(self, task: Callable[[W], object], works: Sequence[W]) -> None:
        for number, places in self._shares(works).items():
            self._worker(number).ask((task, [works[place] for place in places]), unheard=True)

    def mend(self, task: Callable[[W], object], works: Callable[[], Sequence[W]]) -> None:
        """Replaces those that have ended meanwhile, which begin at once with their part of works,
        and not when they are asked again."""
        ended = {
            number
            for number, worker in enumerate(self._workers)
            if worker is not None and not worker.process.is_alive()
        }
        for number in ended:
            self._forget(number)
        if ended:
            self.ahead(task, [work for work in works() if self._number(work) in ended])
        self._prepare()

    def end_busy(self) -> None:
        """Ends those whose answer nobody waits for any more."""
        for number, worker in enumerate(self._workers):
            if worker is not None and worker.is_busy:
                self._forget(number)

    def close(self) -> None:
        """Lets go of what was kept."""
        for worker in (*self._workers, *self._spare):
            if worker is not None:
                worker.end()
        self._workers, self._spare = [None] * len(self._workers), []

    @property
    def processes(self) -> list[int]:
        """Those that there are."""
        return [worker.process.pid or 0 for worker in self._workers if worker is not None]

    def _shares(self, works: Sequence[W]) -> dict[int, list[int]]:
        """The places of each worker's works."""
        shares: dict[int, list[int]] = {}
        for place, work in enumerate(works):
            shares.setdefault(self._number(work), []).append(place)
        return shares

    def _number(self, work: OfShard) -> int:
        return work.shard % len(self._workers)

    def _answers(self, asked: dict[int, tuple[Any, list[Any]]]) -> dict[int, Any]:
        """What each worker answers, all at the same time."""
        answers: dict[int, Any] = {}
        for _ in range(MOST_ATTEMPTS):
            waiting = [number for number in asked if number not in answers]
            for number in waiting:
                self._worker(number).ask(asked[number])
            for number in waiting:
                try:
                    answers[number] = self._worker(number).answer()
                except (EOFError, OSError):
                    self._forget(number)
            if len(answers) == len(asked):
                return answers
        raise WorkersEnded(f"expected an answer, found that workers ended {MOST_ATTEMPTS} times")

    def _worker(self, number: int) -> "_Worker":
        worker = self._workers[number]
        if worker is None:
            worker = self._workers[number] = self._of_reserve() or _Worker(*fork(serve))
        return worker

    def _of_reserve(self) -> "_Worker | None":
        while self._spare:
            worker = self._spare.pop()
            self._emptied = None if self._spare else time.monotonic()
            if worker.process.is_alive():
                return worker
            worker.end()
        return None

    def _forget(self, number: int) -> None:
        worker = self._workers[number]
        if worker is not None:
            worker.end()
        self._workers[number] = None


class ProcessGround:
    """A ground for deployments without Spark: their tasks in a few processes."""

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


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    connection: Connection
    unheard: int = 0
    """Answers that nobody waits for, before the next one."""
    is_busy: bool = False
    """With what somebody waits for."""

    def ask(self, what: object, *, unheard: bool = False) -> None:
        """One that has ended is found when its answer is read."""
        self.unheard += unheard
        self.is_busy |= not unheard
        with suppress(OSError):
            self.connection.send(what)

    def answer(self) -> Any:
        while self.unheard:
            self.connection.recv()
            self.unheard -= 1
        answer, self.is_busy = self.connection.recv(), False
        return answer

    def end(self) -> None:
        self.connection.close()
        self.process.join(timeout=5)
        self.process.kill()
        self.process.join()
