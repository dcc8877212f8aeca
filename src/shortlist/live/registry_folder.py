"""A registry that was compiled beside its files: whoever begins with it opens it.

The folder says of which files it was made and by which version, and is of no use to others. It has
a file for an admission and one for each shard.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

from shortlist.engine.admission import Admission
from shortlist.engine.compiled import opened, opened_admission
from shortlist.engine.shard import Shard
from shortlist.intake.columns import RegistryColumns
from shortlist.live.compiled import ADMISSION, CompiledRegistries
from shortlist.matching.index import storage
from shortlist.matching.index.storage import FILE, Parts, UnusableIndex, open_parts
from shortlist.model.items import Wanted
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits, Settings
from shortlist.model.vocabulary import Vocabulary

ABOUT = "about.json"
STATE = "state"
"""What a deployment begins with, beside what is compiled."""
SUFFIX = ".compiled"


class NotCompiled(Exception):
    """Why a folder is not of the registry that it lies beside."""


def folder_beside(registry: str | Path) -> Path:
    """Where a registry is compiled to.

    >>> folder_beside("city/registry.yaml").name
    'registry.yaml.compiled'
    """
    place = Path(registry).absolute()
    return place.with_name(f"{place.name}{SUFFIX}")


def source_key(registry: str | Path, limits: Limits) -> str:
    """Return what a compiled registry is known by: the same only for the same files, with degrees
    as coarse.

    No size is a part of it: what was compiled was accepted, under whichever limits.
    """
    place = Path(registry)
    found = blake2b(repr(limits.degree_bits).encode(), digest_size=16)
    for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
        if file.is_file():
            found.update(f"{file.relative_to(place)}\n".encode())
            with file.open("rb") as content:
                found.update(file_digest(content, "blake2b").digest())
    return found.hexdigest()


@dataclass(frozen=True, slots=True)
class CompiledRegistry:
    """One that is whole, and of this program."""

    folder: Path
    limits: Limits
    shards: int
    subscriptions: int
    shortlists: int
    keys: Mapping[str, str]
    """By name, what each file goes by where a deployment keeps such."""

    @classmethod
    def beside(cls, registry: str | Path, limits: Limits | None = None) -> "CompiledRegistry":
        """The one of a registry's files, as these are now; else `NotCompiled`."""
        limits, folder = limits or Limits(), folder_beside(registry)
        try:
            about = json.loads((folder / ABOUT).read_bytes())
        except (OSError, ValueError):
            raise NotCompiled(f"{folder} holds no compiled registry") from None
        anew = "`shortlist compile` makes it anew"
        if about.get("version") != storage.VERSION:
            found = about.get("version", "an earlier one")
            raise NotCompiled(f"{folder} is of version {found}, not {storage.VERSION}; {anew}")
        if about["key"] != source_key(registry, limits):
            raise NotCompiled(f"{folder} is of other files or other degrees; {anew}")
        return cls.of(folder, limits, about)

    @classmethod
    def of(cls, folder: Path, limits: Limits, about: dict[str, Any]) -> "CompiledRegistry":
        """The one in a folder that says this of itself."""
        own = ("key", "version", "folder")
        said = {name: value for name, value in about.items() if name not in own}
        return cls(folder / about["folder"], limits, **said)

    @property
    def rest(self) -> Registry:
        """All but shortlists and subscriptions."""
        return RegistryColumns(self.parts(ADMISSION)["columns"]).rest

    def admission(self, settings: Settings) -> Admission:
        """One that has let nothing in yet."""
        return opened_admission(self.parts(ADMISSION), settings)

    def shard(self, number: int = 0) -> Shard:
        """One that has seen nothing yet."""
        return opened(self.parts(shard_name(number)), self.limits)

    @property
    def vocabulary(self) -> Vocabulary:
        return self.rest.vocabulary

    def folder_of(self, shard: int) -> str:
        """Where a shard is."""
        return str(self.folder / shard_name(shard))

    def parts(self, name: str) -> Parts:
        """Those of an admission or of a shard."""
        about, parts = open_parts(self.folder / name)
        if about != self.keys[name]:
            raise UnusableIndex(f"{self.folder / name} is of another registry; compile it anew")
        return parts

    @property
    def wanted(self) -> Wanted:
        """What has to be known of publications."""
        return self.admission(Settings(limits=self.limits)).wanted

    def registry(self) -> Registry:
        """All of it, as objects."""
        return self.admission(Settings(limits=self.limits)).roster.registry()

    def first_states(self, files: Path) -> tuple[bytes, list[bytes]]:
        """The whole registry, and the states of shards that have seen nothing yet, for a deployment
        with such files; what is compiled is lent to it."""
        known = CompiledRegistries(files)
        for name, key in self.keys.items():
            known.adopt(key, self.folder / name / FILE)
        whole, *parts = (
            (self.folder / name / STATE).read_bytes()
            for name in (ADMISSION, *map(shard_name, range(self.shards)))
        )
        return whole, parts


def shard_name(number: int) -> str:
    return f"shard-{number}"


def admission_of(registry: Registry | CompiledRegistry, settings: Settings) -> Admission:
    """One that has let nothing in yet."""
    if isinstance(registry, CompiledRegistry):
        return registry.admission(settings)
    return Admission(registry, settings)
