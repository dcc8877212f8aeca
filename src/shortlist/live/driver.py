"""The driver of a deployment: one batch after the other, each committed in one step."""

import time
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

import pyarrow as pa

from shortlist.engine.admission import Admission, Admitted
from shortlist.engine.arrow import rows
from shortlist.engine.quarantine import Harmful, Quarantined
from shortlist.engine.stages import Read
from shortlist.intake.reading import LineReader
from shortlist.live.files import Files
from shortlist.live.laps import Laps
from shortlist.live.manifest import Chain, Input, Manifest, Segment
from shortlist.live.outlets import ForeignEntries, Outlet, put_out
from shortlist.live.plans import choose
from shortlist.live.registers import MANIFEST, Registers, committed, take_over
from shortlist.live.registry_state import first_states, registry_state, replay_registry
from shortlist.live.segments import Segments
from shortlist.live.shard import Done
from shortlist.live.tables import (
    ACCEPTED,
    COMMANDS,
    QUARANTINE,
    REFUSALS,
    WAITING,
    table_of,
    to_bytes,
)
from shortlist.live.tasks import Run, Tasks
from shortlist.log.base import Moved
from shortlist.model.command import Command
from shortlist.model.counts import REJECTED
from shortlist.model.items import COMMAND, Items, Wanted
from shortlist.model.problem import ShortlistError
from shortlist.model.registry import Registry
from shortlist.model.settings import PlanSetting, Settings
from shortlist.model.zones import database_version

COLLECT_EVERY = 64
"""Batches between two looks for files that nobody needs."""
RETENTION = 600.0
"""Seconds for which such files stay, for those who still read them."""
MOST_ATTEMPTS = 100
"""At putting out what somebody else puts out at the same time."""
TAKEN_OVER = "another driver has taken over"


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


class Finished(ShortlistError):
    """A deployment that has come to its end."""


class WrongBasis(ShortlistError, ValueError):
    """Another time basis than the one that a deployment has chosen at its first start."""


