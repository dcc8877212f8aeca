"""Streams of a log, read as they grow."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from shortlist.cli.deployment import Deployment
from shortlist.log.base import DELIVERIES, DEPARTURES, Log
from shortlist.log.consumer import Consumer
from shortlist.model.times import parse_time


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
