"""Ingest, once, before anything is copied: read, find what is late or repeated, order commands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from shortlist.engine.arrow import Row, batches, rows
from shortlist.engine.duplicates import Duplicates
from shortlist.engine.ordering import late_by
from shortlist.intake.lines import BadItem, ItemReader, parse_json, reread
from shortlist.intake.roster import Roster, registry_commands
from shortlist.intake.tables import row_publication
from shortlist.matching.values import Values
from shortlist.model.advertisement import Advertisement
from shortlist.model.command import Advertise, Command, Unadvertise
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.model.vocabulary import Vocabulary
from shortlist.selection.audience import Advertisements
from shortlist.spark.schemas import ADMITTED, ITEMS, ddl
from shortlist.spark.sources import Lines
from shortlist.spark.stateless import is_stateless

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BUCKET_BITS = 16
"""The largest earlier time is worked out in buckets of 2^16 positions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLines:
    """The task that reads lines: what is wrong with one is found here, and loses nothing else."""

    vocabulary: Vocabulary
    settings: Settings
    tabular: bool
    commands: bool

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        read = self.reader()
        found = (read(position, line) for position, line in rows(arriving))
        yield from batches(filter(None, found), ITEMS)

    def reader(self) -> Callable[[int | None, bytes | None], Row | None]:
        """Reads a line as a row of ITEMS; None if it is blank."""
        reader = ItemReader(self.vocabulary, self.settings.limits, self.commands)
        return lambda position, line: self._read(reader, position, line)

    def _read(self, reader: ItemReader, position: int | None, line: bytes | None) -> Row | None:
        if line is None:
            return position, "reject", None, None, None, None, "", "line: is missing"
        if position is None:
            text = line.decode(errors="replace")
            return None, "reject", None, None, None, None, text, "position: is missing"
        if not line.strip():
            return None
        text = line.decode(errors="replace")
        try:
            document = parse_json(line, self.settings.limits)
            if self.tabular:
                document = row_publication(document)
                text = json.dumps(document, ensure_ascii=False)
            item = reader.document(document, position)
        except BadItem as problem:
            return position, "reject", None, None, None, None, text, str(problem)
        if isinstance(item, Publication):
            dead = item.dead_on_arrival
            return position, "publication", item.time, item.source, item.id, dead, text, None
        return position, "command", item.time, None, None, None, text, None


def read_items(
    lines: Lines, vocabulary: Vocabulary, settings: Settings, commands: bool
) -> DataFrame:
    """The input as ITEMS."""
    task = ReadLines(
        vocabulary=vocabulary, settings=settings, tabular=lines.tabular, commands=commands
    )
    return lines.frame.mapInArrow(task, ddl(ITEMS))


@dataclass(frozen=True, slots=True, kw_only=True)
class FindLate:
    """The task that turns late items into rejects, bucket by bucket in order of position."""

    lateness: int
    latest_before: dict[int, int]

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches(self._checked(rows(arriving)), ITEMS)

    def _checked(self, arriving: Iterator[Row]) -> Iterator[Row]:
        bucket, latest = None, None
        for position, kind, time, *rest, reason in arriving:
            if position >> BUCKET_BITS != bucket:
                bucket = position >> BUCKET_BITS
                latest = self.latest_before.get(bucket)
            late = None if time is None else late_by(time, latest, self.lateness)
            if late is not None:
                yield position, "reject", None, *rest, late
                continue
            if time is not None:
                latest = time if latest is None else max(latest, time)
            yield position, kind, time, *rest, reason


def without_late(items: DataFrame, lateness: int | None) -> DataFrame:
    """ITEMS in which what is late is a reject."""
    from pyspark.sql import functions as F  # noqa: N812

    if lateness is None:
        return items
    bucketed = items.withColumn("bucket", F.shiftright("position", BUCKET_BITS))
    latest_before, latest = {}, None
    for bucket, largest in sorted(bucketed.groupBy("bucket").agg(F.max("time")).collect()):
        if latest is not None:
            latest_before[bucket] = latest
        if largest is not None:
            latest = largest if latest is None else max(latest, largest)
    task = FindLate(lateness=lateness, latest_before=latest_before)
    return (
        bucketed.repartition(_partitions(items), "bucket")
        .sortWithinPartitions("position")
        .drop("bucket")
        .mapInArrow(task, ddl(ITEMS))
    )


