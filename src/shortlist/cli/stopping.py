"""What ends a command that runs on and on: a signal, or the end of standard input."""

import os
import signal
import sys
from threading import Thread
from typing import Protocol


class Running(Protocol):
    """Something that runs until it is told to stop."""

    def run(self) -> None: ...

    def stop(self) -> None: ...


def run_until_stopped(running: Running, *, with_input: bool) -> None:
    """What is under way comes to its end first. With its input it ends when standard input does:
    with whoever started it."""

    def read() -> None:
        while os.read(sys.stdin.fileno(), 1024):
            pass
        running.stop()

    if with_input:
        Thread(target=read, daemon=True).start()
    before = {
        which: signal.signal(which, lambda *_: running.stop())
        for which in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        running.run()
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)
