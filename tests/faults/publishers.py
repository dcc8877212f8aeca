"""Publishers that go on whatever happens, and remember what the log has acknowledged."""

import json
import threading
import time
from random import Random

from shortlist.log.base import INPUT, LogUnavailable
from shortlist.log.opening import open_log
from tests.strategies import BAD_LINES, command, publication

HOUR = 3_600_000_000
BEHIND = [0, 0, 0, 50_000, 200_000, 1_200_000]
"""Microseconds: how old items are when they are sent; some of them come too late."""


WRONG_BY = [0, 0, 0, -5 * HOUR, -HOUR, HOUR, 5 * HOUR]
"""Microseconds: how far a clock may be set."""


class Publisher(threading.Thread):
    """Appends drawn publications and commands, a few at a time, each as old as it says; if its
    clock is set now and then, what it says is wrong."""

    def __init__(self, url, seed, numbers, pause, *, clock_is_set=False):
        """Publications have these numbers, in turn."""
        super().__init__(daemon=True)
        self._clock_is_set, self._wrong_by = clock_is_set, 0
        self._url, self._numbers, self._pause = url, numbers, pause
        self._random = Random(seed)
        self._enough = threading.Event()
        self.acknowledged: list[bytes] = []

    def stop(self):
        self._enough.set()
        self.join()

    def run(self):
        log = open_log(self._url)
        while not self._enough.is_set():
            self._append(log, [self._line() for _ in range(self._random.choice([1, 1, 2, 5, 20]))])
            self._enough.wait(self._random.uniform(0, 2 * self._pause))
        log.close()

    def _append(self, log, lines):
        """Until somebody says that they are there; they may be there twice then."""
        while not self._enough.is_set():
            try:
                log.append(INPUT, lines)
            except LogUnavailable:
                continue
            self.acknowledged += lines
            return

    def _line(self):
        pick = self._random.choice
        number = next(self._numbers)
        if self._clock_is_set and self._random.random() < 0.05:
            self._wrong_by = pick(WRONG_BY)
        micros = time.time_ns() // 1000 - pick(BEHIND) + self._wrong_by
        draw = pick([publication] * 12 + [command] * 3 + [None])
        line = pick(BAD_LINES) if draw is None else json.dumps(draw(pick, micros, number))
        return line.encode()
