"""The driver of a deployment: one batch after the other, each committed in one step."""

import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

import pyarrow as pa

from shortlist.engine.admitted import Admitted
from shortlist.engine.quarantine import Harmful
from shortlist.engine.saved import Saved
from shortlist.engine.stages import Read
from shortlist.live.admission_files import AdmissionFiles
from shortlist.live.files import Files
from shortlist.live.manifest import Chain, Manifest
from shortlist.live.outlets import ForeignEntries, Outlet, Recorder, put_out
from shortlist.live.plans import choose
from shortlist.live.registers import MANIFEST, Registers, committed, take_over
from shortlist.live.registry_folder import CompiledRegistry
from shortlist.live.registry_state import first_states
from shortlist.live.shard import Done
from shortlist.live.states import write_state
from shortlist.live.tables import HANDOVERS, REFUSALS, table_of, to_bytes
from shortlist.live.tasks import Batch, Laps, Run
from shortlist.log.base import Moved
from shortlist.model.command import Command
from shortlist.model.counts import REJECTED
from shortlist.model.items import Items, Wanted
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
            # whoever has brought it to its end may not have come to that
            self._put_out(self.manifest)
        self._revision, self.manifest = take_over(registers, self._check)
        self._files = files = files.of_epoch(self.manifest.epoch)
        self._batch = partial(
            Batch,
            run=run,
            files=files,
            limits=settings.limits,
            with_data=with_data,
            with_departures=with_departures,
        )
        self._admission_files = AdmissionFiles(files, settings, with_data, begun_with)
        self._with_data = with_data
        self._admission = self._admission_files.recall(self.manifest)
        shards = len(self.manifest.shards)
        accepted = settings.limits.for_what_was_read()
        self.choice = choose(plan, self._admission.roster, shards, accepted)
        self._put_out(self.manifest)
        self._files.collect({*self.manifest.files}, RETENTION)

    def keep_registry(self) -> None:
        """Before the first batch of a new deployment: what a later driver opens is written while
        shards compile theirs."""
        self._admission_files.keep_registry(self.manifest, self._admission)

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
        if before == now:
            return None
        return (
            f"the tz database is {now} now, and was {before}: what waits is released when it was "
            f"to be, later periods are those of {now}, and a replay may differ from what was"
        )

    @property
    def files(self) -> Files:
        """The files of this driver's epoch."""
        return self._files

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
        pending: Sequence[str] | None = None,
        last: bool = False,
        laps: Laps | None = None,
    ) -> Report:
        """Take the next items, in order of position.

        `checkpoint` and `batch` identify the caller's batch. `pending` names the files that hold
        what is left of it, in order. All three are stored in the manifest, so that a caller that
        starts again knows what was committed, and continues there. `laps` may have begun before.
        """
        return self.commit_batch(items, checkpoint, batch, pending=pending, last=last, laps=laps)()

    def commit_batch(
        self,
        items: Items,
        checkpoint: str | None = None,
        batch: int | None = None,
        *,
        commands: Mapping[int, Command] | None = None,
        pending: Sequence[str] | None = None,
        last: bool = False,
        laps: Laps | None = None,
        admitted: Callable[[], object] = lambda: None,
        ready: Callable[[], object] = lambda: None,
    ) -> Callable[[], Report]:
        """The same, but for what it returns: that brings where it belongs what came of the batch.
        `ready` returns when that is done for the batch before, which may go on meanwhile. It is
        told when items are admitted, and only shards are at work: once, and again where some items
        do harm. Commands that are known need not be read."""
        timed, before = laps or Laps(), self.manifest
        found, done, following = self._carried_out(items, commands or {}, last, timed, admitted)
        found.refusals.sort(key=lambda refusal: refusal.order)
        refusals = table_of(found.refusals, REFUSALS)
        manifest = replace(
            self._manifest(found, done, refusals, items, last, following),
            checkpoint=before.checkpoint if checkpoint is None else checkpoint,
            batch=before.batch if batch is None else batch,
            pending=before.pending if pending is None else tuple(pending),
        )
        counts = _counts(found, done, refusals)
        ready()
        timed.lap("waiting")
        self._commit(manifest)
        timed.lap("commit")

        def put_out() -> Report:
            deliveries = self._put_out(manifest)
            timed.lap("output")
            if manifest.number % COLLECT_EVERY == 0:
                self._files.collect({*before.files, *manifest.files}, RETENTION)
            written = {*manifest.files} - {*before.files}
            return Report(
                number=manifest.number,
                counts=counts,
                seconds=timed.seconds,
                bytes_written=sum(self._files.path(name).stat().st_size for name in written),
                deliveries=deliveries,
                refusals=refusals,
            )

        return put_out

    def _carried_out(
        self,
        items: Items,
        commands: Mapping[int, Command],
        last: bool,
        laps: Laps,
        admitted: Callable[[], object],
    ) -> tuple[Admitted, list[Done], str]:
        """What came of items, those aside that the engine fails on. Everything else is as if these
        had never been there: what was decided about a batch with them does not count."""
        harmful: dict[int, str] = {}
        while True:
            self._admission.harmful = harmful
            since = self._admission.ordering.reached
            try:
                found = self._admission.admit(items, commands, last=last)
                laps.lap("admission")
                admitted()
                batch = self._batch(
                    found=found, manifest=self.manifest, choice=self.choice, since=since, laps=laps
                )
                done, following = batch.done()
            except Harmful as error:
                if error.reasons.keys() <= harmful.keys():
                    raise
                harmful |= error.reasons
                self._admission = self._admission_files.recall(self.manifest)
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
        counts = Counter(before.counts) + _counts(found, done, refusals)
        handovers = found.handovers if isinstance(self._outlet, Recorder) else []
        position = max(before.position, int(items.positions.max(initial=before.position)))
        return replace(
            self._admission_files.follow(before, self._admission, found, following, last=last),
            number=before.number + 1,
            position=position,
            passed=ordering.passed_up_to(position),
            arrived=self._admission.arrivals.latest,
            latest=ordering.latest,
            reached=ordering.reached,
            shards=tuple(one.chain for one in sorted(done, key=lambda one: one.shard)),
            deliveries=before.deliveries.followed(
                sum(one.delivered for one in done),
                tuple(one.deliveries for one in done if one.deliveries is not None),
            ),
            rejects=before.rejects.followed(
                refusals.num_rows,
                (self._files.write("refusals", to_bytes(refusals)),) if refusals.num_rows else (),
            ),
            departures=before.departures.followed(
                sum(one.departed for one in done),
                tuple(one.departures for one in done if one.departures is not None),
            ),
            handovers=before.handovers.followed(
                len(handovers),
                (self._files.write("handovers", to_bytes(table_of(handovers, HANDOVERS))),)
                if handovers
                else (),
            ),
            counts=dict(counts),
            subscriptions=self.subscriptions,
            shortlists=len(self._admission.roster.shortlists),
            tzdata=database_version(),
            settings={
                "lateness": self._settings.lateness_micros,
                "ahead": self._settings.ahead_micros,
                "dedup": self._settings.dedup_micros,
                "advertised": self._settings.advertised,
                "plan": self.choice.plan,
                "limits": asdict(self._settings.limits),
            },
            committed=time.time_ns() // 1000,
            is_finished=last,
        )

    def _commit(self, manifest: Manifest) -> None:
        """Raises `Moved` where another driver has taken over: then nothing of this happened."""
        if not {*manifest.files} <= {*self.manifest.files}:
            self._files.settle()
        self._revision = self._registers.put(MANIFEST, manifest.to_bytes(), self._revision)
        self.manifest = manifest

    def _put_out(self, manifest: Manifest) -> pa.Table:
        for _ in range(MOST_ATTEMPTS):
            try:
                return put_out(manifest, self._files, self._outlet)
            except (ForeignEntries, Moved) as error:
                if committed(self._registers)[0] != self._revision:
                    raise Moved(TAKEN_OVER) from error
                if isinstance(error, ForeignEntries):
                    raise
                # the driver before this one has put out the same meanwhile
        raise ForeignEntries(f"others wrote to the output meanwhile, {MOST_ATTEMPTS} times")


