"""What a person sees while a long job runs; nothing where nobody looks."""

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
    ProgressColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

POLL_SECONDS = 0.3


class Steps:
    """The steps of a job, each shown while it lasts."""

    def __init__(self, console: Console, quiet: bool = False) -> None:
        self.console = console
        self._shown = console.is_terminal and not quiet

    @contextmanager
    def step(self, description: str) -> Iterator[None]:
        """A step of unknown length."""
        with self._progress() as progress:
            progress.add_task(description, total=None)
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
            self._progress(BarColumn(), MofNCompleteColumn()) as progress,
        ):
            task = progress.add_task(description, total=total)
            watcher = threading.Thread(target=_watch, args=(progress, task, Path(folder), done))
            watcher.start()
            try:
                yield folder
            finally:
                done.set()
                watcher.join()

    def _progress(self, *measures: ProgressColumn) -> Progress:
        return Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            *measures,
            TimeElapsedColumn(),
            console=self.console,
            transient=True,
            disable=not self._shown,
        )


def _watch(progress: Progress, task: TaskID, folder: Path, done: threading.Event) -> None:
    while not done.wait(POLL_SECONDS):
        # a file that is being written right now may be empty
        counts = (int(file.read_text() or 0) for file in folder.iterdir())
        progress.update(task, completed=sum(counts))
