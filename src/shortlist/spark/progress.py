"""How far a task is, for whoever watches on the same machine."""

from __future__ import annotations

import os
import uuid
from pathlib import Path


class Progress:
    """Counts publications in a file of its own, if there is a folder to put it into."""

    def __init__(self, folder: str | None) -> None:
        self._folder = None if folder is None else Path(folder)
        self._file: Path | None = None
        """Each process has its own."""
        self._count = 0

    def add(self, publications: int) -> None:
        self._count += publications
        if self._folder is not None and self._folder.is_dir():
            if self._file is None:
                self._file = self._folder / f"{os.getpid()}-{uuid.uuid4()}"
            self._file.write_text(str(self._count))
