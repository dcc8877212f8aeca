"""Tasks in this process: who runs no others need not know how these come about."""

from collections.abc import Callable, Sequence
from typing import TypeVar

W = TypeVar("W")
D = TypeVar("D")


def run_here(task: Callable[[W], D], works: Sequence[W]) -> list[D]:
    """One after the other."""
    return [task(work) for work in works]
