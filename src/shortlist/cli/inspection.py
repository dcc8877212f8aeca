"""The commands `status`, `show` and `held-back`: how a deployment is, what a shortlist holds, and
what it does not."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from shortlist.cli import options
from shortlist.cli.app import (
    LIVE,
    app,
    errors,
    fail,
    no_shortlist,
    only_with_log,
    reached,
    say,
    show_table,
    warn,
)
from shortlist.client.deployment import Deployment
from shortlist.client.status import live_status
from shortlist.log.base import DELIVERIES, INPUT
from shortlist.model.times import now

Document = dict[str, Any]


def rows(status: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The same for people: what, and how it is."""
    behind, rates = status["lag"], status["rates"]
    yield "lag", f"{behind['entries']:,} entries, {behind['seconds']:,.1f} s"
    yield "read", f"{status['read']:,} entries, lately {rates[INPUT]:,.1f} a second"
    yield "time", status["time"] or "none yet"
    age = status["seconds since commit"]
    yield "committed", f"{status['commits']:,} batches, the last {age:,.1f} s ago"
    shards, plan = status["shards"], status["plan"]
    yield "state", f"{status['state bytes']:,} bytes in {shards:,} shards, plan {plan}"
    subscriptions, shortlists = status["subscriptions"], status["shortlists"]
    yield "registry", f"{subscriptions:,} subscriptions of {shortlists:,} shortlists"
    yield "published", f"{status['published']:,} publications, {status['commands']:,} commands"
    yield "matched", f"{status['matched']:,} times"
    deliveries, promotions = status["deliveries"], status["promotions"]
    pace = f"lately {rates[DELIVERIES]:,.1f} a second"
    yield "delivered", f"{deliveries:,} times, {promotions:,} of them promotions, {pace}"
    rejects = ", ".join(f"{count:,} {why}" for why, count in status["rejects"].items())
    yield "rejected", rejects or "nothing"
    if status["quarantined"]:
        yield "quarantine", f"{status['quarantined']:,} at present"


@app.command(rich_help_panel=LIVE)
def status(
    snapshot: Annotated[
        Path | None, typer.Argument(help="What `Engine.snapshot` gave, in place of a log.")
    ] = None,
    *,
    log: options.LogOrNone = None,
    service: options.ServiceUrl = None,
    mistakes: Annotated[
        bool, typer.Option(help="Also say what looks like a mistake: that takes longer.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Say how a deployment is doing, or what a saved state holds."""
    if snapshot is not None:
        _saved_status(snapshot, as_json)
        return
    with reached(log, service) as place:
        if not isinstance(place, Deployment):
            only_with_log(mistakes=mistakes)
            found = place.status()
        elif (known := live_status(place, time.time(), mistakes)) is not None:
            found = known
        else:
            waits = f"in which {place.log.end(INPUT):,} entries wait"
            fail([f"no deployment works on this log, {waits}"])
    if as_json:
        print(json.dumps(found))
        return
    shown = ((f"[bold]{what}[/]", how) for what, how in rows(found))
    show_table((), shown, box=None, show_header=False, padding=(0, 2, 0, 0))
    warn(found["warnings"])


def _saved_status(snapshot: Path, as_json: bool) -> None:
    from shortlist.engine.engine import Engine

    with errors():
        saved = snapshot.read_bytes()
        engine = Engine.restore(saved)
    found = engine.status() | {"counts": engine.counts, "bytes saved": len(saved)}
    if as_json:
        print(json.dumps(found))
        return
    held = ((kind, *(f"{n:,}" for n in each.values())) for kind, each in found["state"].items())
    head = ("policy", "shortlists", "rows", "bytes")
    show_table(head, held, slice(1, None), snapshot.name, title_justify="center")
    print(
        f"{found['subscriptions']:,} subscriptions of {found['shortlists']:,} shortlists hold "
        f"{found['publications held']:,} publications; {found['bytes saved']:,} bytes saved"
    )
    warn(found["warnings"])


@app.command(rich_help_panel=LIVE)
def show(
    shortlist: Annotated[str, typer.Argument(help="The id of a shortlist.")],
    *,
    log: options.LogOrNone = None,
    service: options.ServiceUrl = None,
    with_data: Annotated[bool, typer.Option(help="With the publications' data.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Show what is on a shortlist now, the best first."""
    with reached(log, service) as place:
        if isinstance(place, Deployment):
            from shortlist.client.explaining import content_of
            from shortlist.live.asking import NoSuchShortlist

            try:
                content, _ = content_of(place, shortlist, with_data=with_data)
            except NoSuchShortlist as error:
                roster = place.roster()
                fail([str(error) if roster is None else no_shortlist(shortlist, roster)])
        else:
            content = place.content(shortlist, with_data=with_data)
            del content["after"]
    if as_json:
        print(json.dumps(content))
        return
    head = f"{shortlist}, of {content['subscriber']}, {' then '.join(content['policy'])}"
    print(f"{head}, at {content['time'] or 'the start'}")
    if content["shows"]:
        _show_entries(content["shows"], with_data)
    else:
        passes_on = content["policy"] == ["everything"]
        print("shows nothing" + (": it passes everything on" if passes_on else ""))


@app.command("held-back", rich_help_panel=LIVE)
def held_back(
    shortlist: Annotated[str, typer.Argument(help="The id of a shortlist.")],
    *,
    log: options.LogOrNone = None,
    service: options.ServiceUrl = None,
    as_json: options.AsJson = False,
) -> None:
    """Show what was published lately, matches a shortlist, and was not delivered, and why."""
    with reached(log, service) as place:
        if isinstance(place, Deployment):
            from shortlist.client import explaining

            found = explaining.held_back(place, shortlist, now=now())
        else:
            found = place.held_back(shortlist)
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return
    if found["items"]:
        table = (
            (it["time"], f"{it['publication']} ({it['source']})", f"{it['score']:g}", it["reason"])
            for it in found["items"]
        )
        show_table(("published", "publication", "score", "why"), table, box=None)
    print(f"{len(found['items']):,} of the last {found['publications']:,} publications")
    if found["replayed"]:
        judged = "judged by the subscriptions of now, as if nothing had come before"
        say([f"{found['replayed']:,} of these are {judged}: the state does not tell any more"])


def _show_entries(entries: list[Document], with_data: bool) -> None:
    head = ("#", "publication", "score", "by", "published", "until")
    table = (
        (
            str(entry["rank"]),
            f"{entry['publication']} ({entry['source']})",
            f"{entry['score']:g}",
            entry["subscription"] or "",
            entry["published"],
            f"{'waits, ' if entry.get('waiting') else ''}{entry['until'] or ''}",
            *([json.dumps(entry["data"], ensure_ascii=False)] if with_data else []),
        )
        for entry in entries
    )
    show_table((*head, "data") if with_data else head, table, box=None)
