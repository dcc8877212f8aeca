"""Registries that are packed again, with their changes, by a process beside those who have work.

A state says what a registry was, and the commands since. When these are many, the registry as it is
after them takes the place of both: it is made, and compiled, by a process of lower priority, which
reads what it needs from files. Until that has come to its end, changes go on standing beside what
was; whoever began may end at any time, and nobody misses what the process made.
"""

import logging
import os
import pickle
import subprocess
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from shortlist.engine.saved import Saved, compressed
from shortlist.intake.columns import registry_text
from shortlist.live.compiled import CompiledRegistries, opened_shard, recalled_admission
from shortlist.live.files import COMPILED, Files
from shortlist.live.manifest import Chain
from shortlist.log.private import make_private, open_private
from shortlist.model.settings import Limits, Settings

LOGGER = logging.getLogger("shortlist.folding")
NICE = 19
"""How far everybody else goes first."""
LEAST_FOLDED = 10_000
"""Subscriptions: a smaller registry is packed sooner than a process begins."""
BEGIN = f"import os; os.nice({NICE}); from shortlist.live.folding import run; run()"
"""Everybody else goes first while it imports, too: that takes as long as many a batch."""


class Task(Protocol):
    """What such a process does; it can be pickled."""

    @property
    def folder(self) -> Path:
        """That of the deployment's files."""
        ...

    def packed(self) -> bytes:
        """The registry as it is after its changes, which can be opened from now on."""
        ...


@dataclass(frozen=True, slots=True)
class OfShard:
    """A shard's part of the registry."""

    folder: Path
    saved: bytes
    """A state whose registry and changes are all that matters."""
    limits: Limits
    finds: bool

    def packed(self) -> bytes:
        saved = Saved.of_bytes(self.saved)
        shard = opened_shard(saved, Files(self.folder), self.limits, finds=self.finds)
        for command in saved.changes(shard.matching.vocabulary):
            shard.follow(command)
        packed = compressed(registry_text(shard.matching.roster))
        CompiledRegistries(self.folder).keep(shard, packed)
        return packed


@dataclass(frozen=True, slots=True)
class OfAdmission:
    """The whole registry."""

    folder: Path
    chain: Chain
    settings: Settings

    def packed(self) -> bytes:
        admission, commands = recalled_admission(self.chain, Files(self.folder), self.settings)
        for command in commands:
            admission.follow(command)
        packed = compressed(registry_text(admission.roster))
        CompiledRegistries(self.folder).keep_admission(admission, packed, self.settings.limits)
        return packed


class Folded(NamedTuple):
    """A registry that was packed again, after so many of its changes."""

    packed: bytes
    changes: int


class Folding:
    """At most one such process at a time, and what came of it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._file = Path()
        self._changes = 0

    @property
    def is_busy(self) -> bool:
        return self._process is not None

    def begin(self, task: Task, changes: int) -> None:
        """With as many changes as the task knows."""
        folder = task.folder / COMPILED
        make_private(folder)
        self._file, self._changes = folder / f"{uuid.uuid4().hex}.fold", changes
        with open(self._file, "xb", opener=open_private) as file:
            pickle.dump(task, file)
        self._process = subprocess.Popen(
            [sys.executable, "-c", BEGIN, str(self._file)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def taken(self) -> Folded | None:
        """What was made, once it is; nobody waits for it."""
        if self._process is None or self._process.poll() is None:
            return None
        status, self._process = self._process.returncode, None
        result = made_of(self._file)
        try:
            return Folded(result.read_bytes(), self._changes)
        except OSError:
            LOGGER.warning("a registry was not packed in the background: status %s", status)
            return None
        finally:
            self._file.unlink(missing_ok=True)
            result.unlink(missing_ok=True)


def made_of(file: Path) -> Path:
    """Where that lies which comes of the task in a file."""
    return file.with_suffix(".folded")


def run() -> None:
    """In the process: does the task of the file that it is told."""
    file = Path(sys.argv[1])
    task: Task = pickle.loads(file.read_bytes())
    draft = file.with_suffix(".draft")
    with open(draft, "xb", opener=open_private) as made:
        made.write(task.packed())
    draft.replace(made_of(file))