def begin(
    registers: Registers,
    files: Files,
    registry: Registry | CompiledRegistry,
    shards: int,
    settings: Settings | None = None,
) -> None:
    """Makes a deployment that has read nothing yet, with a registry that was checked under these
    settings; raises `Moved` if there is one already. One that is compiled says how many shards
    there are."""
    settings = settings or Settings()
    if isinstance(registry, CompiledRegistry):
        whole, parts = registry.first_states(files.folder)
        counts = registry.subscriptions, registry.shortlists
    else:
        whole, parts = first_states(registry, shards)
        owners = sum(each.shortlist is None for each in registry.subscriptions)
        counts = len(registry.subscriptions), len(registry.shortlists) + owners
    first = files.store("registry", whole)
    manifest = Manifest(
        id=uuid.uuid4().hex,
        basis=settings.time,
        settings={"limits": asdict(settings.limits)},
        first_registry=first,
        registry=Chain(token=uuid.uuid4().hex, snapshot=first),
        shards=tuple(write_state(Saved.of_bytes(state), files) for state in parts),
        subscriptions=counts[0],
        shortlists=counts[1],
        tzdata=database_version(),
        committed=time.time_ns() // 1000,
    )
    files.settle()
    registers.put(MANIFEST, manifest.to_bytes(), 0)


def _counts(found: Admitted, done: Sequence[Done], refusals: pa.Table) -> Counter[str]:
    """What is counted, of one batch."""
    counts = Counter(found.counts)
    for one in done:
        counts.update(one.counts)
    counts.update(f"{REJECTED}{why}" for why in refusals.column("why").to_pylist())
    return counts
