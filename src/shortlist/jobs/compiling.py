"""A registry's files, read, checked and compiled by tasks into a folder that all processes map.

Each part of the files becomes pieces, compiled on their own; when all of them are good, a task for
every shard, and one for admissions, joins them. What a task needs in memory is a piece of what it
reads, or a few numbers for each subscription where it joins.
"""

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.console import Console

from shortlist.engine.joining import Joining
from shortlist.engine.pieces import PieceCompiler, columns_of
from shortlist.engine.saved import Saved, compressed
from shortlist.intake.cutting import Numbered, Part
from shortlist.intake.documents import Documents
from shortlist.intake.doubts import Cutter, Named
from shortlist.intake.entries import Entries, EntryReader, Place
from shortlist.intake.files import read_into, read_registry
from shortlist.intake.tables import NotATable
from shortlist.jobs.shares import Progress
from shortlist.live.compiled import ADMISSION, content_key, kind_of_shard
from shortlist.live.here import run_here
from shortlist.live.registry_folder import (
    ABOUT,
    STATE,
    CompiledRegistry,
    folder_beside,
    shard_name,
    source_key,
)
from shortlist.live.registry_state import first_state
from shortlist.live.slots import cut_registry, shard_of
from shortlist.log.durable import make_private
from shortlist.matching.arrays import Longs
from shortlist.matching.index.storage import VERSION, open_parts, save_parts
from shortlist.model.collecting import uncollected
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary
from shortlist.progress import Steps

if TYPE_CHECKING:
    from shortlist.live.tasks import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class PartWork:
    """A part to be read and compiled."""

    shard: int
    """Which process does it."""
    part: Part
    vocabulary: Vocabulary
    limits: Limits
    folder: str
    """Where pieces go."""
    shards: int
    compiles: bool
    """Else it is only checked, since something is wrong already."""
    progress: str | None = None


