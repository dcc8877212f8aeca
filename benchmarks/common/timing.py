"""Seconds. Others may use the machine too, so those of one core are what this process got."""

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

MOST_RUNS = 7


def timed(job: Callable[[], Result]) -> tuple[Result, float]:
    """What a job gives, and the seconds that went by."""
    started = time.perf_counter()
    result = job()
    return result, time.perf_counter() - started


def core_timed(job: Callable[[], Result]) -> tuple[Result, float]:
    """What a job gives, and the seconds of a core that it used."""
    started = time.process_time()
    result = job()
    return result, time.process_time() - started


def best_of(job: Callable[[], Result], patience: float) -> tuple[Result, float]:
    """As `core_timed`, the best of several runs; after so many seconds none is begun.

    >>> total, seconds = best_of(lambda: sum(range(100_000)), patience=0.01)
    >>> total, 0 < seconds < 1
    (4999950000, True)
    """
    result, best = core_timed(job)
    spent, runs = best, 1
    while spent < patience and runs < MOST_RUNS:
        result, seconds = core_timed(job)
        best, spent, runs = min(best, seconds), spent + seconds, runs + 1
    return result, best
