"""The commands that run a deployment and move its state: up, rescale, export, import."""

import re
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer
from prometheus_client import CollectorRegistry

from shortlist.cli.app import (
    LIVE,
    OFF,
    POLL_SECONDS,
    Advertised,
    Dedup,
    LimitFlags,
    LiveAhead,
    LiveLateness,
    LiveTime,
    RegistryPath,
    app,
    duration_of,
    errors,
    fail,
    limits_of,
    live_settings,
    notes,
    say,
)
from shortlist.cli.deployment import (
    UNLIMITED,
    LogUrl,
    announced_folder,
    folder_of,
    opened,
    read_up_to,
)
from shortlist.intake.files import read_registry
from shortlist.live.driver import Driver, Report
from shortlist.live.locking import AlreadyRunning, only_driver
from shortlist.live.logs import tell, tell_batch, written_logs
from shortlist.live.metrics import LOOPBACK, Metrics, lag
from shortlist.live.outlets import LogOutlet, put_out
from shortlist.live.places import announce, files_in
from shortlist.live.plans import PlanSetting
from shortlist.live.registers import committed, has_deployment
from shortlist.live.savepoint import (
    ask_for_shards,
    export,
    rescale,
    restore,
)
from shortlist.log.base import Log, Moved
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits, TimeBasis
from shortlist.progress import Steps
from shortlist.spark.running import Running, Wanted
from shortlist.spark.session import any_session

REJECTS_EVERY = 10.0
"""Seconds between two lines about what was turned away."""


@app.command(rich_help_panel=LIVE)
def up(
    registry: RegistryPath = None,
    *,
    log: LogUrl,
    state: Annotated[
        Path | None, typer.Option(help="Where its state goes; else beside a log in a file.")
    ] = None,
    basis: LiveTime = None,
    lateness: LiveLateness = None,
    ahead: LiveAhead = None,
    dedup: Dedup = "24h",
    advertised: Advertised = "optional",
    limit: LimitFlags = None,
    shards: Annotated[
        int | None, typer.Option(min=1, max=256, help="How many tasks select; else one per core.")
    ] = None,
    plan: Annotated[
        PlanSetting, typer.Option(help="replicate, broadcast, rendezvous, or auto.")
    ] = "auto",
    with_data: Annotated[
        bool, typer.Option(help="Deliveries carry the publication's data.")
    ] = False,
    changes: Annotated[
        bool, typer.Option(help="Also tell what leaves shortlists (`watch --changes`).")
    ] = False,
    at_most: Annotated[int, typer.Option(min=1, help="Lines in a micro-batch.")] = 40_000,
    heartbeat: Annotated[
        str, typer.Option(help="Silence after which time is written down, or off.")
    ] = "500ms",
    metrics: Annotated[str, typer.Option(help="Where metrics are shown, or off.")] = LOOPBACK,
    logs: Annotated[Path | None, typer.Option(help="Structured logs go to this file.")] = None,
    master: Annotated[str | None, typer.Option(help="A Spark master; else this machine.")] = None,
) -> None:
    """Run a deployment: read the log, select, deliver, and go on where it was."""
    with errors():
        folder = folder_of(log, state)
        known = _first_registry(registry, log, limits_of(limit))
        settings = live_settings(_basis(log, basis), lateness, ahead, dedup, advertised, limit)
        wanted = Wanted(
            log=log,
            folder=folder,
            registry=known,
            settings=settings,
            shards=shards,
            plan=plan,
            with_data=with_data,
            with_departures=changes,
            at_most=at_most,
            heartbeat=None if heartbeat == OFF else duration_of("--heartbeat", heartbeat),
        )
        with ExitStack() as stack:
            if logs is not None:
                stack.enter_context(written_logs(logs))
            _run(wanted, _shown_metrics(metrics, stack), master)


def _run(wanted: Wanted, metrics: Metrics, master: str | None) -> None:
    """Until it is told to stop; whatever else ends it is said."""
    with Steps(notes).step("Starting Spark"):
        spark = any_session(master)
    running = Running(wanted, spark, Screen(metrics))
    try:
        with _stopped_by_signals(running):
            running.run()
    except Moved:
        tell("superseded")
        fail(["another process has taken over this deployment"])
    tell("stopped")


def _basis(log: str, given: TimeBasis | None) -> TimeBasis:
    """What a deployment was begun with; of a new one what is asked for, or the log's clock."""
    with opened(log) as known:
        kept = committed(known)[1].basis if has_deployment(known) else None
    if kept is not None and given not in (None, kept):
        fail(
            [
                f"expected --time {kept}, which this deployment has chosen at its first start,"
                f" found --time {given}"
            ]
        )
    return kept or given or "arrival"


def _first_registry(path: Path | None, log: str, limits: Limits) -> Registry:
    """What a new deployment begins with."""
    if path is None:
        return Registry()
    registry = read_registry(path, limits)
    with opened(log) as known:
        if has_deployment(known):
            say([f"{path}: left aside, since the deployment has a registry already"])
    return registry


def _shown_metrics(address: str, stack: ExitStack) -> Metrics:
    """Metrics, which can be looked at for as long as the stack is open."""
    metrics = Metrics(CollectorRegistry())
    if address == OFF:
        return metrics
    if not re.fullmatch(r".+:\d+", address):
        raise typer.BadParameter(f"--metrics: expected HOST:PORT or off, found {address!r}")
    say([f"metrics: {stack.enter_context(metrics.serve(address))}"])
    return metrics


