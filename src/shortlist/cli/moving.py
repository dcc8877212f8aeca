"""The commands that move a deployment: rescale, export, import."""

import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli.app import LIVE, POLL_SECONDS, app, fail
from shortlist.cli.deployment import UNLIMITED, LogUrl, folder_of, opened
from shortlist.live.locking import AlreadyRunning, only_driver
from shortlist.live.outlets import LogOutlet, put_out
from shortlist.live.places import announce, announced, files_in
from shortlist.live.registers import NoDeployment, committed
from shortlist.live.savepoint import (
    NotPutOut,
    UnusableSavepoint,
    ask_for_shards,
    export,
    rescale,
    restore,
)
from shortlist.log.base import Log, Moved

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
        folder = _folder(opened_log)
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
        files = files_in(_folder(opened_log))
        try:
            with suppress(AlreadyRunning), only_driver(_folder(opened_log)):
                # whoever was killed may have left something to do; whoever runs does it itself
                put_out(committed(opened_log)[1], files, LogOutlet(opened_log))
            unread = export(opened_log, files, savepoint)
        except (NoDeployment, NotPutOut) as error:
            fail([str(error)])
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
        try:
            manifest = restore(savepoint, opened_log, files_in(folder))
        except (Moved, UnusableSavepoint) as error:
            fail([str(error)])
        announce(opened_log, folder)
    print(
        f"{manifest.number:,} batches, {len(manifest.shards)} shards, "
        f"{manifest.state_bytes:,} bytes of state"
    )


def _folder(log: Log) -> Path:
    folder = announced(log)
    if folder is None:
        fail(["expected a deployment, found none: start one with `shortlist up`"])
    return folder


def _wait_for(log: Log, shards: int, seconds: float) -> None:
    """Until the running deployment has that many shards."""
    deadline = time.monotonic() + seconds
    while len(committed(log)[1].shards) != shards:
        if time.monotonic() > deadline:
            fail([f"the deployment has not come to it within {seconds:g} s; it is asked to"])
        time.sleep(POLL_SECONDS)
