"""The driver of a deployment: one batch after the other, each committed in one step."""

import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from shortlist.engine.arrow import Row, rows
from shortlist.live.files import Files
from shortlist.live.gate import Accepted, Admission, Arrived, Gate, Refusal
from shortlist.live.laps import Laps
from shortlist.live.manifest import Chain, Manifest, Stored
from shortlist.live.outlets import ForeignEntries, Outlet, put_out
from shortlist.live.plans import PlanSetting, choose
from shortlist.live.registers import MANIFEST, Registers, committed
from shortlist.live.registry_state import (
    carried_out,
    empty_shards,
    read_registry_state,
    registry_state,
)
from shortlist.live.segments import Segments
from shortlist.live.shard import Done
from shortlist.live.tables import (
    ACCEPTED,
    COMMANDS,
    REFUSALS,
    WAITING,
    table_of,
    to_bytes,
)
from shortlist.live.tasks import Run, Tasks
from shortlist.log.base import Moved
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.model.vocabulary import Vocabulary

COLLECT_EVERY = 64
"""Batches between two looks for files that nobody needs."""
RETENTION = 600.0
"""Seconds for which such files stay, for those who still read them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a batch led to."""

    number: int
    counts: Counter[str]
    seconds: dict[str, float]
    """What took how long."""
    bytes_written: int
    deliveries: pa.Table
    refusals: pa.Table


class Finished(Exception):
    """A deployment that has come to its end."""


class Driver:
    """Takes over where the manifest says; there is one at a time."""

    def __init__(
        self,
        registers: Registers,
        files: Files,
        settings: Settings,
        run: Run,
        outlet: Outlet,
        *,
        with_data: bool = False,
        plan: PlanSetting = "replicate",
        with_departures: bool = False,
    ) -> None:
        self._registers = registers
        self._files = files
        self._settings = settings
        self._tasks = Tasks(
            run=run,
            files=files,
            limits=settings.limits,
            with_data=with_data,
            with_departures=with_departures,
        )
        self._outlet = outlet
        self._accepted = Segments(files, "accepted", ACCEPTED)
        self._waiting = Segments(files, "waiting", WAITING)
        self._revision, self.manifest = committed(registers)
        if self.manifest.is_finished:
            raise Finished("its input has ended, and time has run on: begin another deployment")
        self._gate = self._recalled_gate()
        shards = len(self.manifest.shards)
        self.choice = choose(plan, self._gate.registry(), shards, settings.limits)
        self._put_out()
        self._files.collect({*self.manifest.files}, RETENTION)

    @property
    def vocabulary(self) -> Vocabulary:
        return self._gate.vocabulary

    @property
    def subscriptions(self) -> int:
        """How many are live."""
        return len(self._gate.roster.subscriptions)

    def run_batch(
        self,
        lines: Iterable[Row],
        *,
        checkpoint: str | None = None,
        batch: int | None = None,
        last: bool = False,
        laps: Laps | None = None,
    ) -> Report:
        """Takes the next lines, as rows of ITEMS, in order of position.

        Whose batch it is, and its number there, are remembered for whoever wants to know whether it
        was committed. Laps may have begun before.
        """
        laps = laps or Laps()
        before, arriving = self.manifest, list(lines)
        since = self._gate.ordering.reached
        found = self._gate.admit(_readable(arriving), last)
        found.refusals += _unreadable(arriving)
        laps.lap("gate")
        done, following = self._tasks.done(found, before, self.choice, since, laps)
        found.refusals.sort(key=_place)
        refusals = table_of(found.refusals, REFUSALS)
        manifest = replace(
            self._manifest(found, done, refusals, arriving, last, following),
            checkpoint=before.checkpoint if checkpoint is None else checkpoint,
            batch=before.batch if batch is None else batch,
        )
        self._commit(manifest)
        laps.lap("commit")
        deliveries = self._put_out()
        laps.lap("output")
        if self.manifest.number % COLLECT_EVERY == 0:
            self._files.collect({*before.files, *self.manifest.files}, RETENTION)
        return Report(
            number=self.manifest.number,
            counts=_counts(found, done, refusals),
            seconds=laps.seconds,
            bytes_written=_size({*self.manifest.files} - {*before.files}, self._files),
            deliveries=deliveries,
            refusals=refusals,
        )

    def _manifest(
        self,
        found: Admission,
        done: Sequence[Done],
        refusals: pa.Table,
        arriving: Sequence[Row],
        last: bool,
        following: str,
    ) -> Manifest:
        before, reached = self.manifest, self._gate.ordering.reached
        counts = Counter(before.counts) + _counts(found, done, refusals)
        forgotten = None if reached is None else reached - self._settings.dedup + 1
        positions = [row[0] for row in arriving if row[0] is not None]
        delivered = tuple(one.deliveries for one in done if one.deliveries is not None)
        return replace(
            before,
            number=before.number + 1,
            position=max([before.position, *positions]),
            latest=self._gate.ordering.latest,
            reached=reached,
            registry=self._changed_registry(found, following),
            accepted=self._accepted.extended(
                before.accepted, table_of(found.accepted, ACCEPTED), forgotten
            ),
            waiting=self._waiting.extended(
                () if last else before.waiting, table_of(found.waiting, WAITING), reached
            ),
            shards=tuple(one.chain for one in sorted(done, key=lambda one: one.shard)),
            deliveries=before.deliveries.followed(sum(one.delivered for one in done), delivered),
            rejects=before.rejects.followed(refusals.num_rows, self._written_refusals(refusals)),
            departures=before.departures.followed(
                sum(one.departed for one in done),
                tuple(one.departures for one in done if one.departures is not None),
            ),
            counts=dict(counts),
            settings={
                "lateness": self._settings.lateness,
                "dedup": self._settings.dedup,
                "advertised": self._settings.advertised,
                "plan": self.choice.plan,
            },
            committed=time.time_ns() // 1000,
            is_finished=last,
        )

    def _changed_registry(self, found: Admission, token: str) -> Chain:
        chain = self.manifest.registry
        if not found.commands:
            return chain
        if chain.is_long():
            content = registry_state(self._gate.registry())
            snapshot = Stored(self._files.write("registry", content), len(content))
            return Chain(token=token, snapshot=snapshot)
        content = to_bytes(table_of(found.commands, COMMANDS))
        return chain.changed(token, Stored(self._files.write("commands", content), len(content)))

    def _written_refusals(self, refusals: pa.Table) -> tuple[str, ...]:
        if not refusals.num_rows:
            return ()
        return (self._files.write("refusals", to_bytes(refusals)),)

    def _commit(self, manifest: Manifest) -> None:
        """Raises `Moved` where another driver has taken over: then nothing of this happened."""
        self._revision = self._registers.put(MANIFEST, manifest.to_bytes(), self._revision)
        self.manifest = manifest

    def _put_out(self) -> pa.Table:
        try:
            return put_out(self.manifest, self._files, self._outlet)
        except (ForeignEntries, Moved) as error:
            if committed(self._registers)[0] != self._revision:
                raise Moved("another driver has taken over") from error
            raise

    def _recalled_gate(self) -> Gate:
        manifest, files = self.manifest, self._files
        content = files.read(manifest.registry.snapshot.name)
        gate = Gate(read_registry_state(content, self._settings.limits), self._settings)
        for position, _, line in carried_out(manifest.registry, files):
            gate.follow(position, line)
        waiting = self._waiting.rows(manifest.waiting, manifest.reached)
        accepted = self._accepted.rows(manifest.accepted)
        gate.recall(
            manifest.latest,
            manifest.reached,
            [Arrived(*row) for row in rows(waiting.to_batches())],
            (Accepted(*row) for row in rows(accepted.to_batches())),
        )
        return gate


