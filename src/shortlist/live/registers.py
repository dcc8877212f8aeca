"""Where manifests are committed, and the last one that was."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from shortlist.live.manifest import Manifest
from shortlist.log.base import Moved, Register
from shortlist.model.problem import ShortlistError

MANIFEST = "manifest"
"""The register that has it."""


class Registers(Protocol):
    """A log, or a folder."""

    def register(self, name: str) -> Register | None: ...

    def put(self, name: str, content: bytes, revision: int) -> int: ...


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
    >>> from shortlist.live.folder_registers import FolderRegisters
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
