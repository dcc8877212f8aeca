"""Deliveries as they come, in order with what leaves shortlists."""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from shortlist.client.deployment import Deployment
from shortlist.log.base import DELIVERIES, DEPARTURES, REJECTS, Log
from shortlist.log.consumer import Consumer
from shortlist.model.times import parse_time
from shortlist.model.wording import shown


class News(NamedTuple):
    """An entry of one of the streams."""

    stream: str
    offset: int
    line: str
    document: Mapping[str, Any]


class Place(NamedTuple):
    """How far somebody has read both streams; ids of events are such places.

    >>> str(Place(12, 7)), Place.of_text("12.7"), Place.of_text("12")
    ('12.7', Place(deliveries=12, departures=7), Place(deliveries=12, departures=None))
    """

    deliveries: int
    departures: int | None
    """None: only those that come from now on."""

    def __str__(self) -> str:
        return f"{self.deliveries}.{self.departures}"

    @classmethod
    def of_text(cls, text: str) -> Place:
        found = re.fullmatch(r"([0-9]{1,18})(?:\.([0-9]{1,18}))?", text)
        if found is None:
            raise ValueError(f"expected a place such as 12.7, found {shown(text)}")
        departures = None if found[2] is None else int(found[2])
        return cls(int(found[1]), departures)

    def offset(self, stream: str) -> int | None:
        return self.deliveries if stream == DELIVERIES else self.departures

    def moved(self, news: News) -> Place:
        """Behind one more entry."""
        if news.stream == DELIVERIES:
            return self._replace(deliveries=news.offset)
        return self._replace(departures=news.offset)


class Following:
    """The deliveries of a shortlist, or of all; with `changes`, in order with its departures; or,
    with `rejects`, what was turned away.

    It begins behind an offset or a place, behind what a consumer has seen or, without any of these,
    at the end.
    """

    def __init__(
        self,
        log: Log,
        shortlist: str | None,
        *,
        changes: bool = False,
        rejects: bool = False,
        after: int | Place | None = None,
        consumer: str | None = None,
    ) -> None:
        self._log = log
        self._shortlist = shortlist
        # what is delivered at an instant may leave at the same one
        streams = [DELIVERIES, DEPARTURES] if changes else [REJECTS if rejects else DELIVERIES]
        self._consumers: dict[str, Consumer] = {}
        if consumer is not None:
            # who watches two shortlists under one name has a place in each
            names = [consumer, *([] if shortlist is None else [shortlist])]
            self._consumers = {one: Consumer(log, one, "/".join([*names, one])) for one in streams}
        self.positions = {one: self._start(one, after) for one in streams}
        """The offset of the last entry taken from each stream."""

    def news(self) -> Iterator[News]:
        """What has come since the last call; the next call goes on behind the last one taken."""
        ends = self._ends()
        streams = [self._read(stream, end) for stream, end in ends.items()]
        # what is turned away has no time, and is alone in its stream
        timed = heapq.merge(*streams, key=lambda news: parse_time(news.document["time"]))
        for news in timed if len(streams) > 1 else streams[0]:
            self.positions[news.stream] = news.offset
            yield news
        self.positions.update(ends)

    def remember(self) -> None:
        """All that was taken is done with, for a consumer."""
        for stream, consumer in self._consumers.items():
            consumer.seen(self.positions[stream])

    @property
    def place(self) -> Place:
        return Place(self.positions[DELIVERIES], self.positions.get(DEPARTURES))

    def _start(self, stream: str, after: int | Place | None) -> int:
        if stream in self._consumers:
            return self._consumers[stream].position
        offset = after.offset(stream) if isinstance(after, Place) else after
        return self._log.end(stream) if offset is None else offset

    def _ends(self) -> dict[str, int]:
        """How far to read; several streams only as far as all of them are complete."""
        ends = {stream: self._log.end(stream) for stream in self.positions}
        manifest = Deployment(self._log).manifest if DEPARTURES in ends else None
        if manifest is None:
            return ends
        complete = {DELIVERIES: manifest.deliveries.end, DEPARTURES: manifest.departures.end}
        is_written = all(ends[stream] >= end for stream, end in complete.items())
        return complete if is_written else dict(self.positions)

    def _read(self, stream: str, end: int) -> Iterator[News]:
        for entry in self._log.read(stream, self.positions[stream], end, key=self._shortlist):
            line = entry.content.decode()
            yield News(stream, entry.offset, line, json.loads(line))
