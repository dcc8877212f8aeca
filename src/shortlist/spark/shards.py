"""The tasks of a shard: its share of the registry, run over every admitted publication."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

import pyarrow as pa

from shortlist.engine.admitted import Admitted, readmitted
from shortlist.engine.arrivals import as_rows, placed
from shortlist.engine.arrow import Row, batches, rows
from shortlist.engine.bulk import BLOCK, BulkHalves
from shortlist.engine.bulk_matching import BulkMatching
from shortlist.engine.engine import END_OF_TIME
from shortlist.engine.explanation import Question
from shortlist.engine.live import LiveRegistry
from shortlist.engine.plain import PlainHalves
from shortlist.engine.results import RESULTS, delivery_row
from shortlist.intake.roster import Roster, registry_commands
from shortlist.live.slots import shard_of
from shortlist.matching.index.index import Index
from shortlist.model.command import Advertise, Command, Subscribe
from shortlist.model.delivery import Delivery
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary
from shortlist.selection.audience import Nomination, chosen
from shortlist.spark.progress import Progress
from shortlist.spark.schemas import CHOSEN, NOMINATIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one shard has to know: the commands that make and change its part of the registry."""

    vocabulary: Vocabulary
    commands: Sequence[Command]
    limits: Limits

    @property
    def is_idle(self) -> bool:
        """Nobody will ever subscribe here."""
        return not any(isinstance(command, Subscribe) for command in self.commands)

    def index(self) -> Index:
        """To be filled with what the commands say."""
        return Index(self.vocabulary, self.limits)

    @property
    def advertises(self) -> bool:
        """Some publisher limits its audience at some time."""
        return any(isinstance(command, Advertise) for command in self.commands)


def shares(
    registry: Registry, commands: Iterable[Command], limits: Limits, shards: int
) -> list[Share]:
    """The registry and its changes cut by shortlist; advertisements go to every shard."""
    parts: list[list[Command]] = [[] for _ in range(shards)]
    roster = Roster()
    for command in chain(registry_commands(registry), commands):
        shortlist = roster.shortlist_of(command)
        concerned = range(shards) if shortlist is None else [shard_of(shortlist, shards)]
        for shard in concerned:
            parts[shard].append(command)
        roster.apply(command)
    return [Share(vocabulary=registry.vocabulary, commands=part, limits=limits) for part in parts]


class _Pending:
    """The commands of a share that are still to be carried out."""

    def __init__(self, share: Share) -> None:
        self._commands = list(reversed(share.commands))

    def is_due(self, before: tuple[int, int]) -> bool:
        """Whether something comes before a (time, position)."""
        if not self._commands:
            return False
        command = self._commands[-1]
        return (command.time, command.position) < before

    def due(self, before: tuple[int, int]) -> Iterator[Command]:
        """Takes what comes before a (time, position)."""
        while self.is_due(before):
            yield self._commands.pop()

    def blocks(self, published: Iterable[Row], most: int) -> Iterator[list[Row]]:
        """Publications that nothing happens between, at most so many together."""
        block: list[Row] = []
        for row in published:
            _, time, position, *_ = row
            if block and (len(block) == most or self.is_due((time, position))):
                yield block
                block = []
            block.append(row)
        if block:
            yield block


@dataclass(frozen=True, slots=True, kw_only=True)
class Nominate:
    """The task in which a shard names its best candidates for a publisher's audience."""

    shares: Sequence[Share]

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches(self._nominations(rows(arriving)), NOMINATIONS)

    def _nominations(self, arriving: Iterator[Row]) -> Iterator[Row]:
        for shard, published in groupby(arriving, key=lambda row: row[0]):
            share = self.shares[shard]
            pending = _Pending(share)
            matching = BulkMatching(share.vocabulary, share.limits, share.index())
            for block in pending.blocks(published, BLOCK):
                _, time, position, *_ = block[0]
                for command in pending.due((time, position)):
                    matching.apply(command)
                admitted = [_admitted(matching, (*row, None)) for row in block]
                for row, nominations in zip(block, matching.nominations(admitted), strict=True):
                    _, _, position, _, audience, _ = row
                    for nomination in nominations:
                        yield position, audience, *nomination


