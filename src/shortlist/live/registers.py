"""Where manifests are committed, and the last one that was."""

import os
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from shortlist.live.manifest import Manifest
from shortlist.log.base import Moved, Register
from shortlist.log.durable import make_durable, make_private, open_private
from shortlist.model.problem import ShortlistError

MANIFEST = "manifest"
"""The register that has it."""
KEPT = 2
"""Revisions in a folder that stay, for those who are just reading one."""


class Registers(Protocol):
    """A log, or a folder."""

    def register(self, name: str) -> Register | None: ...

    def put(self, name: str, content: bytes, revision: int) -> int: ...


class FolderRegisters:
    """Those in a folder, for deployments without a log: each revision is a file of its own.

    It is linked to its name, which fails if somebody else has done so before.

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


class NoDeployment(ShortlistError, LookupError):
    """A log or folder without a deployment."""


def has_deployment(registers: Registers) -> bool:
    return registers.register(MANIFEST) is not None


MOST_ATTEMPTS = 100
"""At taking over from a driver that commits meanwhile."""


def take_over(
    registers: Registers, check: Callable[[Manifest], object] = lambda manifest: None
) -> tuple[int, Manifest]:
    """The last manifest in an epoch of one's own, with its revision: from here on nobody of an
    earlier epoch commits anything. It may be checked before that.

    >>> from tempfile import mkdtemp
    >>> from shortlist.live.driver import begin
    >>> from shortlist.live.files import Files
    >>> from shortlist.model.registry import Registry
    >>> registers = FolderRegisters(mkdtemp())
    >>> begin(registers, Files(mkdtemp()), Registry(), 1)
    >>> [take_over(registers)[1].epoch for _ in range(2)]
    [1, 2]
    """
    for _ in range(MOST_ATTEMPTS):
        revision, manifest = committed(registers)
        check(manifest)
        ours = replace(manifest, epoch=manifest.epoch + 1)
        with suppress(Moved):
            return registers.put(MANIFEST, ours.to_bytes(), revision), ours
    raise Moved(f"others committed meanwhile, {MOST_ATTEMPTS} times")


def committed(registers: Registers) -> tuple[int, Manifest]:
    """The last manifest, with its revision."""
    register = registers.register(MANIFEST)
    if register is None:
        raise NoDeployment("expected a deployment, found none: start one with `shortlist up`")
    return register.revision, Manifest.of_bytes(register.content)
