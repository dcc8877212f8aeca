"""A worker process: does the tasks of its shards for as long as it is asked."""

import gc
from collections.abc import Callable, Sequence
from functools import cache
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from shortlist.matching.kernels.numbering import EMPTY, enter_all


def serve(asked: Connection) -> None:
    """Answers each list of works with what came of them, or with what went wrong, as long as
    somebody asks."""
    while True:
        task, works = asked.recv()
        asked.send(_answer(task, works))
        settle()


def _answer(task: Callable[[Any], Any], works: Sequence[Any]) -> list[Any] | Exception:
    try:
        return [task(work) for work in works]
    except Exception as error:
        return error


def prepare() -> None:
    """What numba looks up before the first kernel of a process is there then for all that are
    forked from it; and none of them goes through what all have imported, to look for garbage."""
    enter_all(np.full(1, EMPTY, np.int64), np.full(1, EMPTY, np.int64))
    gc.freeze()


@cache
def settle() -> None:
    """What a worker has in memory after its first task is an engine, mostly, and stays: Python's
    collector need not go through it again and again, which takes half a second for 50,000
    subscriptions."""
    gc.collect()
    gc.freeze()
