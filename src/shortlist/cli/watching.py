"""The commands `quarantine`, `watch` and `trace`: what fails, what comes, and how it has come."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.text import Text

from shortlist.cli import options
from shortlist.cli.app import LIVE, app, fail, no_shortlist, only_with_log, reached, say
from shortlist.cli.commands import Dispatch, Time
from shortlist.client.commands import Order
from shortlist.client.deployment import POLL_SECONDS, Deployment
from shortlist.client.fates import traced
from shortlist.client.following import Following, News
from shortlist.client.status import in_quarantine
from shortlist.log.base import DELIVERIES
from shortlist.model.wording import one_line

if TYPE_CHECKING:
    from shortlist.client.remote import Event, Remote

Document = dict[str, Any]
LONGEST = 160
"""Letters of a line that are shown."""


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
            console = Console()
            shown = [item for item in held if not positions or item["position"] in positions]
            for item in shown:
                if as_json:
                    print(json.dumps(item, ensure_ascii=False))
                else:
                    when = Text(f"{item['time']}  ", "dim")
                    told = item | {"position": str(item["position"])}
                    console.print(when.append(readable_reject(told)), soft_wrap=True)
            if not as_json:
                print(f"{len(shown):,} in quarantine")
            return
        there = [item["position"] for item in held]
        for position in positions or ():
            if position not in there:
                fail([f"{position} is not in quarantine"])
        asked = positions or there
        if not isinstance(place, Deployment):
            only_with_log(time=at)
            verdicts = place.release(verb, asked)["items"]
            rejected = [each for each in verdicts if each.get("rejected") is not None]
            if as_json:
                print(json.dumps({"items": verdicts}, ensure_ascii=False))
            else:
                print(f"{len(verdicts) - len(rejected):,} carried out, {len(rejected):,} rejected")
                say(f"{each['place']}: {each['rejected']}" for each in rejected)
            if rejected:
                raise typer.Exit(1)
            return
    assert log is not None
    orders = [Order(f"{verb} {position}", verb, position) for position in asked]
    Dispatch(log, at, wait, patience, as_json).send(orders)


@app.command(rich_help_panel=LIVE)
def watch(
    shortlist: Annotated[str | None, typer.Argument(help="Its id; all if there is none.")] = None,
    *,
    log: options.LogOrNone = None,
    service: options.ServiceUrl = None,
    subscriber: Annotated[str | None, typer.Option(help="Only this subscriber's.")] = None,
    after: Annotated[
        int | None, typer.Option(min=0, help="Those behind this offset; else those from now on.")
    ] = None,
    consumer: Annotated[
        str | None, typer.Option(help="Those behind the last that was shown under this name.")
    ] = None,
    changes: Annotated[
        bool, typer.Option("--changes", help="Also what leaves shortlists.")
    ] = False,
    rejects: Annotated[
        bool, typer.Option("--rejects", help="What was turned away, and why, in place of them.")
    ] = False,
    count: Annotated[int | None, typer.Option(min=1, help="Stop after so many.")] = None,
    until_idle: Annotated[
        float | None, typer.Option(min=0, help="Stop when nothing came for so many seconds.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Print deliveries as they come."""
    if after is not None and consumer is not None:
        raise typer.BadParameter("expected --after or --consumer, found both")
    if changes and (after or subscriber is not None):
        raise typer.BadParameter("--changes: expected neither --after (but 0) nor --subscriber")
    if rejects and (changes or shortlist is not None or subscriber is not None):
        raise typer.BadParameter("--rejects: expected neither --changes, --subscriber nor an id")
    console, text_of = Console(), readable_reject if rejects else readable

    def tell(news: News | Event) -> None:
        if as_json:
            print(news.line)
        else:
            console.print(text_of(news.document), soft_wrap=True)

    with reached(log, service) as place, suppress(KeyboardInterrupt):
        if not isinstance(place, Deployment):
            only_with_log(subscriber=subscriber, consumer=consumer, rejects=rejects)
            if shortlist is None:
                raise typer.BadParameter("expected a shortlist: a service tells of one at a time")
            told = events_until_idle(place, shortlist, after, until_idle)
            events = (event for event in told if changes or event.kind == "delivery")
            for event in islice(events, count):
                tell(event)
                sys.stdout.flush()
            return
        if shortlist is not None and not any(place.log.read(DELIVERIES, 0, key=shortlist)):
            roster = place.roster()
            if roster is not None and shortlist not in roster.shortlists:
                fail([no_shortlist(shortlist, roster)])
        following = Following(
            place.log, shortlist, changes=changes, rejects=rejects, after=after, consumer=consumer
        )
        for news in islice(_awaited(following, subscriber, until_idle), count):
            tell(news)
        sys.stdout.flush()
        following.remember()


