"""The stages between lines and deliveries, each as a function of Arrow batches.

Whoever moves data (a Spark job, a test) walks them in this order, and cuts and sorts between them:

    READ      lines → items                          anywhere
    ADMIT     items in order → admitted, refused     all of one (source, id) together
    NOMINATE  admitted in order → nominations        a shard's part of the registry
    CHOOSE    nominations → chosen                   all of one position together
    SELECT    admitted in order → deliveries         a shard's part of the registry

What decides stands in `Admission` and `Shard`; a stage only feeds them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shortlist.engine.admission import Admission
from shortlist.engine.admitted import Admitted
from shortlist.engine.arrow import batches, rows
from shortlist.engine.compiled import opened
from shortlist.engine.deliveries import DELIVERIES
from shortlist.engine.matching import Chosen
from shortlist.engine.ordering import Ordering, in_order, late_by
from shortlist.engine.shard import Shard
from shortlist.engine.steps import CommandReader, steps
from shortlist.intake.lines import ItemReader
from shortlist.intake.reading import LineReader, items_of, rejects_of
from shortlist.intake.table_reading import TableReader
from shortlist.matching.index.index import Index
from shortlist.matching.index.storage import open_parts
from shortlist.model.command import Advertise, Command, Define, Subscribe, Unadvertise
from shortlist.model.items import BLANK, PUBLICATION, REJECT, Items, Wanted
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits, Settings
from shortlist.model.times import END_OF_TIME
from shortlist.model.vocabulary import Vocabulary
from shortlist.selection.audience import Nomination, chosen

if TYPE_CHECKING:
    from shortlist.engine.plain import PlainShard

Batches = Iterable[pa.RecordBatch]

RESULTS = pa.schema([*DELIVERIES, ("note", pa.string())])
"""Deliveries, and notes (JSON) beside them: a shard's counts, or explanations."""

CHOSEN = pa.schema({"position": pa.int64(), "shortlist": pa.string()})

ADMITTED_COLUMNS = pa.schema(
    {"reach": pa.int64(), "advertisement": pa.string(), "shortlist": pa.string()}
)
"""What an admission adds to items."""


def admitted_schema(wanted: Wanted) -> pa.Schema:
    return pa.schema([*wanted.schema, *ADMITTED_COLUMNS])


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """Lines with their positions in, items out; what is wrong with a line loses nothing else."""

    vocabulary: Vocabulary
    limits: Limits
    wanted: Wanted
    commands: bool = True
    tabular: bool = False
    by_arrival: bool = False
    """Items are of the time at which a log took them."""
    keeps_blanks: bool = False
    """A blank line has a position, too."""

    def __call__(self, arriving: Batches) -> Iterator[pa.RecordBatch]:
        for batch in arriving:
            names = batch.schema.names
            appended = batch.column("appended").to_pylist() if "appended" in names else None
            lines = batch.column("line").to_pylist()
            yield self.items(batch.column("position").to_pylist(), lines, appended)[0].batch

    def items(
        self,
        positions: Sequence[int | None],
        lines: Sequence[bytes | None],
        appended: Sequence[int | None] | None = None,
    ) -> tuple[Items, dict[int, Command]]:
        """Lines that somebody has at hand; the commands among them need not be read again."""
        how = self.vocabulary, self.limits, self.wanted, self.commands, self.tabular
        read = LineReader(*how, by_arrival=self.by_arrival)
        items = read.lines(positions, lines, appended)
        return items if self.keeps_blanks else items.kept(items.kinds != BLANK), read.commands


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTable:
    """Rows of a table in, items out."""

    vocabulary: Vocabulary
    limits: Limits
    wanted: Wanted

    def __call__(self, arriving: Batches) -> Iterator[pa.RecordBatch]:
        read = TableReader(self.vocabulary, self.limits, self.wanted)
        for batch in arriving:
            yield read.items(batch).batch


