"""Entries of a log on their way to a driver, in this process: batches of what there is."""

import threading
from collections.abc import Callable
from types import TracebackType

from shortlist.live.driver import Driver, Report
from shortlist.live.heartbeats import Heartbeats
from shortlist.live.laps import Laps
from shortlist.live.stopping import STOP_SECONDS, StillBusy
from shortlist.log.base import INPUT, Entry, Log
from shortlist.log.streams import within_bytes

MOST_BYTES = 64 * 2**20
"""Of the lines of a batch, but for the last one."""
POLL_SECONDS = 0.005
"""Between two looks at a log that had nothing new."""
Told = Callable[[Report, dict[int, int]], object]
"""Hears of every batch, with the time at which the log took each position."""


class LogStream:
    """Reads on in a thread until it is stopped; a batch that is under way comes to its end."""

    def __init__(
        self,
        log: Log,
        driver: Driver,
        at_most: int,
        told: Told,
        most_bytes: int = MOST_BYTES,
        patience: float = STOP_SECONDS,
        beats: Heartbeats | None = None,
    ) -> None:
        self._log = log
        self._driver = driver
        self._at_most = at_most
        self._told = told
        self._most_bytes = most_bytes
        self._beats = beats
        self._patience = patience
        """Seconds for which a batch is waited for."""
        self._stopping = threading.Event()
        self._failure: Exception | None = None
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
            raise StillBusy(f"batch {self._driver.manifest.number + 1:,}", self._patience)
        if self._failure is not None:
            raise self._failure

    def __enter__(self) -> "LogStream":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def _end(self) -> None:
        """Waits once."""
        if not self._stopping.is_set():
            self._stopping.set()
            self._thread.join(self._patience)

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                if not self.run_batch():
                    self._stopping.wait(POLL_SECONDS)
        except Exception as failure:
            self._failure = failure

    def _unread(self, after: int, most: int) -> list[Entry]:
        return [*within_bytes(self._log.read(INPUT, after, after + most), self._most_bytes)]

    def run_batch(self) -> bool:
        """Takes what there is, as far as a batch may have it; whether there was anything."""
        driver, laps = self._driver, Laps()
        base = driver.manifest.base
        after = driver.manifest.position - base
        entries = self._unread(after, self._at_most)
        if not entries:
            return False
        last = entries[-1].offset
        if self._beats is not None and self._beats.follow(last, driver.manifest):
            entries += self._unread(last, 1)  # so that nothing of this batch waits for the next
        positions = [entry.offset + base for entry in entries]
        appended = [entry.appended for entry in entries]
        lines = [entry.content for entry in entries]
        items = driver.read_task().items(positions, lines, appended)
        laps.lap("reading")
        report = driver.run_batch(items, laps=laps)
        self._told(report, dict(zip(positions, appended, strict=True)))
        return True