class Driver:
    """Takes over where the manifest says; there is one at a time.

    Whoever has just begun a deployment knows its registry: then nobody has to read it again.
    """

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
        begun_with: Registry | None = None,
    ) -> None:
        self._registers = registers
        self._files = files
        self._settings = settings
        self._outlet = outlet
        self._revision, self.manifest = committed(registers)
        if self.manifest.is_finished:
            self._put_out()  # whoever has brought it to its end may not have come to that
        self._revision, self.manifest = take_over(registers, self._check)
        self._files = files = files.of_epoch(self.manifest.epoch)
        self._tasks = Tasks(
            run=run,
            files=files,
            limits=settings.limits,
            with_data=with_data,
            with_departures=with_departures,
        )
        self._accepted = Segments(files, "accepted", ACCEPTED)
        self._waiting = Segments(files, "waiting", WAITING)
        self._quarantine = Segments(files, "quarantine", QUARANTINE)
        self._with_data = with_data
        self._begun_with = begun_with
        self._admission = self._recall_admission()
        shards = len(self.manifest.shards)
        self.choice = choose(plan, self._admission.registry(), shards, settings.limits)
        self._put_out()
        self._files.collect({*self.manifest.files}, RETENTION)

    def _check(self, manifest: Manifest) -> None:
        """Raises where nobody can go on with what was committed, or not so."""
        if manifest.is_finished:
            raise Finished("its input has ended, and time has run on: begin another deployment")
        if self._settings.time != manifest.basis:
            raise WrongBasis(
                f"expected --time {manifest.basis}, which this deployment has chosen at its"
                f" first start, found --time {self._settings.time}"
            )

    def check_epoch(self) -> None:
        """Raises `Moved` where another driver has taken over."""
        if committed(self._registers)[1].epoch != self.manifest.epoch:
            raise Moved(TAKEN_OVER)

    @property
    def changed_zones(self) -> str | None:
        """What whoever starts it should know, if it went by another tz database so far."""
        before, now = self.manifest.tzdata, database_version()
        if before in (None, now):
            return None
        return (
            f"the tz database is {now} now, and was {before}: what waits is released when it was "
            f"to be, later periods are those of {now}, and a replay may differ from what was"
        )

    @property
    def subscriptions(self) -> int:
        """How many are live."""
        return len(self._admission.roster.subscriptions)

    def read_task(self, *, commands: bool = True, tabular: bool = False) -> Read:
        """READ, for the lines of the next batch."""
        return Read(
            vocabulary=self._admission.vocabulary,
            limits=self._settings.limits,
            wanted=self._admission.wanted.joined(Wanted(data=self._with_data)),
            commands=commands,
            tabular=tabular,
            by_arrival=self.manifest.basis == "arrival",
            keeps_blanks=True,
        )

    def run_batch(
        self,
        items: Items,
        *,
        checkpoint: str | None = None,
        batch: int | None = None,
        last: bool = False,
        laps: Laps | None = None,
    ) -> Report:
        """Takes the next items, in order of position.

        Whose batch it is, and its number there, are remembered for whoever wants to know whether it
        was committed. Laps may have begun before.
        """
        laps = laps or Laps()
        before = self.manifest
        found, done, following = self._carried_out(items, last, laps)
        found.refusals.sort(key=lambda refusal: refusal.order)
        refusals = table_of(found.refusals, REFUSALS)
        manifest = replace(
            self._manifest(found, done, refusals, items, last, following),
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

    def _carried_out(
        self, items: Items, last: bool, laps: Laps
    ) -> tuple[Admitted, list[Done], str]:
        """What came of items, those aside that the engine fails on. Everything else is as if these
        had never been there: what was decided about a batch with them does not count."""
        harmful: dict[int, str] = {}
        while True:
            self._admission.harmful = harmful
            since = self._admission.ordering.reached
            try:
                found = self._admission.admit(items, last=last)
                laps.lap("admission")
                done, following = self._tasks.done(found, self.manifest, self.choice, since, laps)
            except Harmful as error:
                if error.reasons.keys() <= harmful.keys():
                    raise
                harmful |= error.reasons
                self._admission = self._recall_admission()
            else:
                return found, done, following

    def _manifest(
        self,
        found: Admitted,
        done: Sequence[Done],
        refusals: pa.Table,
        items: Items,
        last: bool,
        following: str,
    ) -> Manifest:
        before, ordering = self.manifest, self._admission.ordering
        reached = ordering.reached
        counts = Counter(before.counts) + _counts(found, done, refusals)
        forgotten = None if reached is None else reached - self._settings.dedup + 1
        delivered = tuple(one.deliveries for one in done if one.deliveries is not None)
        position = max(before.position, int(items.positions.max(initial=before.position)))
        return replace(
            before,
            number=before.number + 1,
            position=position,
            passed=ordering.passed_up_to(position),
            arrived=self._admission.arrivals.latest,
            latest=ordering.latest,
            reached=reached,
            registry=self._changed_registry(found, following),
            accepted=self._accepted.extended(
                before.accepted, table_of(found.accepted, ACCEPTED), forgotten
            ),
            waiting=self._waiting.extended(
                () if last else before.waiting, _waiting(found.waiting), reached
            ),
            quarantine=self._changed_quarantine(found),
            quarantined=len(self._admission.quarantine.held),
            shards=tuple(one.chain for one in sorted(done, key=lambda one: one.shard)),
            deliveries=before.deliveries.followed(sum(one.delivered for one in done), delivered),
            rejects=before.rejects.followed(refusals.num_rows, self._written_refusals(refusals)),
            departures=before.departures.followed(
                sum(one.departed for one in done),
                tuple(one.departures for one in done if one.departures is not None),
            ),
            counts=dict(counts),
            subscriptions=self.subscriptions,
            shortlists=len(self._admission.roster.shortlists),
            tzdata=database_version(),
            settings={
                "lateness": self._settings.lateness,
                "ahead": self._settings.ahead,
                "dedup": self._settings.dedup,
                "advertised": self._settings.advertised,
                "plan": self.choice.plan,
                "limits": asdict(self._settings.limits),
            },
            committed=time.time_ns() // 1000,
            is_finished=last,
        )

    def _changed_registry(self, found: Admitted, token: str) -> Chain:
        chain = self.manifest.registry
        if not found.commands:
            return chain
        if chain.is_long():
            content = registry_state(self._admission.registry())
            return Chain(token=token, snapshot=self._files.store("registry", content))
        commands = found.items.kept(found.items.kinds == COMMAND).batch
        content = to_bytes(pa.table({name: commands.column(name) for name in COMMANDS.names}))
        return chain.followed(token, Input(items=self._files.store("commands", content)))

    def _changed_quarantine(self, found: Admitted) -> tuple[Segment, ...]:
        held, before = self._admission.quarantine.held, self.manifest.quarantine
        if found.released:  # somebody has decided, which is rare: the rest is written anew
            return self._quarantine.extended((), table_of(held.values(), QUARANTINE), None)
        return self._quarantine.extended(before, table_of(found.quarantined, QUARANTINE), None)

    def _written_refusals(self, refusals: pa.Table) -> tuple[str, ...]:
        if not refusals.num_rows:
            return ()
        return (self._files.write("refusals", to_bytes(refusals)),)

    def _commit(self, manifest: Manifest) -> None:
        """Raises `Moved` where another driver has taken over: then nothing of this happened."""
        if not {*manifest.files} <= {*self.manifest.files}:
            self._files.settle()
        self._revision = self._registers.put(MANIFEST, manifest.to_bytes(), self._revision)
        self.manifest = manifest

    def _put_out(self) -> pa.Table:
        for _ in range(MOST_ATTEMPTS):
            try:
                return put_out(self.manifest, self._files, self._outlet)
            except (ForeignEntries, Moved) as error:
                if committed(self._registers)[0] != self._revision:
                    raise Moved(TAKEN_OVER) from error
                if isinstance(error, ForeignEntries):
                    raise
                # the driver before this one has put out the same meanwhile
        raise ForeignEntries(f"others wrote to the output meanwhile, {MOST_ATTEMPTS} times")

    def _recall_admission(self) -> Admission:
        """What the driver before this one knew."""
        manifest, limits = self.manifest, self._settings.limits
        registry, commands = self._recall_registry()
        admission = Admission(registry, self._settings)
        for command in commands:
            admission.follow(command)
        waiting = self._waiting.rows(manifest.waiting, manifest.reached)
        wanted = admission.wanted.joined(Wanted(data=self._with_data))
        read = LineReader(
            registry.vocabulary,
            limits.for_what_was_read(),
            wanted,
            by_arrival=manifest.basis == "arrival",
        )
        lines = [line.encode() for line in waiting.column("line").to_pylist()]
        times = waiting.column("time").to_pylist()
        items = read.lines(waiting.column("position").to_pylist(), lines, times)
        admission.ordering.restore(manifest.latest, items, manifest.reached)
        admission.arrivals.latest = manifest.arrived
        for row in rows(self._quarantine.rows(manifest.quarantine).to_batches()):
            admission.quarantine.put(Quarantined(*row))
        for accepted, source, name in rows(self._accepted.rows(manifest.accepted).to_batches()):
            admission.duplicates.accept(source, name, accepted)
        return admission

    def _recall_registry(self) -> tuple[Registry, Iterable[Command]]:
        manifest, limits = self.manifest, self._settings.limits
        if self._begun_with is not None and not manifest.number:
            return self._begun_with, ()
        others = manifest.settings.get("limits") != asdict(limits)
        return replay_registry(manifest.registry, self._files, limits, checks=others)


def begin(
    registers: Registers,
    files: Files,
    registry: Registry,
    shards: int,
    settings: Settings | None = None,
) -> None:
    """Makes a deployment that has read nothing yet, with a registry that was checked under these
    settings; raises `Moved` if there is one already."""
    settings = settings or Settings()
    whole, parts = first_states(registry, shards)
    first = _first_chain(files, "registry", whole)
    manifest = Manifest(
        id=uuid.uuid4().hex,
        basis=settings.time,
        settings={"limits": asdict(settings.limits)},
        first_registry=first.snapshot,
        registry=first,
        shards=tuple(_first_chain(files, "snapshot", state) for state in parts),
        subscriptions=len(registry.subscriptions),
        shortlists=len(registry.shortlists)
        + sum(each.shortlist is None for each in registry.subscriptions),
        tzdata=database_version(),
        committed=time.time_ns() // 1000,
    )
    files.settle()
    registers.put(MANIFEST, manifest.to_bytes(), 0)


def _first_chain(files: Files, kind: str, content: bytes) -> Chain:
    return Chain(token=uuid.uuid4().hex, snapshot=files.store(kind, content))


def _waiting(items: Items) -> pa.Table:
    return pa.table({name: items.batch.column(name) for name in WAITING.names})


def _counts(found: Admitted, done: Sequence[Done], refusals: pa.Table) -> Counter[str]:
    """What is counted, of one batch."""
    counts = Counter(found.counts)
    for one in done:
        counts.update(one.counts)
    counts.update(f"{REJECTED}{why}" for why in refusals.column("why").to_pylist())
    return counts


def _size(names: Iterable[str], files: Files) -> int:
    return sum(files.path(name).stat().st_size for name in names)
