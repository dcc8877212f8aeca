"""Registries that were compiled before: an engine with the same one opens it.

They lie in a folder beside the files of a deployment, each under a key that says what it was
compiled of. They say nothing that a state does not say: one that is missing, damaged or of another
version is compiled anew, and where two engines do so at once, the last one replaces the same by
the same.
"""

import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from shortlist.engine.admission import Admission
from shortlist.engine.compiled import compiled, joining, opened, opened_admission
from shortlist.engine.saved import Saved
from shortlist.engine.shard import Shard
from shortlist.intake.columns import saved_columns
from shortlist.intake.files import registry_read_again
from shortlist.intake.lines import ItemReader
from shortlist.live.files import COMPILED, Files
from shortlist.live.manifest import Chain
from shortlist.live.registry_state import carried_out
from shortlist.live.states import read_state
from shortlist.log.durable import FILE_MODE, make_private
from shortlist.matching.index.storage import (
    FILE,
    Parts,
    UnusableIndex,
    in_memory,
    open_parts,
    save_parts,
)
from shortlist.model.collecting import uncollected
from shortlist.model.command import Command
from shortlist.model.settings import Limits, Settings

LOGGER = logging.getLogger("shortlist.compiled")
LEAST_BYTES = 4_000
"""Of a packed registry: a smaller one is compiled about as soon as it is written down."""
LONGEST_UNUSED = 7 * 24 * 3600.0
"""Seconds for which one stays that nobody opens."""
ADMISSION = "admission"
"""A kind of what is compiled, beside shards of two kinds."""


Unpack = Callable[[], Mapping[str, Any]]
"""Gives the document of a registry that was read before."""


class CompiledRegistries:
    """Those of one deployment.

    >>> import tempfile
    >>> flats = {"subscriptions": [{"id": "s", "where": "rent < 900"}]}
    >>> known, content = CompiledRegistries(Path(tempfile.mkdtemp())), b"what it is" * 1000
    >>> known.shard(content, Limits(), lambda: flats).matching.number("s")
    0
    >>> again = known.shard(content, Limits(), lambda: 1 / 0)
    >>> again.matching.roster.subscriptions["s"].where
    'rent < 900'
    """

    def __init__(self, files: Path) -> None:
        self._folder = files / COMPILED

    def shard(self, content: bytes, limits: Limits, unpack: Unpack, *, finds: bool = True) -> Shard:
        """One that has seen nothing yet, with the registry of a state."""
        if len(content) < LEAST_BYTES:
            return Shard(registry_read_again(unpack()), limits, finds=finds)
        key = content_key(kind_of_shard(finds), content, limits)
        parts = self._parts(key, lambda: joining(unpack(), limits).shard(finds=finds))
        return opened(parts, limits, finds=finds)

    def adopt(self, key: str, file: Path) -> None:
        """Lets others open what somebody has compiled under this key."""
        folder = self._folder / key
        make_private(folder)
        with suppress(FileExistsError):
            try:
                os.link(file, folder / FILE)
            except OSError:  # on another disk
                shutil.copyfile(file, folder / FILE)

    def keep(self, shard: Shard, content: bytes) -> None:
        """Lets others open what a shard has, whose registry was packed like this."""
        key = _key_of(shard, content)
        if len(content) >= LEAST_BYTES and not (self._folder / key / FILE).exists():
            self._write(key, compiled(shard))

    def drop(self, shard: Shard, content: bytes) -> None:
        """Removes what a shard was opened from: whoever still needs it compiles it."""
        shutil.rmtree(self._folder / _key_of(shard, content), ignore_errors=True)

    def admission(self, content: bytes, settings: Settings, unpack: Unpack) -> Admission:
        """One that has let nothing in yet, with the registry of a state."""
        if len(content) < LEAST_BYTES:
            return Admission(registry_read_again(unpack()), settings)
        key = content_key(ADMISSION, content, settings.limits)
        parts = self._parts(key, lambda: joining(unpack(), settings.limits).admission())
        return opened_admission(parts, settings)

    def keep_admission(self, admission: Admission, content: bytes, limits: Limits) -> None:
        """Lets others open what an admission has, whose registry was packed like this."""
        if len(content) >= LEAST_BYTES:
            columns, mentions = saved_columns(admission.roster), admission.mentions.saved()
            key = content_key(ADMISSION, content, limits)
            self._write(key, {"columns": columns, "mentions": mentions})

    def _parts(self, key: str, make: Callable[[], Parts]) -> Parts:
        folder = self._folder / key
        try:
            return _opened(folder)
        except (OSError, UnusableIndex) as error:
            if (folder / FILE).exists():
                LOGGER.warning("%s; it is compiled anew", error)
        with uncollected():
            parts = make()
        self._write(key, parts)
        try:
            return _opened(folder)  # others share it, and only what changes is this process's own
        except (OSError, UnusableIndex):
            return in_memory(parts)

    def _write(self, key: str, parts: Parts) -> None:
        folder = self._folder / key
        try:
            make_private(folder)
            save_parts(folder, key, parts)
            (folder / FILE).chmod(FILE_MODE)
            self._clear()
        except OSError as error:
            LOGGER.warning("a compiled registry was not written: %s", error)

    def _clear(self) -> None:
        """Removes what nobody has opened for long."""
        long_ago = time.time() - LONGEST_UNUSED
        for folder in self._folder.iterdir():
            with suppress(FileNotFoundError):  # others clear, too
                if folder.stat().st_mtime < long_ago:
                    shutil.rmtree(folder, ignore_errors=True)
                    folder.unlink(missing_ok=True)  # a file, of a process that was killed


