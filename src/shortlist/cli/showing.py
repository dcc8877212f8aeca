"""The command `show`: what a shortlist holds at present."""

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from shortlist.cli.app import LIVE, AsJson, app, fail
from shortlist.cli.deployment import UNLIMITED, LogUrl, opened
from shortlist.engine.contents import Entry
from shortlist.live.looking import NoSuchShortlist, looked_at
from shortlist.live.manifest import Manifest
from shortlist.live.places import announced, files_in
from shortlist.live.registers import NoDeployment, committed
from shortlist.log.base import INPUT, Log
from shortlist.model.policy import policies_of
from shortlist.model.times import format_time


@app.command(rich_help_panel=LIVE)
def show(
    shortlist: Annotated[str, typer.Argument(help="The id of a shortlist.")],
    *,
    log: LogUrl,
    with_data: Annotated[bool, typer.Option(help="With the publications' data.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what is on a shortlist now, the best first."""
    with opened(log, must_exist=True) as known:
        folder = announced(known)
        try:
            _, manifest = committed(known)
            if folder is None:
                raise NoDeployment("expected a deployment, found none")
            live, entries = looked_at(manifest, files_in(folder), shortlist, UNLIMITED)
            data = [_data(entry, known, manifest) for entry in entries] if with_data else None
        except (NoDeployment, NoSuchShortlist) as error:
            fail([str(error)])
    now = manifest.reached
    when = None if now is None else format_time(now)
    kinds = [policy.kind for policy in policies_of(live.policy)]
    if as_json:
        shown = [entry.document() for entry in entries]
        for document, found in zip(shown, data or (), strict=False):
            document["data"] = found
        print(json.dumps({"shortlist": shortlist, "time": when, "policy": kinds, "shows": shown}))
        return
    print(f"{shortlist}, of {live.subscriber}, {' then '.join(kinds)}, at {when or 'the start'}")
    if entries:
        Console().print(_table(entries, data))
    else:
        print("shows nothing" + (": it passes everything on" if kinds == ["everything"] else ""))


def _data(entry: Entry, log: Log, manifest: Manifest) -> Any:
    """A publication's data, as its line in the log has it; None if that is another log."""
    offset = entry.publication.position - manifest.base
    for line in log.read(INPUT, offset - 1, offset) if offset > 0 else ():
        return json.loads(line.content.decode("utf-8-sig")).get("data") or {}
    return None


def _table(entries: list[Entry], data: list[Any] | None) -> Table:
    table = Table("#", "publication", "score", "by", "published", "until", box=None)
    if data is not None:
        table.add_column("data")
    for number, entry in enumerate(entries):
        publication = entry.publication
        until = "" if entry.until is None else format_time(entry.until)
        known = [] if data is None else [json.dumps(data[number], ensure_ascii=False)]
        table.add_row(
            str(entry.rank),
            f"{publication.id} ({publication.source})",
            f"{entry.score:g}",
            entry.subscription or "",
            format_time(publication.time),
            f"{'waits, ' if entry.waiting else ''}{until}",
            *known,
        )
    return table
