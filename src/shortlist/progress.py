"""What a person sees while a long job runs; nothing where nobody looks."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

POLL_SECONDS = 0.3


class Steps:
    """The steps of a job, shown one after the other while they last."""

    def __init__(self, console: Console, quiet: bool = False) -> None:
        self._shown = console.is_terminal and not quiet
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            disable=not self._shown,
        )

    @contextmanager
    def step(self, description: str) -> Iterator[None]:
        """A step of unknown length."""
        with self._task(description, None):
            yield

    @contextmanager
    def counted(self, description: str, total: int) -> Iterator[str | None]:
        """A step that tasks report on, each writing how far it is to a file of the given folder."""
        if not self._shown:
            yield None
            return
        done = threading.Event()
        with (
            tempfile.TemporaryDirectory(prefix="shortlist-") as folder,
            self._task(description, total) as task,
        ):
            watcher = threading.Thread(target=self._watch, args=(Path(folder), task, done))
            watcher.start()
            try:
                yield folder
            finally:
                done.set()
                watcher.join()

    @contextmanager
    def _task(self, description: str, total: int | None) -> Iterator[int]:
        with self._progress:
            task = self._progress.add_task(description, total=total)
            yield task
            self._progress.remove_task(task)

    def _watch(self, folder: Path, task: int, done: threading.Event) -> None:
        while not done.wait(POLL_SECONDS):
            reached = sum(_count(file) for file in folder.iterdir())
            self._progress.update(task, completed=reached)  # type: ignore[arg-type]


def _count(file: Path) -> int:
    """A file that is being written right now may be empty."""
    return int(file.read_text() or 0)
