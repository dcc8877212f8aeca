"""Files and names that survive the loss of power, and those that nobody but their owner reads: what
is in them may concern people."""

import os
import re
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from shortlist.model.problem import ShortlistError

FILE_MODE, FOLDER_MODE = 0o600, 0o700


def open_private(path: str | Path, flags: int) -> int:
    """An `opener` for `open`: a file that is made by it is its owner's alone.

    >>> import tempfile
    >>> with open(f"{tempfile.mkdtemp()}/secret", "x", opener=open_private) as file:
    ...     oct(os.fstat(file.fileno()).st_mode & 0o777)
    '0o600'
    """
    return os.open(path, flags, FILE_MODE)


def make_durable(folder: Path) -> None:
    """The names in a folder survive the loss of power from here on."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def write_whole(
    target: Path, content: bytes | memoryview, opener: Callable[[str, int], int] | None = None
) -> None:
    """A file that is whole when it is there, in place of what was there before; when this returns,
    its content is durable, and with `make_durable` its name."""
    draft = target.with_name(f".{uuid.uuid4().hex}")
    try:
        with open(draft, "xb", opener=opener) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


class NotLocal(ShortlistError, ValueError):
    """A URL in place of a path on this machine."""


# A scheme has two letters or more: one is a drive of Windows. A `Path` has one slash of `s3a://`.
URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def local_path(path: str | Path) -> Path:
    """Return a path on this machine.

    Raise `NotLocal` for a URL, of which pathlib would make a local folder that is named `s3a:`.

    >>> local_path("data/city").as_posix()
    'data/city'
    >>> local_path("s3a://bucket/city")
    Traceback (most recent call last):
    ...
    shortlist.log.durable.NotLocal: s3a://bucket/city: expected a path that this machine mounts,...
    """
    if URL.match(str(path)):
        raise NotLocal(
            f"{path}: expected a path that this machine mounts, found a URL: leave out `file://`;"
            " object storage has to be mounted as a folder"
        )
    return Path(path)


KNOWN: set[Path] = set()
"""Folders whose own names this process has made durable."""


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Makes a folder, and those above it, where there are none.

    Its name survives the loss of power, also where another process has made it and ended then.

    >>> import tempfile
    >>> made = Path(tempfile.mkdtemp(), "some", "folder")
    >>> make_folder(made), made.is_dir()
    (None, True)
    """
    if folder in KNOWN and folder.is_dir():
        return
    if not folder.is_dir():
        make_folder(folder.parent, mode)
        folder.mkdir(mode, exist_ok=True)
    with suppress(PermissionError):  # it is in somebody else's
        make_durable(folder.parent)
    KNOWN.add(folder)


def make_private(folder: Path) -> None:
    """Makes a folder, and those above it, where there are none; those that it makes are private."""
    make_folder(folder, FOLDER_MODE)