def opened_shard(saved: Saved, files: Files, limits: Limits, *, finds: bool = True) -> Shard:
    """One that has seen nothing yet, with the registry of a state as it was last packed."""
    known, content = CompiledRegistries(files.folder), saved.packed_registry
    return known.shard(content, limits, lambda: saved.packed_document, finds=finds)


def followed_admission(chain: Chain, files: Files, settings: Settings) -> Admission:
    """An admission with the registry that a chain leads to."""
    admission, commands = recalled_admission(chain, files, settings)
    for command in commands:
        admission.follow(command)
    return admission


def recalled_admission(
    chain: Chain, files: Files, settings: Settings
) -> tuple[Admission, Iterator[Command]]:
    """An admission with the registry as it was when it was last written whole, and the commands
    that were carried out since."""
    saved = read_state(chain, files.read)
    admission = CompiledRegistries(files.folder).admission(
        saved.packed_registry, settings, lambda: saved.packed_document
    )
    reader = ItemReader(admission.vocabulary, settings.limits.for_what_was_read())
    return admission, carried_out(chain.inputs, files, reader)


def _opened(folder: Path) -> Parts:
    key, parts = open_parts(folder)
    if key != folder.name:
        raise UnusableIndex(f"{folder} is of another registry: expected {folder.name}, found {key}")
    with suppress(OSError):  # somebody else's
        os.utime(folder)
    return parts


def kind_of_shard(finds: bool) -> str:
    """What a compiled one is known as."""
    return "shard that finds" if finds else "shard that is told"


def _key_of(shard: Shard, content: bytes) -> str:
    return content_key(kind_of_shard(shard.matching.finds), content, shard.matching.limits)


def content_key(kind: str, content: bytes, limits: Limits) -> str:
    """Return what a compiled registry is kept under: the same only for the same registry, with
    degrees as coarse.

    No size is a part of it: what was compiled was accepted, under whichever limits. Which version
    of the program compiled it stands in the file (`matching/index/storage.py`), so that one of
    another version is found, and said to be compiled anew.
    """
    said: list[Any] = [kind, limits.degree_bits]
    return blake2b(repr(said).encode() + content, digest_size=16).hexdigest()