def carried_out(
    items: DataFrame, registry: Registry, settings: Settings
) -> tuple[list[Command], list[Row]]:
    """The commands of the input that the registry allows, in order, and those that it refuses."""
    found = items.where("kind = 'command'").select("time", "position", "line")
    reader = ItemReader(registry.vocabulary, settings.limits)
    roster = Roster(registry.vocabulary, settings.limits)
    for command in registry_commands(registry):
        roster.apply(command)
    accepted: list[Command] = []
    refused: list[Row] = []
    for row in found.orderBy("time", "position").toLocalIterator():
        item = reader.line(row.line, row.position)
        assert isinstance(item, Command)
        refusal = roster.refusal(item)
        if refusal is None:
            roster.apply(item)
            accepted.append(item)
        else:
            refused.append((row.position, row.line, refusal))
    return accepted, refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Admit:
    """The task that turns repeated and unadvertised publications away, in order of time."""

    vocabulary: Vocabulary
    advertisements: Sequence[Advertisement]
    changes: Sequence[Advertise | Unadvertise]
    settings: Settings
    is_stateless: bool
    """Nothing is held that could be replaced."""

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches(self._admitted(rows(arriving)), ADMITTED)

    def _admitted(self, arriving: Iterator[Row]) -> Iterator[Row]:
        duplicates = Duplicates(self.settings.dedup)
        induce = self._inducements()
        for time, position, source, name, dead, line in arriving:
            if duplicates.is_repeated(source, name, time):
                yield position, time, line, "duplicate", None, None
                continue
            audience, advertisement = (None, None) if dead else induce(line, time, position)
            if not dead and advertisement is None and self.settings.advertised == "required":
                yield position, time, line, "unadvertised", None, None
                continue
            duplicates.accept(source, name, time)
            if not dead or self._replaces(line, position, time):
                yield position, time, line, None, audience, advertisement

    def _replaces(self, line: str, position: int, time: int) -> bool:
        """Whether one that is dead on arrival makes a difference nevertheless."""
        return not self.is_stateless and reread(line, position, time).replaces is not None

    def _inducements(self) -> Callable[[str, int, int], tuple[int | None, str | None]]:
        if not self.changes and not self.advertisements:
            return lambda line, time, position: (None, None)
        limits = self.settings.limits
        live = Advertisements(self.vocabulary, limits)
        for advertisement in self.advertisements:
            live.add(advertisement)
        reader = ItemReader(self.vocabulary, limits.for_what_was_read())
        values = Values(self.vocabulary)
        pending = list(reversed(self.changes))

        def induce(line: str, time: int, position: int) -> tuple[int | None, str | None]:
            while pending and (pending[-1].time, pending[-1].position) < (time, position):
                command = pending.pop()
                if isinstance(command, Advertise):
                    live.add(command.advertisement)
                else:
                    live.remove(command.advertisement)
            publication = reader.line(line, position)
            assert isinstance(publication, Publication)
            return live.induce(publication, values.of(publication)) or (None, None)

        return induce


def admitted(
    items: DataFrame, registry: Registry, commands: Sequence[Command], settings: Settings
) -> DataFrame:
    """The publications of the input as ADMITTED."""
    task = Admit(
        vocabulary=registry.vocabulary,
        advertisements=registry.advertisements,
        changes=[one for one in commands if isinstance(one, Advertise | Unadvertise)],
        settings=settings,
        is_stateless=not commands and is_stateless(registry),
    )
    return (
        items.where("kind = 'publication'")
        .select("time", "position", "source", "id", "dead", "line")
        .repartition(_partitions(items), "source", "id")
        .sortWithinPartitions("time", "position")
        .mapInArrow(task, ddl(ADMITTED))
    )


def _partitions(frame: DataFrame) -> int:
    """As many as there are cores: Spark's default of 200 is made for larger clusters."""
    return frame.sparkSession.sparkContext.defaultParallelism
