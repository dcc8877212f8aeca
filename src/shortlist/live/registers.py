"""Where manifests are committed, and the last one that was."""

from typing import Protocol

from shortlist.live.manifest import Manifest
from shortlist.log.base import Register
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


def committed(registers: Registers) -> tuple[int, Manifest]:
    """The last manifest, with its revision."""
    register = registers.register(MANIFEST)
    if register is None:
        raise NoDeployment("expected a deployment, found none: start one with `shortlist up`")
    return register.revision, Manifest.of_bytes(register.content)
