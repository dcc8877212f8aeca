"""The command `quarantine`: what the engine fails on, and what is to become of it."""

import json
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.text import Text

from shortlist.cli import options
from shortlist.cli.app import LIVE, app, fail, say
from shortlist.cli.commands import Dispatch, Time
from shortlist.cli.deployment import only_with_log, reached
from shortlist.cli.watching import readable_reject
from shortlist.client.commands import Order
from shortlist.client.deployment import Deployment
from shortlist.client.status import in_quarantine

Document = dict[str, Any]


@app.command(rich_help_panel=LIVE)
def quarantine(
    positions: Annotated[
        list[int] | None, typer.Argument(help="Positions of entries; else list all.")
    ] = None,
    *,
    log: options.LogOrNone = None,
    service: options.ServiceUrl = None,
    retry: Annotated[bool, typer.Option("--retry", help="Let them arrive anew.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Forget them.")] = False,
    every: Annotated[bool, typer.Option("--all", help="All that is there.")] = False,
    at: Time = None,
    wait: options.Wait = False,
    patience: options.Patience = 60,
    as_json: options.AsJson = False,
) -> None:
    """List what the engine fails on; let it arrive anew, or forget it."""
    if retry and drop:
        raise typer.BadParameter("expected --retry or --drop, found both")
    if every and positions:
        raise typer.BadParameter("expected POSITIONS or --all, found both")
    if (retry or drop) and not (positions or every):
        raise typer.BadParameter("expected POSITIONS or --all with --retry and --drop")
    verb: Literal["retry", "drop"] | None = "retry" if retry else "drop" if drop else None
    with reached(log, service) as place:
        if isinstance(place, Deployment):
            held = in_quarantine(place)
        else:
            held = place.quarantine()["items"]
        if verb is None:
            shown = [item for item in held if not positions or item["position"] in positions]
            _list(shown, as_json)
            return
        asked = _asked(held, positions)
        if not isinstance(place, Deployment):
            only_with_log(time=at)
            _tell(place.release(verb, asked)["items"], as_json)
            return
    assert log is not None
    orders = [Order(f"{verb} {position}", verb, position) for position in asked]
    Dispatch(log, at, wait, patience, as_json).send(orders)


def _asked(held: list[Document], positions: list[int] | None) -> list[int]:
    """The positions that are meant, all of which have to be in quarantine."""
    there = [item["position"] for item in held]
    for position in positions or ():
        if position not in there:
            fail([f"{position} is not in quarantine"])
    return positions or there


def _tell(verdicts: list[Document], as_json: bool) -> None:
    """What a service says became of each; it has waited for that."""
    rejected = [each for each in verdicts if each.get("rejected") is not None]
    if as_json:
        print(json.dumps({"items": verdicts}, ensure_ascii=False))
    else:
        print(f"{len(verdicts) - len(rejected):,} carried out, {len(rejected):,} rejected")
        say(f"{each['place']}: {each['rejected']}" for each in rejected)
    if rejected:
        raise typer.Exit(1)


def _list(held: list[Document], as_json: bool) -> None:
    console = Console()
    for item in held:
        if as_json:
            print(json.dumps(item, ensure_ascii=False))
        else:
            when = Text(f"{item['time']}  ", "dim")
            told = item | {"position": str(item["position"])}
            console.print(when.append(readable_reject(told)), soft_wrap=True)
    if not as_json:
        print(f"{len(held):,} in quarantine")