class RejectLine:
    """Now and then a line that says what was turned away since the last one, and why."""

    def __init__(self) -> None:
        self._since: Counter[str] = Counter()
        self._last = ""
        self._told: float | None = None

    def after(self, report: Report, now: float) -> str | None:
        """The line, if there is something to tell, and nothing was told for a while."""
        whys = report.refusals.column("why").to_pylist()
        if whys:
            self._since.update(whys)
            self._last = report.refusals.column("reason").to_pylist()[-1]
        is_soon = self._told is not None and now - self._told < REJECTS_EVERY
        if not self._since or is_soon:
            return None
        counted = ", ".join(f"{count:,} {why}" for why, count in self._since.items())
        self._told, self._since = now, Counter()
        return f"rejected: {counted}; the last: {self._last} (shortlist watch --rejects)"


class Screen:
    """Shows a person, metrics and logs what happens."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._status = notes.status("")
        self._rejects = RejectLine()

    def started(self, driver: Driver, log: Log) -> None:
        manifest = driver.manifest
        tell("started", id=manifest.id, number=manifest.number, position=manifest.position)
        notes.print(
            f"up: {driver.subscriptions:,} subscriptions in {len(manifest.shards)} shards, "
            f"after {manifest.number:,} batches and {manifest.deliveries.end:,} deliveries; "
            f"plan {driver.choice.plan}: {driver.choice.why}"
        )
        if driver.changed_zones is not None:
            notes.print(driver.changed_zones)
        self._status.start()
        self._status.update("waiting for the first batch")

    def ran(self, report: Report, driver: Driver, log: Log, appended: dict[int, int]) -> None:
        manifest = driver.manifest
        behind = lag(log, read_up_to(manifest), time.time())
        self._metrics.observe(
            report,
            manifest,
            behind=behind,
            subscriptions=driver.subscriptions,
            appended=appended,
        )
        tell_batch(report, manifest)
        line = self._rejects.after(report, time.monotonic())
        if line is not None:
            notes.print(line, markup=False, soft_wrap=True)
        self._status.update(
            f"batch {manifest.number:,} in {sum(report.seconds.values()):.2f} s · "
            f"{manifest.counts.get('published', 0):,} published · "
            f"{manifest.deliveries.end:,} delivered · {manifest.rejects.end:,} rejected · "
            f"{behind.entries:,} behind · {manifest.state_bytes / 1e6:,.1f} MB"
        )

    def failed(self, error: BaseException, pause: float) -> None:
        tell("failed", error=repr(error), pause=pause)
        notes.print(f"failed: {error}; trying again in {pause:g} s", markup=False)

    def stopped(self) -> None:
        self._status.stop()


@contextmanager
def _stopped_by_signals(running: Running) -> Iterator[None]:
    """The batch that is under way comes to its end first."""
    before = {
        which: signal.signal(which, lambda *_: running.stop())
        for which in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)


SavepointPath = Annotated[Path, typer.Argument(help="A savepoint: one file.")]


@app.command("rescale", rich_help_panel=LIVE)
def rescale_command(
    *,
    log: LogUrl,
    shards: Annotated[int, typer.Option(min=1, max=256, help="How many there are to be.")],
    wait: Annotated[float, typer.Option(help="Seconds to wait for a running deployment.")] = 120,
) -> None:
    """Spread shortlists over another number of shards; a running deployment does it itself."""
    with opened(log, must_exist=True) as opened_log:
        folder = announced_folder(opened_log)
        try:
            with only_driver(folder):
                rescale(opened_log, files_in(folder), shards, UNLIMITED)
        except AlreadyRunning:
            ask_for_shards(opened_log, shards)
            _wait_for(opened_log, shards, wait)
    print(f"{shards} shards")


@app.command("export", rich_help_panel=LIVE)
def export_command(savepoint: SavepointPath, *, log: LogUrl) -> None:
    """Write the whole state to one file: it can go on with another log, cluster or version."""
    with opened(log, must_exist=True) as opened_log:
        folder = announced_folder(opened_log)
        files = files_in(folder)
        with suppress(AlreadyRunning), only_driver(folder):
            # whoever was killed may have left something to do; whoever runs does it itself
            put_out(committed(opened_log)[1], files, LogOutlet(opened_log))
        unread = export(opened_log, files, savepoint)
    print(f"{savepoint}: {savepoint.stat().st_size:,} bytes, {unread:,} unread entries included")


@app.command("import", rich_help_panel=LIVE)
def import_command(
    savepoint: SavepointPath,
    *,
    log: LogUrl,
    state: Annotated[Path | None, typer.Option(help="Where its state goes.")] = None,
) -> None:
    """Begin a deployment with what was exported, on a log that is empty."""
    with opened(log) as opened_log:
        folder = folder_of(log, state)
        manifest = restore(savepoint, opened_log, files_in(folder))
        announce(opened_log, folder)
    print(
        f"{manifest.number:,} batches, {len(manifest.shards)} shards, "
        f"{manifest.state_bytes:,} bytes of state"
    )


def _wait_for(log: Log, shards: int, seconds: float) -> None:
    """Until the running deployment has that many shards."""
    deadline = time.monotonic() + seconds
    while len(committed(log)[1].shards) != shards:
        if time.monotonic() > deadline:
            fail([f"the deployment has not come to it within {seconds:g} s; it is asked to"])
        time.sleep(POLL_SECONDS)
