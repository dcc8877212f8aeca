"""A worker process: does the tasks of its shards for as long as it is asked."""

import gc
import signal
from collections.abc import Callable, Sequence
from functools import cache
from multiprocessing.connection import Connection
from typing import Any


def serve(asked: Connection) -> None:
    """Answers each list of works with what came of them, or with what went wrong."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it, after the batch
    while True:
        try:
            task, works = asked.recv()
            asked.send(_answer(task, works))
        except (EOFError, BrokenPipeError):
            return
        settle()


def _answer(task: Callable[[Any], Any], works: Sequence[Any]) -> list[Any] | Exception:
    try:
        return [task(work) for work in works]
    except Exception as error:
        return error


@cache
def settle() -> None:
    """What a worker has in memory after its first task is an engine, mostly, and stays: Python's
    collector need not go through it again and again, which takes half a second for 50,000
    subscriptions."""
    gc.collect()
    gc.freeze()
