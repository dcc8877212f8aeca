"""Files and folders that nobody but their owner reads: what is in them may concern people."""

import os
from pathlib import Path

from shortlist.log.durable import make_folder

FILE_MODE, FOLDER_MODE = 0o600, 0o700


def open_private(path: str | Path, flags: int) -> int:
    """An `opener` for `open`: a file that is made by it is its owner's alone.

    >>> import tempfile
    >>> with open(f"{tempfile.mkdtemp()}/secret", "x", opener=open_private) as file:
    ...     oct(os.fstat(file.fileno()).st_mode & 0o777)
    '0o600'
    """
    return os.open(path, flags, FILE_MODE)


def make_private(folder: Path) -> None:
    """Makes a folder, and those above it, where there are none; those that it makes are private."""
    make_folder(folder, FOLDER_MODE)
