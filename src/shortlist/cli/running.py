"""The commands that run a deployment and move its state: up, rescale, export, import."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import ExitStack, nullcontext, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer

from shortlist.cli import options
from shortlist.cli.app import (
    LIVE,
    announced_folder,
    app,
    begin_on,
    errors,
    fail,
    folder_of,
    notes,
    opened,
    run_until_stopped,
)
from shortlist.cli.compiling import compiled_beside, cores
from shortlist.client.deployment import Deployment, wait_for
from shortlist.live.locking import AlreadyRunning, only_driver
from shortlist.live.places import announce, files_in
from shortlist.live.registers import committed
from shortlist.log.base import Moved
from shortlist.model.settings import UNLIMITED, Limits, TimeBasis
from shortlist.progress import Steps

if TYPE_CHECKING:
    from shortlist.live.manifest import Manifest
    from shortlist.live.registry_folder import CompiledRegistry
    from shortlist.live.running import Ground
    from shortlist.model.registry import Registry

LOOPBACK = "127.0.0.1:9464"
SPARK_RUNS = "Spark has started, and runs the tasks from now on"
FIRST = "first"
"""The folder in which the registry of a new deployment is compiled, in that of its state."""


@app.command(rich_help_panel=LIVE)
@options.with_deployment_options
def up(
    registry: options.RegistryPath = None,
    *,
    log: options.LogUrl,
    deployment: options.DeploymentOptions,
    heartbeat: Annotated[
        str, typer.Option(help="Silence after which time is written down, or off.")
    ] = "500ms",
    metrics: Annotated[str, typer.Option(help="Where metrics are shown, or off.")] = LOOPBACK,
    on: options.On = "spark",
    with_input: options.WithInput = False,
) -> None:
    """Run a deployment: read the log, select, deliver, and go on where it was."""
    options.check_place(on, deployment.master)
    options.check_address(metrics)
    silence = None if heartbeat == options.OFF else options.duration_of("--heartbeat", heartbeat)
    with errors():
        folder = folder_of(log, deployment.state)
        # at once, and not when all else is ready; who comes between is refused then
        with only_driver(folder) if folder.is_dir() else nullcontext():
            pass
    begin_on(on)
    if on == "spark" and deployment.workers is not None:
        raise typer.BadParameter("--workers: expected --on process with it, found --on spark")
    with errors():
        with opened(log) as known:
            kept = Deployment(known).manifest
        settings = options.live_settings(
            _basis(kept, deployment.basis),
            deployment.lateness,
            deployment.ahead,
            deployment.dedup,
            deployment.advertised,
            deployment.limit,
        )
        begins = registry if kept is None else None
        # what tasks of a cluster may not see is not compiled here
        tasks = deployment.shards or deployment.workers or cores()
        into = None if deployment.master else (folder / FIRST, tasks)
        read = _first_registry(begins, settings.limits, deployment.shards, into)
    with errors(), ExitStack() as stack:
        stack.callback(shutil.rmtree, folder / FIRST, ignore_errors=True)
        restored = None if deployment.changes else kept
        ground = begin_ground(
            on, deployment.master, deployment.workers, restored, folder, settings.limits
        )
        if registry is not None and kept is not None:
            from shortlist.cli.first_registry import compared

            stack.enter_context(compared(registry, log, settings.limits))
        begun_with = read()
        from shortlist.cli.screen import Screen, shown_metrics
        from shortlist.live.logs import tell, written_logs
        from shortlist.live.running import Running, Wanted

        wanted = Wanted(
            log=log,
            folder=folder,
            registry=begun_with,
            settings=settings,
            shards=deployment.shards,
            plan=deployment.plan,
            with_data=deployment.with_data,
            with_departures=deployment.changes,
            at_most=deployment.at_most,
            heartbeat=silence,
        )
        if deployment.logs is not None:
            stack.enter_context(written_logs(deployment.logs))
        shown = shown_metrics(metrics, stack, for_starter=with_input)
        try:
            run_until_stopped(Running(wanted, ground(), Screen(shown)), with_input=with_input)
        except Moved:
            tell("superseded")
            fail(["another process has taken over this deployment"])
        tell("stopped")


def _basis(kept: Manifest | None, given: TimeBasis | None) -> TimeBasis:
    """What was kept; of a new deployment what is asked for, or the log's clock."""
    if kept is None:
        return given or "arrival"
    if given not in (None, kept.basis):
        fail(
            [
                f"expected --time {kept.basis}, which this deployment has chosen at its first"
                f" start, found --time {given}"
            ]
        )
    return kept.basis


