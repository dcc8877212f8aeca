"""Who runs the tasks of a driver where there is no Spark."""

from collections.abc import Callable, Sequence

from shortlist.live.tasks import D, W


def run_here(task: Callable[[W], D], works: Sequence[W]) -> list[D]:
    """In this process, one after the other.

    >>> from shortlist.live.tasks import Run
    >>> run: Run = run_here
    """
    return [task(work) for work in works]
