"""The command `watch`."""

import heapq
import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.text import Text

from shortlist.cli.app import LIVE, POLL_SECONDS, AsJson, app
from shortlist.cli.deployment import Deployment, LogUrl, opened
from shortlist.log.base import DELIVERIES, DEPARTURES, Log
from shortlist.log.consumer import Consumer
from shortlist.model.times import parse_time
from shortlist.model.wording import one_line


class News(NamedTuple):
    """An entry of one of the streams."""

    stream: str
    offset: int
    line: str
    document: Mapping[str, Any]


class Following:
    """The deliveries of a shortlist, or of all; with `changes`, in order with its departures.

    It begins behind an offset, behind what a consumer has seen or, without either, at the end.
    """

    def __init__(
        self,
        log: Log,
        shortlist: str | None,
        *,
        changes: bool = False,
        after: int | None = None,
        consumer: str | None = None,
    ) -> None:
        self._log = log
        self._shortlist = shortlist
        # what is delivered at an instant may leave at the same one
        streams = [DELIVERIES, DEPARTURES] if changes else [DELIVERIES]
        self._consumers: dict[str, Consumer] = {}
        if consumer is not None:
            # who watches two shortlists under one name has a place in each
            names = [consumer, *([] if shortlist is None else [shortlist])]
            self._consumers = {one: Consumer(log, one, "/".join([*names, one])) for one in streams}
        self._positions = {one: self._start(one, after) for one in streams}

    def news(self) -> Iterator[News]:
        """What has come since the last call; the next call goes on behind the last one taken."""
        ends = self._ends()
        streams = [self._read(stream, end) for stream, end in ends.items()]
        for news in heapq.merge(*streams, key=_time):
            self._positions[news.stream] = news.offset
            yield news
        self._positions.update(ends)

    def remember(self) -> None:
        """All that was taken is done with, for a consumer."""
        for stream, consumer in self._consumers.items():
            consumer.seen(self._positions[stream])

    def _start(self, stream: str, after: int | None) -> int:
        if stream in self._consumers:
            return self._consumers[stream].position
        return self._log.end(stream) if after is None else after

    def _ends(self) -> dict[str, int]:
        """How far to read; several streams only as far as all of them are complete."""
        ends = {stream: self._log.end(stream) for stream in self._positions}
        manifest = Deployment(self._log).manifest if DEPARTURES in ends else None
        if manifest is None:
            return ends
        complete = {DELIVERIES: manifest.deliveries.end, DEPARTURES: manifest.departures.end}
        is_written = all(ends[stream] >= end for stream, end in complete.items())
        return complete if is_written else dict(self._positions)

    def _read(self, stream: str, end: int) -> Iterator[News]:
        for entry in self._log.read(stream, self._positions[stream], end, key=self._shortlist):
            line = entry.content.decode()
            yield News(stream, entry.offset, line, json.loads(line))


def _time(news: News) -> int:
    return parse_time(news.document["time"])


@app.command(rich_help_panel=LIVE)
def watch(
    shortlist: Annotated[str | None, typer.Argument(help="Its id; all if there is none.")] = None,
    *,
    log: LogUrl,
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
    count: Annotated[int | None, typer.Option(min=1, help="Stop after so many.")] = None,
    until_idle: Annotated[
        float | None, typer.Option(min=0, help="Stop when nothing came for so many seconds.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print deliveries as they come."""
    if after is not None and consumer is not None:
        raise typer.BadParameter("expected --after or --consumer, found both")
    if changes and (after or subscriber is not None):
        raise typer.BadParameter("--changes: expected neither --after (but 0) nor --subscriber")
    console = Console()
    with opened(log, must_exist=True) as connected, suppress(KeyboardInterrupt):
        following = Following(connected, shortlist, changes=changes, after=after, consumer=consumer)
        for news in islice(_awaited(following, subscriber, until_idle), count):
            if as_json:
                print(news.line)
            else:
                console.print(readable(news.document), soft_wrap=True)
        sys.stdout.flush()
        following.remember()


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