def _admitted(matching: LiveRegistry, row: Row) -> Admitted:
    """A publication as it comes to a shard, with what was chosen for it there, if anything was."""
    _, time, position, line, audience, advertisement, allowed = row
    return readmitted(matching, line, position, time, audience, advertisement, allowed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choose:
    """The task that keeps the k best of all shards' candidates; they come position by position."""

    shards: int

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches(self._chosen(rows(arriving)), CHOSEN)

    def _chosen(self, arriving: Iterator[Row]) -> Iterator[Row]:
        for (position, audience), group in groupby(arriving, key=lambda row: row[:2]):
            nominations = [Nomination(*row[2:]) for row in group]
            for nomination in chosen(nominations, audience):
                shortlist = nomination.shortlist
                yield position, shard_of(shortlist, self.shards), shortlist


@dataclass(frozen=True, slots=True, kw_only=True)
class Select:
    """The task that runs a shard: publications in order of time in, deliveries out."""

    shares: Sequence[Share]
    with_data: bool = False
    explain: bool = False
    progress: str | None = None

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for shard, published in groupby(rows(arriving), key=lambda row: row[0]):
            run = _ShardRun(self, shard)
            for block in run.blocks(published):
                yield from run.publish(block)
            yield from run.finish()


class _ShardRun:
    """A shard in bulk, or plainly where reasons are wanted."""

    def __init__(self, task: Select, shard: int) -> None:
        self._task = task
        share = task.shares[shard]
        self._pending = _Pending(share)
        self._halves: BulkHalves | PlainHalves
        if task.explain:
            everything = share.vocabulary, share.limits, share.index(), Question()
            self._halves = PlainHalves(*everything, of_a_shard=True)
        else:
            self._halves = BulkHalves(share.vocabulary, share.limits, share.index())
        self._progress = Progress(task.progress)

    def blocks(self, published: Iterable[Row]) -> Iterator[list[Row]]:
        return self._pending.blocks(published, self._halves.at_once)

    def publish(self, block: Sequence[Row]) -> Iterator[pa.RecordBatch]:
        _, time, position, *_ = block[0]
        yield from self._caught_up((time, position))
        admitted = [_admitted(self._halves.matching, row) for row in block]
        if isinstance(self._halves, BulkHalves):
            placements = self._halves.placed(admitted)
            if placements.scores.size:
                yield as_rows(placed(self._halves, placements, self._task.with_data))
        else:
            yield from self._told(self._halves.publish(admitted))
        self._progress.add(len(block))

    def finish(self) -> Iterator[pa.RecordBatch]:
        yield from self._caught_up((END_OF_TIME, 0))
        yield from self._told(self._halves.advance(END_OF_TIME))
        yield from batches([_note(json.dumps({"counts": self._halves.work}))], RESULTS)

    def _caught_up(self, before: tuple[int, int]) -> Iterator[pa.RecordBatch]:
        deliveries: list[Delivery] = []
        for command in self._pending.due(before):
            deliveries += self._halves.apply(command)
        yield from self._told(deliveries)

    def _told(self, deliveries: Sequence[Delivery]) -> Iterator[pa.RecordBatch]:
        """Deliveries as rows, or the reasons that were wanted in their place."""
        if isinstance(self._halves, BulkHalves) or self._halves.explainer is None:
            made = (delivery_row(delivery, self._task.with_data) for delivery in deliveries)
        else:
            explanations = self._halves.explainer.taken(deliveries)
            made = (_note(json.dumps({"explanation": each})) for each in explanations)
        yield from batches(made, RESULTS)


def _note(text: str) -> Row:
    return (*[None] * (len(RESULTS) - 1), text)
