"""The tasks of a shard: its share of the registry, run over every admitted publication."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any

import numpy as np
import pyarrow as pa

from shortlist.engine.engine import BLOCK, END_OF_TIME
from shortlist.engine.explanation import Explainer, Question
from shortlist.engine.finding import Found, Published
from shortlist.engine.halves import Matching, Selecting
from shortlist.intake.lines import reread
from shortlist.intake.roster import Roster, registry_commands
from shortlist.matching.values import Reader
from shortlist.model.command import Advertise, Command, Subscribe
from shortlist.model.delivery import Delivery, delivery_id
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.candidates import Candidate
from shortlist.selection.audience import Inducement, Nomination, chosen
from shortlist.selection.base import Outcome
from shortlist.spark.arrivals import Recipients, arrived, as_rows
from shortlist.spark.arrow import Row, batches, rows
from shortlist.spark.progress import Progress
from shortlist.spark.schemas import CHOSEN, NOMINATIONS, RESULTS
from shortlist.spark.slots import shard_of


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


class _Registered:
    """A shard's matching half, kept at the registry of the publication at hand."""

    def __init__(self, share: Share, selecting: Selecting | None = None) -> None:
        self.matching = Matching(share.vocabulary, share.limits)
        self._selecting = selecting
        self._pending = list(reversed(share.commands))

    def is_due(self, before: tuple[int, int]) -> bool:
        """Whether something comes before a (time, position)."""
        if not self._pending:
            return False
        command = self._pending[-1]
        return (command.time, command.position) < before

    def catch_up(self, before: tuple[int, int]) -> list[Delivery]:
        """Carries out what comes before a (time, position)."""
        deliveries = []
        while self.is_due(before):
            command = self._pending.pop()
            if self._selecting is not None:
                deliveries += self._selecting.apply(command, self.matching.roster)
            self.matching.apply(command)
        return deliveries


@dataclass(frozen=True, slots=True, kw_only=True)
class Nominate:
    """The task in which a shard names its best candidates for a publisher's audience."""

    shares: Sequence[Share]

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches(self._nominations(rows(arriving)), NOMINATIONS)

    def _nominations(self, arriving: Iterator[Row]) -> Iterator[Row]:
        for shard, published in groupby(arriving, key=lambda row: row[0]):
            registered = _Registered(self.shares[shard])
            matching = registered.matching
            for _, time, position, line, audience, advertisement in published:
                registered.catch_up((time, position))
                publication = reread(line, position, time)
                read = matching.read(publication)
                inducement = Inducement(audience, advertisement)
                candidates = matching.candidates(publication, read)
                for nomination in matching.nominations(inducement, read, candidates):
                    yield position, audience, *nomination


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
    def __init__(self, task: Select, shard: int) -> None:
        self._task = task
        self._selecting = Selecting()
        self._registered = _Registered(task.shares[shard], self._selecting)
        matching = self._registered.matching
        self._explainer = None
        if task.explain:
            self._explainer = Explainer(Question(), matching, self._selecting, of_a_shard=True)
        self._progress = Progress(task.progress)

    def blocks(self, published: Iterable[Row]) -> Iterator[list[Row]]:
        """Publications that nothing happens between; one by one where reasons are wanted."""
        most = BLOCK if self._explainer is None else 1
        block: list[Row] = []
        for row in published:
            _, time, position, *_ = row
            if block and (len(block) == most or self._registered.is_due((time, position))):
                yield block
                block = []
            block.append(row)
        if block:
            yield block

    def publish(self, block: Sequence[Row]) -> Iterator[pa.RecordBatch]:
        _, time, position, *_ = block[0]
        deliveries = self._registered.catch_up((time, position))
        matching = self._registered.matching
        publications = [reread(line, position, time) for _, time, position, line, *_ in block]
        reads = [matching.read(publication) for publication in publications]
        limited = [advertisement is not None for *_, advertisement, _ in block]
        wants_objects = np.array(limited) | (self._explainer is not None)
        found = matching.find(Published.of(publications, reads), wants_objects)
        if found.arrivals.scores.size:
            yield self._arrived(publications, found)
        for row, publication, read, candidates in zip(
            block, publications, reads, found.candidates, strict=True
        ):
            deliveries += self._arrive(row, publication, read, candidates)
        self._progress.add(len(block))
        yield from batches(self._rows(deliveries), RESULTS)

    def _arrived(self, publications: Sequence[Publication], found: Found) -> pa.RecordBatch:
        recipients = self._selecting.recipients(found)
        names, shortlists = zip(*recipients.values(), strict=True)
        place_of = np.zeros(max(recipients) + 1, np.int32)
        place_of[[*recipients]] = np.arange(len(recipients))
        numbered = place_of[found.arrivals.subscriptions]
        everyone = Recipients.of(
            names,
            [shortlist.id for shortlist in shortlists],
            [shortlist.subscriber for shortlist in shortlists],
        )
        arrivals = found.arrivals._replace(subscriptions=numbered)
        return as_rows(arrived(publications, arrivals, everyone, self._task.with_data))

    def _arrive(
        self, row: Row, publication: Publication, read: Reader, candidates: Sequence[Candidate]
    ) -> list[Delivery]:
        *_, audience, advertisement, allowed = row
        deliveries: list[Delivery] = []
        outcomes: dict[str, Outcome] = {}
        for candidate in candidates:
            if advertisement is None or candidate.shortlist in (allowed or ()):
                placed, outcomes[candidate.shortlist] = self._selecting.arrive(candidate)
                deliveries += placed
        if self._explainer is not None:
            inducement = None if advertisement is None else Inducement(audience, advertisement)
            self._explainer.published(publication, read, candidates, outcomes, inducement)
        return deliveries

    def finish(self) -> Iterator[pa.RecordBatch]:
        deliveries = self._registered.catch_up((END_OF_TIME, 0))
        deliveries += self._selecting.advance(END_OF_TIME)
        yield from batches(self._rows(deliveries), RESULTS)
        counts: dict[str, Any] = {
            **self._selecting.counts,
            "other_type": self._registered.matching.census.mismatches,
        }
        yield from batches([_note(json.dumps({"counts": counts}))], RESULTS)

    def _rows(self, deliveries: Sequence[Delivery]) -> Iterator[Row]:
        if self._explainer is None:
            yield from (delivery_row(delivery, self._task.with_data) for delivery in deliveries)
            return
        for explanation in self._explainer.taken(deliveries):
            yield _note(json.dumps({"explanation": explanation}))


def delivery_row(delivery: Delivery, with_data: bool) -> Row:
    """A delivery as a row of RESULTS."""
    publication = delivery.publication
    return (
        delivery_id(delivery.shortlist, publication.source, publication.id),
        delivery.time,
        delivery.shortlist,
        delivery.subscriber,
        publication.source,
        publication.id,
        delivery.subscription,
        delivery.score,
        delivery.possibility,
        delivery.necessity,
        delivery.rank,
        delivery.cause,
        _json(publication.data) if with_data else None,
        publication.position,
        None,
    )


def _note(text: str) -> Row:
    return (*[None] * (len(RESULTS) - 1), text)


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False)