def begin(registers: Registers, files: Files, registry: Registry, shards: int) -> None:
    """Makes a deployment that has read nothing yet; raises `Moved` if there is one already."""
    content = registry_state(registry)
    manifest = Manifest(
        id=uuid.uuid4().hex,
        registry=_first_chain(files, "registry", content),
        shards=tuple(
            _first_chain(files, "snapshot", state) for state in empty_shards(registry, shards)
        ),
        committed=time.time_ns() // 1000,
    )
    registers.put(MANIFEST, manifest.to_bytes(), 0)


def _first_chain(files: Files, kind: str, content: bytes) -> Chain:
    return Chain(token=uuid.uuid4().hex, snapshot=Stored(files.write(kind, content), len(content)))


def _readable(arriving: Iterable[Row]) -> Iterator[Arrived]:
    return (Arrived(*row[:7]) for row in arriving if row[1] in ("publication", "command"))


def _place(refusal: Refusal) -> tuple[int, str]:
    """What has no position comes first."""
    return -1 if refusal.position is None else refusal.position, refusal.line


def _unreadable(arriving: Iterable[Row]) -> list[Refusal]:
    return [Refusal(row[0], row[6], row[7], "unreadable") for row in arriving if row[1] == "reject"]


def _counts(found: Admission, done: Sequence[Done], refusals: pa.Table) -> Counter[str]:
    """What is counted, of one batch."""
    counts = Counter(found.counts)
    for one in done:
        counts.update(one.counts)
    counts.update(f"rejected: {why}" for why in refusals.column("why").to_pylist())
    return counts


def _size(names: Iterable[str], files: Files) -> int:
    return sum(files.path(name).stat().st_size for name in names)
