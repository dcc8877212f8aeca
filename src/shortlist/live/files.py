"""Immutable files in a folder: written once, under names that nobody else has."""

import time
import uuid
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from shortlist.log.durable import make_durable, make_private, open_private, write_whole
from shortlist.model.settings import Limits

COMPILED = "compiled"
"""The folder of registries that were compiled; `live/compiled.py` knows what is in it."""


class Stored(NamedTuple):
    """A file, and how large it is."""

    name: str
    size: int


def epoch_of(name: str) -> int:
    """Of the driver that a file is of.

    >>> epoch_of("items-7-5dd3b1a5e8f24c0a9d4c"), epoch_of("items-5dd3b1a5e8f24c0a9d4c")
    (7, 0)
    """
    _, _, rest = name.partition("-")
    epoch, dash, _ = rest.partition("-")
    return int(epoch) if dash and epoch.isdecimal() else 0


class Files:
    """A folder that every machine of a deployment sees under the same path.

    Names tell the epoch of the driver that they are of: who has an earlier one removes none of
    them.

    >>> import tempfile
    >>> files = Files(tempfile.mkdtemp())
    >>> name = files.write("state", b"all that is kept")
    >>> files.read(name)
    b'all that is kept'
    """

    def __init__(self, folder: str | Path, epoch: int = 0) -> None:
        # tasks run in other folders
        self.folder = Path(folder).absolute()
        self.epoch = epoch
        self._unneeded: dict[str, float] = {}
        """Since when."""

    def of_epoch(self, epoch: int) -> "Files":
        """The same folder for a driver of this epoch."""
        files = Files(self.folder, epoch)
        files._unneeded = self._unneeded
        return files

    def write(self, kind: str, content: bytes | memoryview) -> str:
        """The name of a new file; when this returns, its content is durable, and with `settle` its
        name."""
        name = self.new_name(kind)
        make_private(self.folder)
        write_whole(self.path(name), content, open_private)
        return name

    def new_name(self, kind: str) -> str:
        """Return a name that no other file has."""
        return f"{kind}-{self.epoch}-{uuid.uuid4().hex}"

    def settle(self) -> None:
        """The names of what was written so far, by whomever, survive the loss of power: once for
        all files of a batch, before a manifest names them."""
        make_durable(self.folder)

    def store(self, kind: str, content: bytes) -> Stored:
        """As `write`, for those who keep sizes in mind."""
        return Stored(self.write(kind, content), len(content))

    def read(self, name: str) -> bytes:
        return self.path(name).read_bytes()

    def path(self, name: str) -> Path:
        return self.folder / name

    def collect(self, needed: Container[str], retention: float) -> int:
        """Removes what nobody has needed for so many seconds, as far as is known here; how many.
        What is of a later epoch stays.

        >>> import tempfile
        >>> files = Files(tempfile.mkdtemp())
        >>> old, new = files.write("state", b"old"), files.write("state", b"new")
        >>> files.collect(needed={new}, retention=0), [path.name for path in files.folder.iterdir()]
        (1, ['state-...'])
        """
        found = {path.name for path in self.folder.glob("*")} - {COMPILED}
        names = {name for name in found if epoch_of(name) <= self.epoch}
        now = time.monotonic()
        unneeded = {name: self._unneeded.get(name, now) for name in names if name not in needed}
        self._unneeded.clear()
        self._unneeded.update(unneeded)
        old = [name for name, since in self._unneeded.items() if now - since >= retention]
        for name in old:
            self.path(name).unlink(missing_ok=True)
        return len(old)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardWork:
    """What every task of a batch is told; it travels with the task, so what is large is a file."""

    folder: str
    epoch: int
    """Of the driver whose work it is."""
    shard: int
    """Or lane: what has the same number is best done in the same process."""
    shards: int
    limits: Limits

    @property
    def files(self) -> Files:
        return Files(self.folder, self.epoch)