@dataclass(frozen=True, slots=True, kw_only=True)
class FindLate:
    """Items in order of position in, the same out, what is late as rejects.

    The input is cut into buckets of positions; the largest time before each is known.
    """

    lateness: int
    bucket_bits: int
    latest_before: dict[int, int]

    def __call__(self, arriving: Batches) -> Iterator[pa.RecordBatch]:
        bucket, ordering = None, Ordering(self.lateness)
        for batch in arriving:
            items = Items(batch)
            buckets = (items.positions >> self.bucket_bits).tolist()
            first = 0
            for number, group in groupby(buckets):
                end = first + len([*group])
                if number != bucket:
                    bucket, ordering.latest = number, self.latest_before.get(number)
                yield _as(batch.schema, self._checked(items.between(first, end), ordering).batch)
                first = end

    def _checked(self, items: Items, ordering: Ordering) -> Items:
        readable = items.kept(items.kinds < REJECT)
        reached = ordering.reached_before(readable.times)
        is_late = readable.times < reached
        if not is_late.any():
            return items
        late = readable.kept(is_late)
        reasons = late_by(late.times, reached[is_late])
        refused = rejects_of(late.values("position"), late.values("line"), reasons, items.told)
        rest = [items.kept(items.kinds >= REJECT), readable.kept(~is_late), refused]
        return Items.joined(rest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admit:
    """Publications in order of time in; admitted and refused out, these with their reason."""

    registry: Registry
    """Its advertisements are all that matters here."""
    changes: Sequence[Command]
    """Commands that advertise, take that back, or define terms, in order."""
    settings: Settings
    wanted: Wanted

    def __call__(self, arriving: Batches) -> Iterator[pa.RecordBatch]:
        bare = Registry(
            vocabulary=self.registry.vocabulary, advertisements=self.registry.advertisements
        )
        admission, pending = Admission(bare, self.settings), _Pending(self.changes, self.wanted)
        schema = admitted_schema(self.wanted)
        for batch in arriving:
            found = Admitted()
            items, commands = pending.before(Items(batch))
            admission.let_in(items, found, commands)
            admitted = found.items.kept(found.items.kinds == PUBLICATION)
            yield _as(schema, admitted.batch)
            if found.refusals:
                positions, lines, reasons, _ = zip(*found.refusals, strict=True)
                refused = rejects_of(positions, lines, reasons, self.wanted)
                yield _as(schema, _undecided(refused).batch)


def _as(schema: pa.Schema, batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows with just these columns: whoever writes batches wants them all alike."""
    return batch.select(schema.names).cast(schema)


def _undecided(items: Items) -> Items:
    """Items with the columns that an admission adds, empty."""
    nothing = {field.name: pa.nulls(len(items), field.type) for field in ADMITTED_COLUMNS}
    return items.with_columns(**nothing)


class _Pending:
    """Commands that are still to be carried out, put where they belong between publications."""

    def __init__(self, commands: Sequence[Command], wanted: Wanted) -> None:
        self._commands = list(reversed(commands))
        self._wanted = wanted

    def before(self, items: Items) -> tuple[Items, dict[int, Command]]:
        """Items in order, with the commands that come before the last of them."""
        if not len(items):
            return items, {}
        due = [*self._due((int(items.times[-1]), int(items.positions[-1])))]
        if not due:
            return items, {}
        commands, known = items_of(due, self._wanted)
        alike = Items(_undecided(commands).batch.select(items.batch.schema.names))
        return in_order(Items.joined([alike, items])), known

    def rest(self) -> tuple[Items, dict[int, Command]]:
        """Those behind all publications."""
        commands, known = items_of([*self._due((END_OF_TIME, 0))], self._wanted)
        return _undecided(commands), known

    def _due(self, before: tuple[int, int]) -> Iterator[Command]:
        while (left := self._commands) and (left[-1].time, left[-1].position) < before:
            yield left.pop()


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one shard has to know: its part of the registry, and the commands that change it."""

    registry: Registry
    commands: Sequence[Command]
    limits: Limits
    wanted: Wanted
    compiled: str | None = None
    """Where shortlists and subscriptions are, if not in the registry."""

    @property
    def is_idle(self) -> bool:
        """Nobody will ever subscribe here."""
        subscribes = any(isinstance(command, Subscribe) for command in self.commands)
        return not self.registry.subscriptions and self.compiled is None and not subscribes

    def shard(self) -> Shard:
        """One that has seen nothing yet."""
        if self.compiled is None:
            return Shard(self.registry, self.limits)
        return opened(open_parts(Path(self.compiled))[1], self.limits)

    @property
    def advertises(self) -> bool:
        """Some publisher limits its audience at some time."""
        advertise = any(isinstance(command, Advertise) for command in self.commands)
        return bool(self.registry.advertisements) or advertise


@dataclass(frozen=True, slots=True, kw_only=True)
class Nominate:
    """Admitted publications in order in, a shard's best candidates for their publishers out."""

    share: Share

    def __call__(self, arriving: Batches) -> Iterator[pa.RecordBatch]:
        share = self.share
        matching, pending = share.shard().matching, _Pending(share.commands, share.wanted)
        reader = ItemReader(share.registry.vocabulary, share.limits.for_what_was_read())
        for batch in arriving:
            items, commands = pending.before(Items(batch))
            for step in steps(items, CommandReader(reader, commands)):
                if isinstance(step, Command):
                    matching.apply(step)
                else:
                    yield from matching.nominations(step).to_batches()


@dataclass(frozen=True, slots=True, kw_only=True)
class Choose:
    """Nominations, those of one position together, in; the k best of all shards out."""

    def __call__(self, arriving: Batches) -> Iterator[pa.RecordBatch]:
        yield from batches(self._chosen(rows(arriving)), CHOSEN)

    def _chosen(self, arriving: Iterator[tuple[Any, ...]]) -> Iterator[tuple[int, str]]:
        for (position, reach), group in groupby(arriving, key=lambda row: row[:2]):
            for nomination in chosen([Nomination(*row[2:]) for row in group], reach):
                yield position, nomination.shortlist


@dataclass(frozen=True, slots=True, kw_only=True)
class Select:
    """Admitted publications in order in; rows of RESULTS out: deliveries, and a note of counts.

    A column `chosen` says whom a publisher reaches, where an advertisement limits that.
    """

    share: Share
    with_data: bool = False
    explain: bool = False
    """Reasons in place of deliveries."""
    told: Callable[[int], object] | None = None
    """Hears how many publications are done."""

    def __call__(self, arriving: Batches) -> Iterator[pa.RecordBatch]:
        shard, pending = self._shard(), _Pending(self.share.commands, self.share.wanted)
        for batch in arriving:
            reached = _chosen_of(batch)
            items, commands = pending.before(Items(batch.drop_columns(["chosen"])))
            yield from self._run(shard, items, commands, reached, None)
            if self.told is not None:
                self.told(batch.num_rows)
        items, commands = pending.rest()
        yield from self._run(shard, items, commands, {}, END_OF_TIME)
        if not self.explain:
            yield from batches([_note(json.dumps({"counts": _counts(shard)}))], RESULTS)

    def _shard(self) -> Shard | PlainShard:
        share = self.share
        if self.explain:
            # seldom, and it takes long to import
            from shortlist.engine.explanation import Question
            from shortlist.engine.plain import PlainShard

            registry = share.registry
            if share.compiled is not None:
                registry = share.shard().matching.roster.registry()
            return PlainShard(registry, share.limits, Index, Question(), of_a_shard=True)
        return share.shard()

    def _run(
        self,
        shard: Shard | PlainShard,
        items: Items,
        commands: dict[int, Command],
        reached: Chosen,
        until: int | None,
    ) -> Iterator[pa.RecordBatch]:
        if not isinstance(shard, Shard):
            deliveries = [*shard.run(items, commands, chosen=reached, until=until)]
            assert shard.explainer is not None
            reasons = shard.explainer.taken(deliveries)
            notes = (_note(json.dumps({"explanation": _compact(each)})) for each in reasons)
            yield from batches(notes, RESULTS)
            return
        for placed in shard.run(items, commands, chosen=reached, until=until):
            if placed.scores.size:
                found = shard.deliveries(placed, self.with_data)
                yield found.append_column("note", pa.nulls(found.num_rows, pa.string()))


_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _chosen_of(batch: pa.RecordBatch) -> dict[int, list[str]]:
    column = batch.column("chosen")
    if column.null_count == len(column):
        return {}
    pairs = zip(batch.column("position").to_pylist(), column.to_pylist(), strict=True)
    return {position: names for position, names in pairs if names is not None}


def _counts(shard: Shard | PlainShard) -> dict[str, Any]:
    """Of a whole batch, in which thresholds of windows have changed so often."""
    changes = shard.selecting.threshold_changes if isinstance(shard, Shard) else 0
    return {**shard.work, "threshold_changes": changes} if changes else shard.work


def _note(text: str) -> tuple[Any, ...]:
    return (*[None] * (len(RESULTS) - 1), text)


def advertising(commands: Iterable[Command]) -> list[Command]:
    """Those of some commands that an admission of publications has to know."""
    return [each for each in commands if isinstance(each, Advertise | Unadvertise | Define)]