def events_until_idle(
    remote: Remote, shortlist: str, after: int | None, until_idle: float | None
) -> Iterator[Event]:
    """What comes to a shortlist of a service, for as long as anything does."""
    came: SimpleQueue[Event | Exception] = SimpleQueue()

    def follow() -> None:
        try:
            for event in remote.follow(shortlist, None if after is None else str(after)):
                came.put(event)
        except Exception as error:
            came.put(error)

    # a stream can only be waited for: it goes on until the program ends
    Thread(target=follow, daemon=True).start()
    with suppress(Empty):
        while True:
            found = came.get(timeout=until_idle)
            if isinstance(found, Exception):
                raise found
            yield found


def _awaited(
    following: Following, subscriber: str | None, until_idle: float | None
) -> Iterator[News]:
    """What comes, for as long as anything does; it counts as shown when the next is asked for."""
    last = time.monotonic()
    while until_idle is None or time.monotonic() - last < until_idle:
        for news in following.news():
            if subscriber in (None, news.document.get("subscriber")):
                last = time.monotonic()
                yield news
        sys.stdout.flush()
        following.remember()
        time.sleep(POLL_SECONDS)


def readable(document: Mapping[str, Any]) -> Text:
    """A delivery, or what else happens to a shortlist, on one line.

    >>> print(readable({"time": "2026-03-01T09:20:00.000Z", "shortlist": "flats", "source": "ads",
    ...     "publication": "f3", "subscription": "cheap", "score": 0.5, "rank": 1,
    ...     "cause": "promotion"}))
    2026-03-01T09:20:00.000Z  + flats        #1  0.5          f3 (ads), promoted, by cheap
    >>> print(readable({"time": "2026-03-01T09:30:00.000Z", "shortlist": "flats", "source": "ads",
    ...     "publication": "f3", "reason": "expired"}))
    2026-03-01T09:30:00.000Z  - flats                         f3 (ads), expired
    """
    reason = document.get("reason")
    has_left = reason not in (None, "returned")
    rank = "" if document.get("rank") is None else f"#{document['rank']}"
    score = "" if document.get("score") is None else f"{document['score']:.6g}"
    what = [f"{document['publication']} ({document['source']})"]
    if reason is not None:
        what.append(reason)
    if document.get("cause") == "promotion":
        what.append("promoted")
    if document.get("subscription") is not None:
        what.append(f"by {document['subscription']}")
    return Text.assemble(
        (document["time"], "dim"),
        ("  - ", "red") if has_left else ("  + ", "green"),
        (f"{one_line(document['shortlist']):<12}", "bold"),
        f" {rank:<4}{score:<13}",
        one_line(", ".join(what)),
    )


def readable_reject(document: Mapping[str, Any]) -> Text:
    """What was turned away, on one line: where it stands in the input, and why.

    >>> print(readable_reject({"line": '{"id": "f1"}', "position": "7", "reason": "late by 2 s"}))
    7  late by 2 s  {"id": "f1"}
    """
    line = one_line(document["line"])
    if len(line) > LONGEST:
        line = f"{line[:LONGEST]}…"
    where = document["position"] or "-"
    return Text.assemble((where, "dim"), "  ", (document["reason"], "bold"), "  ", line)


@app.command(rich_help_panel=LIVE)
def trace(
    source: Annotated[str, typer.Argument(help="The publisher.")],
    publication: Annotated[str, typer.Argument(metavar="ID", help="The publication's id.")],
    *,
    log: options.LogOrNone = None,
    service: options.ServiceUrl = None,
    as_json: options.AsJson = False,
) -> None:
    """Follow one publication through the log: its entry, and its deliveries or why not."""
    with reached(log, service) as place:
        page = partial(traced, place.log) if isinstance(place, Deployment) else place.trace
        found = page(source, publication)
        while (after := found.pop("next")) is not None:
            more = page(source, publication, after)
            found["deliveries"] += more["deliveries"]
            found["next"] = more["next"]
    if not found["entries"]:
        fail([f"there is no publication {publication!r} of {source!r} in the log"])
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return
    console = Console()
    console.print(Text.assemble("trace ", (found["trace"], "bold")))
    for entry in found["entries"]:
        line = Text.assemble((entry["appended"], "dim"), f"  input {entry['offset']:,}: ")
        console.print(line.append(entry["fate"]), soft_wrap=True)
    for each in found["deliveries"]:
        line = Text.assemble((each["appended"], "dim"), f"  delivery {each['offset']:,}: ")
        console.print(line.append(readable(each["delivery"])), soft_wrap=True)
