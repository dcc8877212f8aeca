"""The commands `status` and `show`: how a deployment is, and what a shortlist holds."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from shortlist.cli.app import LIVE, AsJson, app, errors, fail, warn
from shortlist.cli.deployment import (
    LOG_OPTION,
    UNLIMITED,
    Deployment,
    LogUrl,
    announced_folder,
    no_shortlist,
    opened,
    read_up_to,
)
from shortlist.live.lag import Lag, lag
from shortlist.live.manifest import Manifest
from shortlist.live.places import files_in
from shortlist.live.registers import committed
from shortlist.log.base import DELIVERIES, INPUT, REJECTS, Log
from shortlist.model.counts import OTHER_TYPE, REJECTED, labelled
from shortlist.model.times import format_time

if TYPE_CHECKING:
    from shortlist.engine.contents import Entry

RECENT = 1000
"""Entries that a rate is taken over."""
MOST_SUBSCRIPTIONS = 2_000
"""Of more it is not asked which of them match nothing: that would take long."""
RECENT_SECONDS = 60.0
"""Rejects that are younger are worth a warning."""
STANDSTILL_SECONDS = 30.0
"""For so long nothing may be committed while something waits."""

Document = dict[str, Any]


def live_status(deployment: Deployment, now: float, mistakes: bool = False) -> Document | None:
    """The state of a deployment at a moment in seconds since 1970; None if there is none."""
    log, manifest = deployment.log, deployment.manifest
    if manifest is None:
        return None
    behind = lag(log, read_up_to(manifest), now)
    age = max(now - manifest.committed / 1e6, 0.0)
    counts = manifest.counts
    return {
        "lag": {"entries": behind.entries, "seconds": round(behind.seconds, 3)},
        "read": read_up_to(manifest),
        "time": None if manifest.latest is None else format_time(manifest.latest),
        "commits": manifest.number,
        "committed": format_time(manifest.committed),
        "seconds since commit": round(age, 3),
        "rates": {stream: rate(log, stream, now) for stream in (INPUT, DELIVERIES)},
        "shards": len(manifest.shards),
        "plan": manifest.settings.get("plan", "replicate"),
        "state bytes": manifest.state_bytes,
        "shortlists": manifest.shortlists,
        "subscriptions": manifest.subscriptions,
        "published": counts.get("published", 0),
        "matched": counts.get("matched", 0),
        "deliveries": manifest.deliveries.end,
        "promotions": counts.get("promotion", 0),
        "dead on arrival": counts.get("dead on arrival", 0),
        "commands": counts.get("commands", 0),
        "rejects": dict(labelled(counts, REJECTED)),
        "warnings": [
            *_warnings(log, manifest, behind, age),
            *recent_rejects(log, now),
            *(_mistakes(deployment, read_up_to(manifest)) if mistakes else ()),
        ],
    }


def rate(log: Log, stream: str, now: float) -> float:
    """Entries a second, over the last ones up to now."""
    end = log.end(stream)
    first = next(log.read(stream, max(end - RECENT, 0), end), None)
    if first is None:
        return 0.0
    seconds = max(now - first.appended / 1e6, 0.001)
    return round((end - first.offset + 1) / seconds, 3)


def _warnings(log: Log, manifest: Manifest, behind: Lag, age: float) -> Iterator[str]:
    if manifest.is_finished:
        yield "its input has ended: nothing more is read"
    elif behind.entries and age > STANDSTILL_SECONDS:
        yield f"{behind.entries:,} entries wait, and nothing was committed for {age:,.0f} s"
    missing = manifest.deliveries.end - log.end(DELIVERIES)
    if missing > 0:
        yield f"{missing:,} deliveries are committed, and not in the log yet"
    for attribute, count in labelled(manifest.counts, OTHER_TYPE):
        yield f"{attribute}: {count:,} times of another type than a predicate asks for"


def _mistakes(deployment: Deployment, read: int) -> list[str]:
    """What looks like a mistake in the live registry, beside what was published last."""
    from shortlist.engine.mistakes import likely_mistakes

    roster = deployment.roster()
    if roster is None:
        return []
    lines = [entry.content for entry in deployment.log.read(INPUT, max(read - RECENT, 0), read)]
    return likely_mistakes(
        roster.registry(deployment.vocabulary),
        lines,
        UNLIMITED,
        commands=False,
        of="the last ",
        most_subscriptions=MOST_SUBSCRIPTIONS,
    )


def recent_rejects(log: Log, now: float) -> Iterator[str]:
    """A warning, if something was turned away within the last minute."""
    end = log.end(REJECTS)
    entries = [*log.read(REJECTS, max(end - RECENT, 0), end)]
    recent = [entry for entry in entries if now - entry.appended / 1e6 < RECENT_SECONDS]
    if recent:
        last = json.loads(recent[-1].content)
        count = f"{len(recent):,}" if len(recent) < RECENT else f"{RECENT:,} or more"
        where = f"entry {last['position']}" if last["position"] else "without a position"
        yield f"{count} rejected in the last minute, the last: {last['reason']} ({where})"


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
    if subscriptions is not None:
        yield "registry", f"{subscriptions:,} subscriptions of {shortlists:,} shortlists"
    yield "published", f"{status['published']:,} publications, {status['commands']:,} commands"
    yield "matched", f"{status['matched']:,} times"
    deliveries, promotions = status["deliveries"], status["promotions"]
    pace = f"lately {rates[DELIVERIES]:,.1f} a second"
    yield "delivered", f"{deliveries:,} times, {promotions:,} of them promotions, {pace}"
    rejects = ", ".join(f"{count:,} {why}" for why, count in status["rejects"].items())
    yield "rejected", rejects or "nothing"


@app.command(rich_help_panel=LIVE)
def status(
    snapshot: Annotated[
        Path | None, typer.Argument(help="What `Engine.snapshot` gave, in place of a log.")
    ] = None,
    *,
    log: Annotated[str | None, LOG_OPTION] = None,
    mistakes: Annotated[
        bool, typer.Option(help="Also say what looks like a mistake: that takes longer.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say how a deployment is doing, or what a saved state holds."""
    if snapshot is not None:
        _saved_status(snapshot, as_json)
    elif log is not None:
        _live_status(log, mistakes, as_json)
    else:
        raise typer.BadParameter("expected --log or SNAPSHOT, found neither")


def _live_status(url: str, mistakes: bool, as_json: bool) -> None:
    with opened(url, must_exist=True) as log:
        found = live_status(Deployment(log), time.time(), mistakes)
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


def _saved_status(snapshot: Path, as_json: bool) -> None:
    from shortlist.engine.engine import Engine

    with errors():
        saved = snapshot.read_bytes()
        engine = Engine.restore(saved)
    found = engine.status() | {"counts": engine.counts, "bytes saved": len(saved)}
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


@app.command(rich_help_panel=LIVE)
def show(
    shortlist: Annotated[str, typer.Argument(help="The id of a shortlist.")],
    *,
    log: LogUrl,
    with_data: Annotated[bool, typer.Option(help="With the publications' data.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what is on a shortlist now, the best first."""
    from shortlist.live.looking import NoSuchShortlist, looked_at
    from shortlist.model.policy import policies_of

    with opened(log, must_exist=True) as known:
        _, manifest = committed(known)
        files = files_in(announced_folder(known))
        try:
            live, entries = looked_at(manifest, files, shortlist, UNLIMITED)
        except NoSuchShortlist as error:
            roster = Deployment(known).roster()
            fail([str(error) if roster is None else no_shortlist(shortlist, roster)])
        data = [_data(entry, known, manifest) for entry in entries] if with_data else None
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
