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
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from shortlist.engine.saved import Saved, compressed
from shortlist.intake.columns import registry_text
from shortlist.live.compiled import CompiledRegistries, followed_admission, opened_shard
from shortlist.live.files import COMPILED, Files
from shortlist.live.manifest import Chain
from shortlist.log.durable import make_private, open_private, write_whole
from shortlist.model.settings import Limits, Settings

LOGGER = logging.getLogger("shortlist.folding")
NICE = 19
"""How far everybody else goes first."""
LEAST_FOLDED = 10_000
"""Subscriptions: a smaller registry is packed sooner than a process begins."""
BEGIN = f"import os; os.nice({NICE}); from shortlist.live.folding import run; run()"
"""Everybody else goes first while it imports, too: that takes as long as many a batch."""


Task = Callable[[Path], bytes]
"""What such a process does in the folder of a deployment's files: the registry as it is after its
changes, which can be opened from now on. It can be pickled."""


def packed_shard(folder: Path, state: bytes, limits: Limits, finds: bool) -> bytes:
    """A shard's part of the registry, of a state whose registry and changes matter alone."""
    saved = Saved.of_bytes(state)
    shard = opened_shard(saved, Files(folder), limits, finds=finds)
    for command in saved.changes(shard.matching.vocabulary):
        shard.follow(command)
    packed = compressed([registry_text(shard.matching.roster)])
    CompiledRegistries(folder).keep(shard, packed)
    return packed


def packed_admission(folder: Path, chain: Chain, settings: Settings) -> bytes:
    """The whole registry."""
    admission = followed_admission(chain, Files(folder), settings)
    packed = compressed([registry_text(admission.roster)])
    CompiledRegistries(folder).keep_admission(admission, packed, settings.limits)
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

    def begin(self, folder: Path, task: Task, changes: int) -> None:
        """With as many changes as the task knows."""
        place = folder / COMPILED
        make_private(place)
        self._file, self._changes = place / f"{uuid.uuid4().hex}.fold", changes
        with open(self._file, "xb", opener=open_private) as file:
            pickle.dump(partial(task, folder), file)
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
    write_whole(made_of(file), pickle.loads(file.read_bytes())(), open_private)
