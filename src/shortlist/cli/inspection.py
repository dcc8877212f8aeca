"""The command `status`: of a deployment, or of a saved state."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from shortlist.cli.app import LIVE, AsJson, app, errors, fail, warn
from shortlist.cli.deployment import LOG_OPTION, Deployment, opened
from shortlist.cli.live_status import live_status, rows
from shortlist.engine.engine import Engine
from shortlist.log.base import INPUT


@app.command(rich_help_panel=LIVE)
def status(
    snapshot: Annotated[
        Path | None, typer.Argument(help="What `Engine.snapshot` gave, in place of a log.")
    ] = None,
    changes: Annotated[
        list[Path] | None, typer.Argument(help="What `Engine.changes` gave since, in order.")
    ] = None,
    *,
    log: Annotated[str | None, LOG_OPTION] = None,
    as_json: AsJson = False,
) -> None:
    """Say how a deployment is doing, or what a saved state holds."""
    if snapshot is not None:
        _saved_status(snapshot, changes or [], as_json)
    elif log is not None:
        _live_status(log, as_json)
    else:
        raise typer.BadParameter("expected --log or SNAPSHOT, found neither")


def _live_status(url: str, as_json: bool) -> None:
    with opened(url, must_exist=True) as log:
        found = live_status(Deployment(log), time.time())
        if found is None:
            fail([f"no deployment works on this log, in which {log.end(INPUT):,} entries wait"])
    if as_json:
        print(json.dumps(found))
        return
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for what, how in rows(found):
        table.add_row(f"[bold]{what}[/]", how)
    Console().print(table)
    warn(found["warnings"])


def _saved_status(snapshot: Path, changes: list[Path], as_json: bool) -> None:
    with errors():
        saved = [path.read_bytes() for path in [snapshot, *changes]]
        engine = Engine.restore(saved[0], changes=saved[1:])
    found = engine.status() | {"counts": engine.counts, "bytes saved": sum(map(len, saved))}
    if as_json:
        print(json.dumps(found))
        return
    table = Table("policy", "shortlists", "rows", "bytes", title=snapshot.name)
    for column in table.columns[1:]:
        column.justify = "right"
    for kind, held in found["state"].items():
        table.add_row(kind, *(f"{number:,}" for number in held.values()))
    Console().print(table)
    print(
        f"{found['subscriptions']:,} subscriptions of {found['shortlists']:,} shortlists hold "
        f"{found['publications held']:,} publications; {found['bytes saved']:,} bytes saved"
    )
    warn(found["warnings"])
