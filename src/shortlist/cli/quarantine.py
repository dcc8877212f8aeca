"""The command `quarantine`: what the engine fails on, and what is to become of it."""

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from shortlist.cli.app import LIVE, AsJson, app, fail
from shortlist.cli.commands import Dispatch, Time
from shortlist.cli.deployment import LogUrl, opened
from shortlist.cli.sending import Patience, Wait
from shortlist.cli.watching import readable_reject
from shortlist.client.commands import Order
from shortlist.client.deployment import Deployment
from shortlist.client.quarantine import in_quarantine
from shortlist.model.times import format_time

if TYPE_CHECKING:
    from shortlist.engine.quarantine import Quarantined


@app.command(rich_help_panel=LIVE)
def quarantine(
    positions: Annotated[
        list[int] | None, typer.Argument(help="Positions of entries; else list all.")
    ] = None,
    *,
    log: LogUrl,
    retry: Annotated[bool, typer.Option("--retry", help="Let them arrive anew.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Forget them.")] = False,
    every: Annotated[bool, typer.Option("--all", help="All that is there.")] = False,
    at: Time = None,
    wait: Wait = False,
    patience: Patience = 60,
    as_json: AsJson = False,
) -> None:
    """List what the engine fails on; let it arrive anew, or forget it."""
    if retry and drop:
        raise typer.BadParameter("expected --retry or --drop, found both")
    if every and positions:
        raise typer.BadParameter("expected POSITIONS or --all, found both")
    if (retry or drop) and not (positions or every):
        raise typer.BadParameter("expected POSITIONS or --all with --retry and --drop")
    with opened(log, must_exist=True) as known:
        held = in_quarantine(Deployment(known))
    if not (retry or drop):
        _list([item for item in held if not positions or item.position in positions], as_json)
        return
    there = [item.position for item in held]
    for position in positions or ():
        if position not in there:
            fail([f"{position} is not in quarantine"])
    verb = "retry" if retry else "drop"
    asked = [Order(f"{verb} {position}", verb, position) for position in positions or there]
    Dispatch(log, at, wait, patience, as_json).send(asked)


def _list(held: "list[Quarantined]", as_json: bool) -> None:
    console = Console()
    for item in held:
        document = item._asdict() | {"time": format_time(item.time)}
        if as_json:
            print(json.dumps(document, ensure_ascii=False))
        else:
            when = Text(f"{document['time']}  ", "dim")
            console.print(
                when.append(readable_reject(document | {"position": str(item.position)})),
                soft_wrap=True,
            )
    if not as_json:
        print(f"{len(held):,} in quarantine")
