"""Tasks of shards in a batch on one machine: files of columns in, files of columns out.

Files are mapped, so all processes share what is admitted. One that nobody hears of is of an attempt
that failed.
"""

import json
import os
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from shortlist.engine.admitted import Admitted
from shortlist.engine.deliveries import DELIVERIES
from shortlist.engine.matching import NOMINATIONS
from shortlist.engine.stages import RESULTS, Nominate, Select, Share
from shortlist.live.registry_folder import CompiledRegistry
from shortlist.live.slots import cut_registry, shard_of
from shortlist.matching.arrays import Longs
from shortlist.model.command import Command
from shortlist.model.items import COMMAND, Wanted
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits


class Progress:
    """Counts publications in a file of its own, if there is a folder to put it into."""

    def __init__(self, folder: str | None) -> None:
        self._folder = None if folder is None else Path(folder)
        self._file: Path | None = None
        """Each process has its own."""
        self._count = 0

    def add(self, publications: int) -> None:
        self._count += publications
        if self._folder is not None and self._folder.is_dir():
            if self._file is None:
                self._file = self._folder / f"{os.getpid()}-{uuid.uuid4()}"
            self._file.write_text(str(self._count))


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWork:
    """One shard's part of a batch."""

    shard: int = 0
    share: Share
    items: str = ""
    """The file of admitted publications, if they lie in one."""
    folder: str
    with_data: bool = False
    progress: str | None = None


class Place(NamedTuple):
    """Where deliveries stand in the order of all, but for their shortlists."""

    time: int
    position: int


class Wave(NamedTuple):
    """Deliveries that were made together."""

    last: Place
    """None of them stands behind it."""
    size: int


class Selected(NamedTuple):
    """What a shard delivers."""

    file: str
    pieces: list[Wave]
    counts: dict[str, Any]


def shares_of(
    registry: Registry | CompiledRegistry,
    changes: Admitted,
    shards: int,
    limits: Limits,
    wanted: Wanted,
) -> list[Share]:
    """The registry, and the commands that were let in, cut by shortlist; advertisements go to every
    shard."""
    commands: list[list[Command]] = [[] for _ in range(shards)]
    is_command = changes.items.kinds == COMMAND
    named = changes.items.kept(is_command).values("shortlist") if is_command.any() else []
    for command, name in zip(changes.commands.values(), named, strict=True):
        for shard in range(shards) if name is None else [shard_of(name, shards)]:
            commands[shard].append(command)
    parts: list[tuple[Registry, str | None]]
    if isinstance(registry, CompiledRegistry):
        parts = [(registry.rest, registry.folder_of(shard)) for shard in range(shards)]
    else:
        parts = [(part, None) for part in cut_registry(registry, shards)]
    return [
        Share(registry=part, commands=some, limits=limits, wanted=wanted, compiled=folder)
        for (part, folder), some in zip(parts, commands, strict=True)
    ]


def nominate(work: BatchWork) -> str:
    """NOMINATE: a file of NOMINATIONS."""
    return written(work.folder, Nominate(share=work.share)(mapped(work.items)), NOMINATIONS)


def select(work: BatchWork, arriving: Iterable[pa.RecordBatch] | None = None) -> Selected:
    """SELECT, from what lies in a file or from publications that come in order."""
    stage = Select(share=work.share, with_data=work.with_data, told=Progress(work.progress).add)
    pieces: list[Wave] = []
    counts: dict[str, Any] = {}

    def deliveries() -> Iterator[pa.RecordBatch]:
        for batch in stage(mapped(work.items) if arriving is None else arriving):
            (note,) = batch.column("note")[-1:].to_pylist()
            if note is not None:
                counts.update(json.loads(note)["counts"])
                continue
            pieces.append(Wave(_last_place(batch), batch.num_rows))
            yield batch.drop_columns(["note"])

    file = written(work.folder, deliveries(), DELIVERIES)
    return Selected(file, pieces, counts)


def _last_place(deliveries: pa.RecordBatch) -> Place:
    times, positions = places_of(deliveries)
    latest = times.max()
    return Place(int(latest), int(positions[times == latest].max()))


def places_of(deliveries: pa.RecordBatch) -> tuple[Longs, Longs]:
    """Their times and positions."""
    times = deliveries.column("time").cast(pa.int64()).to_numpy()
    return times, deliveries.column("position").to_numpy()


def explain(work: BatchWork) -> str:
    """SELECT with reasons: a file of notes."""
    return written(work.folder, Select(share=work.share, explain=True)(mapped(work.items)), RESULTS)


def written(folder: str, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> str:
    """A new file of batches that are all alike; of none, one with these columns."""
    path = Path(folder, f"{uuid.uuid4()}.arrow")
    arriving = iter(batches)
    first = next(arriving, None)
    with pa.ipc.new_stream(str(path), schema if first is None else first.schema) as file:
        if first is not None:
            file.write_batch(first)
        for batch in arriving:
            file.write_batch(batch)
    return str(path)


def mapped(path: str) -> Iterator[pa.RecordBatch]:
    """What a file holds; nothing is copied."""
    with pa.memory_map(path) as content, pa.ipc.open_stream(content) as batches:
        yield from batches
