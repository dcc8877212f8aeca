"""An index as a folder: files of arrays, and a manifest that names them.

No file is ever changed. A new index has files of other names, and takes the place of the old one
with its manifest, which is replaced in one step.
"""

import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

from shortlist.matching.index.array_files import (
    Array,
    DamagedFile,
    Seal,
    map_arrays,
    write_arrays,
)
from shortlist.matching.index.descriptions import described, layout, restored

FORMAT, VERSION = "shortlist index", 2
MANIFEST = "manifest.json"
AGAIN = "save the index again"


class UnusableIndex(Exception):
    """A folder holds no index that this program can open: what is wrong, where, what to do."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is known about an index, and the file of each of its parts."""

    about: Any
    files: dict[str, tuple[str, Seal]]


def save_parts(folder: Path, about: Any, parts: Mapping[str, Any]) -> None:
    """Saves parts, each a dataclass of arrays; what was saved in the folder before is replaced.

    Until the last moment, and if anything fails, the folder holds what it held.

    >>> from shortlist.matching.index.texts import Texts
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save_parts(Path(folder), "two words", {"words": Texts.plain(["war", "love"])})
    ...     about, parts = open_parts(Path(folder))
    >>> about, list(parts["words"])
    ('two words', ['war', 'love'])
    """
    folder.mkdir(parents=True, exist_ok=True)
    token = token_hex(8)
    manifest = folder / f"manifest-{token}.json"
    ours = [manifest, *(folder / f"{name}-{token}.arrays" for name in parts)]
    try:
        files = {}
        for (name, value), file in zip(parts.items(), ours[1:], strict=True):
            arrays: list[Array] = []
            description = described(value, arrays)
            files[name] = file.name, write_arrays(file, description, arrays)
        _write_manifest(manifest, Manifest(about, files))
        ours += _named(folder)
        os.replace(manifest, folder / MANIFEST)
        _sync(folder)
    finally:
        for file in {*ours} - {*_named(folder)}:
            file.unlink(missing_ok=True)


def open_parts(folder: Path, verify: bool = True) -> tuple[Any, dict[str, Any]]:
    """What `save_parts` saved, or an `UnusableIndex`."""
    manifest = _read_manifest(folder)
    while True:
        try:
            return manifest.about, _mapped(folder, manifest, verify)
        except FileNotFoundError as missing:
            newer = _read_manifest(folder)
            if newer == manifest:
                message = f"{missing.filename} is missing; {AGAIN}"
                raise UnusableIndex(message) from None
            manifest = newer  # another process has just replaced the index


def _mapped(folder: Path, manifest: Manifest, verify: bool) -> dict[str, Any]:
    parts = {}
    for name, (file, seal) in manifest.files.items():
        try:
            parts[name] = restored(*map_arrays(folder / file, seal, verify))
        except DamagedFile as damage:
            raise UnusableIndex(f"{folder / file} is damaged: {damage}; {AGAIN}") from None
    return parts


def _write_manifest(file: Path, manifest: Manifest) -> None:
    content = asdict(manifest)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "layout": layout(),
        "checksum": _checksum(content),
        "content": content,
    }
    with file.open("x", encoding="utf-8") as out:
        json.dump(document, out, indent=1)
        out.flush()
        os.fsync(out.fileno())


def _read_manifest(folder: Path) -> Manifest:
    file = folder / MANIFEST
    try:
        document = json.loads(file.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        message = f"{folder} holds no index: {MANIFEST} is missing; save one there first"
        raise UnusableIndex(message) from None
    except ValueError:
        raise UnusableIndex(f"{file} is damaged: it is not JSON; {AGAIN}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise UnusableIndex(f"{file} is not that of an index: {AGAIN}, in a folder of its own")
    if document.get("version") != VERSION:
        found = f"version {document.get('version')}, not {VERSION}"
        raise UnusableIndex(f"{file} is of {found}: {AGAIN} with this program")
    if document.get("layout") != layout():
        raise UnusableIndex(f"{file} is of another layout: {AGAIN} with this program")
    content: Any = document.get("content")
    if document.get("checksum") != _checksum(content):
        raise UnusableIndex(f"{file} is damaged: its content has another checksum; {AGAIN}")
    files = {name: (file, Seal(**seal)) for name, (file, seal) in content["files"].items()}
    return Manifest(content["about"], files)


def _checksum(content: Any) -> int:
    return zlib.crc32(json.dumps(content).encode())


def _named(folder: Path) -> list[Path]:
    """The files of the index that the folder holds now, if it does."""
    try:
        return [folder / file for file, _ in _read_manifest(folder).files.values()]
    except UnusableIndex:
        return []


def _sync(folder: Path) -> None:
    """Makes sure that what the folder names is safe on disk."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
