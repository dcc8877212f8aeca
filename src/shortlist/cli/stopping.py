"""What ends a command that runs on and on: a signal, or the end of standard input."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Protocol


class Stoppable(Protocol):
    """Something that runs until it is told to stop."""

    def stop(self) -> None: ...


def stop_with_input(running: Stoppable) -> None:
    """It ends when standard input does: with whoever started it."""

    def read() -> None:
        while os.read(sys.stdin.fileno(), 1024):
            pass
        running.stop()

    Thread(target=read, daemon=True).start()


@contextmanager
def stopped_by_signals(running: Stoppable) -> Iterator[None]:
    """What is under way comes to its end first."""
    before = {
        which: signal.signal(which, lambda *_: running.stop())
        for which in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)