class PartDone(NamedTuple):
    """What came of it."""

    pieces: list[str]
    """Folders, in order."""
    problems: list[Numbered]
    unreadable: str | None = None
    """Why the rest of it could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinWork:
    """Pieces to be joined, for an admission or for a shard."""

    shard: int
    name: str
    pieces: Sequence[str]
    rest: Registry
    limits: Limits
    folder: str


JOINED = "joined"
QUIET = Steps(Console(), quiet=True)


def compile_registry(
    path: str | Path,
    limits: Limits | None = None,
    *,
    folder: Path | None = None,
    shards: int = 1,
    run: "Run" = run_here,
    lanes: int = 1,
    steps: Steps = QUIET,
) -> CompiledRegistry:
    """Compiles a registry into the folder beside it, or into another one, for so many shards;
    `InvalidRegistry` names every problem. Tasks are run by `run`, as many at a time as there are
    lanes."""
    limits, target = limits or Limits(), folder or folder_beside(path)
    before = _said(target)
    with steps.step("Looking at the files"):
        key, cutter = source_key(path, limits), Cutter(limits, lanes)
        read_into(cutter, Path(path))
    with _room_in(target) as room:
        size = sum(part.size for part in cutter.parts)
        with steps.counted("Reading and compiling", size) as progress:
            works = _part_works(cutter, limits, room, shards, lanes, progress)
            done = [*run(compile_part, works)]
        with steps.step("Checking ids"):
            for reason in {each.unreadable for each in done} - {None}:
                read_registry(path, limits)  # which says it in its words
                raise NotATable(reason)
            rest = cutter.rest([each.problems for each in done], [*_all_named(cutter.parts, done)])
        with steps.step("Joining"):
            joins = _join_works(rest, done, limits, room, shards, lanes)
            joined = dict(zip([work.name for work in joins], run(join, joins), strict=True))
        counts = {
            "version": VERSION,
            "shards": shards,
            "subscriptions": joined[ADMISSION].subscriptions,
            "shortlists": joined[ADMISSION].shortlists,
            "keys": {name: each.key for name, each in joined.items()},
        }
        said = _put_in_place(Path(room, JOINED), target, {"key": key, **counts}, before)
    return CompiledRegistry.of(target, limits, said)


@contextmanager
def _room_in(target: Path) -> Iterator[str]:
    """A folder for pieces in that of a compiled registry, which is there only if one is."""
    make_private(target)
    try:
        with tempfile.TemporaryDirectory(dir=target, prefix=".pieces-") as folder:
            yield folder
    finally:
        with suppress(OSError):
            target.rmdir()


def _part_works(
    cutter: Cutter, limits: Limits, folder: str, shards: int, lanes: int, progress: str | None
) -> list[PartWork]:
    return [
        PartWork(
            shard=number % lanes,
            part=part,
            vocabulary=cutter.vocabulary,
            limits=limits,
            folder=str(Path(folder, f"{number:06}")),
            shards=shards,
            compiles=not cutter.has_problems,
            progress=progress,
        )
        for number, part in enumerate(cutter.parts)
    ]


def _join_works(
    rest: Registry, done: Sequence[PartDone], limits: Limits, folder: str, shards: int, lanes: int
) -> list[JoinWork]:
    """One for admissions, and one for each shard."""
    wholes = {ADMISSION: rest}
    parts = {shard_name(n): part for n, part in enumerate(cut_registry(rest, shards))}
    return [
        JoinWork(
            shard=place % lanes,
            name=name,
            pieces=[piece for each in done for piece in each.pieces],
            rest=some,
            limits=limits,
            folder=str(Path(folder, JOINED)),
        )
        for place, (name, some) in enumerate((wholes | parts).items())
    ]


def _all_named(parts: Sequence[Part], done: Sequence[PartDone]) -> Iterator[Named]:
    for part, each in zip(parts, done, strict=True):
        for piece in each.pieces:
            found = open_parts(Path(piece, ADMISSION), verify=False)[1]
            labels = {int(row): label for row, label in json.loads(found["labels"]).items()}
            columns = {name: found[name] for name in ("numbers", "ids", "hashes", "shortlists")}
            yield Named(part=part, labels=labels, **columns)


@uncollected()
def compile_part(work: PartWork) -> PartDone:
    """The task that reads a part and compiles its pieces, if nothing is wrong with them."""
    reader = EntryReader(Documents(work.vocabulary, work.limits))
    compiler, progress = PieceCompiler(work.vocabulary, work.limits), Progress(work.progress)
    pieces: list[str] = []
    problems: list[Numbered] = []
    chunks = work.part.chunks()
    while True:
        try:
            chunk = next(chunks, None)
        except NotATable as error:
            return PartDone(pieces, problems, str(error))
        if chunk is None:
            return PartDone(pieces, problems)
        numbers = chunk.numbers
        read = reader.read(chunk.given, places(work.part, numbers))
        problems += chunk.problems
        problems += [(int(numbers[row]), problem) for row, problem in read.problems]
        place = Path(work.folder, f"{len(pieces):06}")
        labels = {str(row): label for row, label in read.labels.items()}
        is_good = work.compiles and not problems
        columns = compiler.admission(read) if is_good else columns_of(read)
        named = {**columns, "numbers": numbers, "labels": json.dumps(labels)}
        save_parts(place / ADMISSION, None, named, durable=False)
        if is_good:
            for shard, rows in enumerate(_rows(read, work.shards)):
                piece = compiler.piece(read, rows)
                save_parts(place / shard_name(shard), None, piece, durable=False)
        pieces.append(str(place))
        progress.add(len(read))


class Joined(NamedTuple):
    """What came of joining."""

    key: str
    subscriptions: int
    shortlists: int


@uncollected()
def join(work: JoinWork) -> Joined:
    """The task that joins pieces."""
    some = [open_parts(Path(piece, work.name), verify=False)[1] for piece in work.pieces]
    joining, folder = Joining(work.rest, some, work.limits), Path(work.folder, work.name)
    packed = compressed(joining.text())
    if work.name == ADMISSION:
        kind, parts, state = ADMISSION, joining.admission(), Saved(packed).to_bytes()
    else:
        kind, parts, state = kind_of_shard(finds=True), joining.shard(), first_state(packed)
    key = content_key(kind, packed, work.limits)
    save_parts(folder, key, parts)
    (folder / STATE).write_bytes(state)
    columns = parts["columns"]
    return Joined(key, len(columns["subscriptions"].names), len(columns["shortlists"].names))


def places(part: Part, numbers: Longs) -> Place:
    """Where rows with these numbers stand."""
    return lambda row: part.place(int(numbers[row]))


def _rows(read: Entries, shards: int) -> list[Any]:
    """The rows of each shard."""
    if shards == 1:
        return [None]
    homes = zip(read.shortlists, read.ids, strict=True)
    found = np.array([shard_of(home or str(name), shards) for home, name in homes], np.int64)
    return [np.flatnonzero(found == shard) for shard in range(shards)]


def _said(target: Path) -> dict[str, Any] | None:
    """What a folder says of itself, if it holds a compiled registry."""
    try:
        said: dict[str, Any] = json.loads((target / ABOUT).read_bytes())
    except (OSError, ValueError):
        return None
    return said


def _put_in_place(
    made: Path, target: Path, counted: dict[str, Any], before: dict[str, Any] | None
) -> dict[str, Any]:
    """One who opens the folder finds what was there before, or this: never some of both. If another
    process has made the same meanwhile, that one stays: somebody may be about to open it."""
    with _alone_in(target):
        there = _said(target)
        if there is not None and there != before and counted.items() <= there.items():
            return there
        said = {**counted, "folder": token_hex(8)}
        os.replace(made, target / said["folder"])
        new = target / f".{said['folder']}.json"
        new.write_text(json.dumps(said))
        os.replace(new, target / ABOUT)
        for old in target.iterdir():
            if old.is_dir() and not old.name.startswith(".") and old.name != said["folder"]:
                shutil.rmtree(old, ignore_errors=True)
        return said


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Others wait until this one is done."""
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)