def _first_registry(
    path: Path | None, limits: Limits, shards: int | None, into: tuple[Path, int] | None
) -> Callable[[], Registry | CompiledRegistry]:
    """What reads the registry that a new deployment begins with, if there is one, or opens it."""
    from shortlist.model.registry import Registry

    if path is None:
        return Registry
    from shortlist.cli.first_registry import begin_to_read

    compiled = compiled_beside(path, limits, shards)
    if compiled is not None:
        return lambda: compiled
    return begin_to_read(path, limits, into)


def begin_ground(
    on: str,
    master: str | None,
    workers: int | None,
    restored: Manifest | None,
    folder: Path,
    limits: Limits,
) -> Callable[[], Ground]:
    """Forks the workers at once, while this process has no threads, so that they restore the state
    of a manifest in a folder, if there is one, while it imports the rest; what it returns makes the
    ground, when all else is ready."""
    if on == "spark":
        from shortlist.spark.session import any_session, starts_here

        if not starts_here(master):
            return partial(_spark, master)
    from shortlist.live.lanes import ProcessGround

    processes, works = ProcessGround(workers), []
    if restored is not None:
        from shortlist.live.tasks import idle_works
        from shortlist.live.warming import PARTS, missing

        # workers would compile beside each other what is compiled for all of them first
        works = [] if missing(PARTS) else idle_works(restored, files_in(folder), limits)
    processes.start(works)
    if on == "process":
        return lambda: processes
    from shortlist.spark.ground import StartingGround

    return partial(StartingGround, processes, any_session, partial(notes.print, SPARK_RUNS))


def _spark(master: str | None) -> Ground:
    import pyspark.sql  # noqa: F401 - before two threads import

    from shortlist.spark.session import any_session

    # what a driver needs is imported while the JVM starts
    Thread(target=import_module, args=("shortlist.live.running",), daemon=True).start()
    with Steps(notes).step("Starting Spark"):
        session = any_session(master)
    from shortlist.spark.ground import SparkGround

    return SparkGround(session)


SavepointPath = Annotated[Path, typer.Argument(help="A savepoint: one file.")]


@app.command("rescale", rich_help_panel=LIVE)
def rescale_command(
    *,
    log: options.LogUrl,
    shards: Annotated[int, typer.Option(min=1, max=256, help="How many there are to be.")],
    wait: Annotated[float, typer.Option(help="Seconds to wait for a running deployment.")] = 120,
) -> None:
    """Spread shortlists over another number of shards; a running deployment does it itself."""
    from shortlist.live.rescaling import ask_for_shards, rescale

    with opened(log, must_exist=True) as opened_log:
        folder = announced_folder(opened_log)
        try:
            with only_driver(folder):
                rescale(opened_log, files_in(folder), shards, UNLIMITED)
        except AlreadyRunning:
            ask_for_shards(opened_log, shards)
            if not wait_for(lambda: len(committed(opened_log)[1].shards) == shards, wait):
                fail([f"the deployment has not come to it within {wait:g} s; it is asked to"])
    print(f"{shards} shards")


@app.command("export", rich_help_panel=LIVE)
def export_command(savepoint: SavepointPath, *, log: options.LogUrl) -> None:
    """Write the whole state to one file: it can go on with another log, cluster or version."""
    from shortlist.live.outlets import LogOutlet, put_out
    from shortlist.live.savepoint import export

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
    log: options.LogUrl,
    state: Annotated[Path | None, typer.Option(help="Where its state goes.")] = None,
) -> None:
    """Begin a deployment with what was exported, on a log that is empty."""
    from shortlist.live.conditions import tell_condition
    from shortlist.live.savepoint import restore

    with opened(log) as opened_log:
        folder = folder_of(log, state)
        manifest = restore(savepoint, opened_log, files_in(folder))
        announce(opened_log, folder)
        # its last commit may be of just now, and was another driver's
        tell_condition(opened_log, "stopped")
    print(
        f"{manifest.number:,} batches, {len(manifest.shards)} shards, "
        f"{manifest.state_bytes:,} bytes of state"
    )
