"""Registers in a folder, for deployments without a log: each revision is a file of its own."""

import os
import uuid
from pathlib import Path

from shortlist.log.base import Moved, Register
from shortlist.log.durable import make_durable
from shortlist.log.private import make_private, open_private

KEPT = 2
"""Revisions that stay, for those who are just reading one."""


class FolderRegisters:
    """A revision is linked to its name, which fails if somebody else has done so before.

    >>> import tempfile
    >>> registers = FolderRegisters(tempfile.mkdtemp())
    >>> registers.put("manifest", b"one", 0), registers.put("manifest", b"two", 1)
    (1, 2)
    >>> registers.put("manifest", b"another two", 1)
    Traceback (most recent call last):
    ...
    shortlist.log.base.Moved: manifest: expected revision 1, found 2
    >>> registers.register("manifest")
    Register(revision=2, content=b'two')
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        make_private(self._folder)

    def register(self, name: str) -> Register | None:
        while revisions := self._revisions(name):
            try:
                return Register(revisions[-1], self._path(name, revisions[-1]).read_bytes())
            except FileNotFoundError:
                continue  # several newer ones came meanwhile
        return None

    def put(self, name: str, content: bytes, revision: int) -> int:
        revisions = self._revisions(name)
        present = revisions[-1] if revisions else 0
        draft = self._folder / f"draft-{uuid.uuid4().hex}"
        try:
            with open(draft, "xb", opener=open_private) as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if present != revision:
                raise Moved(f"{name}: expected revision {revision}, found {present}")
            try:
                os.link(draft, self._path(name, revision + 1))
            except FileExistsError:
                raise Moved(f"{name}: expected revision {revision}, found a later one") from None
        finally:
            draft.unlink(missing_ok=True)
        if self._revisions(name)[-1] > revision + 1:
            # several came since `present` was looked at, and the name was free again
            self._path(name, revision + 1).unlink()
            raise Moved(f"{name}: expected revision {revision}, found a later one")
        make_durable(self._folder)
        for old in revisions[: 1 - KEPT]:
            self._path(name, old).unlink(missing_ok=True)
        return revision + 1

    def _revisions(self, name: str) -> list[int]:
        found = (path.name.rpartition(".") for path in self._folder.glob(f"{name}.*"))
        return sorted(int(number) for stem, _, number in found if stem == name)

    def _path(self, name: str, revision: int) -> Path:
        return self._folder / f"{name}.{revision}"
