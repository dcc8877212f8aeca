"""Entries of a log on their way to a driver, in this process: batches of what there is.

What came of a batch is put out while the next one is carried out, and before that is committed;
and if the log has another whole batch by then, that is read while shards are at work.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from itertools import chain
from queue import SimpleQueue
from typing import Generic, NamedTuple, TypeVar

from shortlist.engine.stages import Read
from shortlist.live.driver import Driver, Report
from shortlist.live.heartbeats import Heartbeats
from shortlist.live.tasks import Laps
from shortlist.log.base import INPUT, Chunk, Log
from shortlist.log.streams import chunks_within_bytes
from shortlist.model.command import Command
from shortlist.model.items import Items
from shortlist.model.joined import Joined
from shortlist.model.problem import ShortlistError

# Soft limits on a batch, in lines and in bytes of lines, where the line that crosses the limit is
# included: what is read of so many stays small beside an engine, and takes a second or two.
MOST_LINES = 50_000
MOST_BYTES = 64 * 2**20
POLL_SECONDS = 0.005
"""Between two looks at a log that had nothing new."""
Told = Callable[[Report, dict[int, int]], object]
"""Hears of every batch that is put out, with the time at which the log took each position; no
other is committed meanwhile."""
STOP_SECONDS = 60.0
"""For which whoever stops a deployment waits for what is under way."""


class StillBusy(ShortlistError):
    """Something that is under way does not come to its end.

    >>> print(str(StillBusy("batch 7", 60)).partition(":")[0])
    batch 7 has not come to its end within 60 s, and is given up
    """

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(
            f"{what} has not come to its end within {seconds:g} s, and is given up:"
            " what it has not committed is done again by whoever comes next"
        )


T = TypeVar("T")


class Behind(Generic[T]):
    """One thing at a time, done by a thread while somebody goes on.

    It is a thread of one's own, so that what it has open stays open; it does not keep the process.

    >>> behind = Behind("output")
    >>> behind.begin(lambda: 1)
    >>> behind.wait(), behind.wait()
    (1, None)
    >>> behind.close()
    """

    def __init__(self, name: str) -> None:
        self._asked: SimpleQueue[tuple[Callable[[], T], Future[T]] | None] = SimpleQueue()
        self._under_way: Future[T] | None = None
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def begin(self, do: Callable[[], T]) -> None:
        """Begins with something once the last one is done."""
        self.wait()
        self._under_way = Future()
        self._asked.put((do, self._under_way))

    def wait(self) -> T | None:
        """Until nothing is under way: what came of it, which is told once; raises what went wrong,
        if it did."""
        under_way, self._under_way = self._under_way, None
        return None if under_way is None else under_way.result()

    def close(self) -> None:
        """The thread ends when it is done."""
        self._asked.put(None)

    def _run(self) -> None:
        while (asked := self._asked.get()) is not None:
            do, done = asked
            try:
                done.set_result(do())
            except BaseException as error:
                done.set_exception(error)


class ReadBatch(NamedTuple):
    """A batch that was read."""

    after: int
    """The offset before its first line."""
    last: int
    appended: dict[int, int]
    """When the log took each position."""
    items: Items
    commands: dict[int, Command]


class LogStream:
    """Reads on in a thread until it is stopped; a batch that is under way comes to its end."""

    def __init__(
        self,
        log: Log,
        driver: Driver,
        at_most: int,
        told: Told,
        most_bytes: int = MOST_BYTES,
        beats: Heartbeats | None = None,
        idle: Callable[[], object] = lambda: None,
    ) -> None:
        """Whatever is to be done while there is nothing new is done between two looks."""
        self._log = log
        self._driver = driver
        self._at_most = at_most
        self._told = told
        self._most_bytes = most_bytes
        self._beats = beats
        self._idle = idle
        self._stopping = threading.Event()
        self._failure: BaseException | None = None
        # one that is given up must not keep the process
        self._thread = threading.Thread(target=self._run, name="log stream", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def is_active(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        """Raises what went wrong, if it did; `StillBusy` where the batch does not end."""
        self._end()
        if self._thread.is_alive():
            raise StillBusy(f"batch {self._driver.manifest.number + 1:,}", STOP_SECONDS)
        if self._failure is not None:
            raise self._failure

    def __enter__(self) -> "LogStream":
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        """Waits once."""
        if not self._stopping.is_set():
            self._stopping.set()
            self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        output, ahead = Behind[None]("output"), Behind[ReadBatch | None]("reading")
        try:
            while not self._stopping.is_set():
                if not self._take(output, ahead):
                    output.wait()
                    self._idle()
                    self._stopping.wait(POLL_SECONDS)
            output.wait()
        except BaseException as failure:  # it ends this thread, and nobody else hears of it
            self._failure = failure
            with suppress(Exception):  # whoever comes next must not meet what is under way
                output.wait()
        finally:
            with suppress(Exception):
                ahead.wait()
            ahead.close()
            output.close()

    def _take(self, output: Behind[None], ahead: Behind[ReadBatch | None]) -> bool:
        """Takes what there is, as far as a batch may have it; whether there was anything."""
        driver, laps = self._driver, Laps()
        after = driver.manifest.position - driver.manifest.base
        batch = ahead.wait()
        if batch is None or batch.after != after:
            batch = self._read(after)
        if batch is None:
            return False
        laps.lap("reading")
        last, appended = batch.last, batch.appended

        def admitted() -> None:
            ahead.begin(partial(self._read_whole, last, driver.read_task()))

        def tell() -> None:
            self._told(put_out(), appended)

        put_out = driver.commit_batch(
            batch.items, commands=batch.commands, laps=laps, admitted=admitted, ready=output.wait
        )
        output.begin(tell)
        return True

    def _read(self, after: int) -> ReadBatch | None:
        """What there is behind an offset, as far as a batch may have it."""
        chunks = self._unread(after, self._at_most)
        if not chunks:
            return None
        if self._beats is not None and self._beats.follow(chunks[-1].last, self._driver.manifest):
            # so that nothing of this batch waits for the next
            chunks += self._unread(chunks[-1].last, 1)
        return self._read_batch(after, chunks, self._driver.read_task())

    def _read_whole(self, after: int, task: Read) -> ReadBatch | None:
        """The same where the log has even more: else more may come until it is the next one's
        turn."""
        chunks = self._unread(after, self._at_most)
        if not chunks or chunks[-1].last == self._log.end(INPUT):
            return None
        return self._read_batch(after, chunks, task)

    def _unread(self, after: int, most: int) -> list[Chunk]:
        chunks = self._log.chunks(INPUT, after, after + most)
        return [*chunks_within_bytes(chunks, self._most_bytes)]

    def _read_batch(self, after: int, chunks: list[Chunk], task: Read) -> ReadBatch:
        base = self._driver.manifest.base
        positions = range(chunks[0].first + base, chunks[-1].last + 1 + base)
        appended = [*chain.from_iterable(chunk.appended for chunk in chunks)]
        lines = Joined.of_parts([chunk.contents for chunk in chunks])
        items, commands = task.items(positions, lines, appended)
        times = dict(zip(positions, appended, strict=True))
        return ReadBatch(after, chunks[-1].last, times, items, commands)
