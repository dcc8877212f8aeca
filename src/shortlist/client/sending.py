"""Lines sent to the input of a log, or to a service: what is acknowledged, and where it stands."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from shortlist.log.base import INPUT, Log, LogUnavailable
from shortlist.model.problem import ShortlistError

if TYPE_CHECKING:
    from shortlist.client.remote import Document, Remote

MOST_LINES = 1000
"""So many lines every log takes at once or not at all."""


class Line(NamedTuple):
    """A line, and where it stands."""

    place: str
    content: bytes


def in_chunks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """The same, so many at a time as a log takes at once."""
    rest = iter(lines)
    while chunk := list(islice(rest, MOST_LINES)):
        yield chunk


@dataclass(slots=True)
class Receipt:
    """What a log has acknowledged.

    >>> receipt = Receipt([range(6, 8)])
    >>> print(receipt.text())
    2 acknowledged; offsets 6 to 7
    >>> receipt.runs.append(range(9, 10))
    >>> print(receipt.text(", 5 rejected"))
    3 acknowledged, 5 rejected; offsets 6 to 9, with others' between them
    """

    runs: list[range] = field(default_factory=list)
    """The offsets of each chunk."""

    @property
    def count(self) -> int:
        return sum(map(len, self.runs))

    @property
    def ends(self) -> tuple[int, int] | None:
        """The first offset and the last."""
        return (self.runs[0][0], self.runs[-1][-1]) if self.runs else None

    def document(self) -> dict[str, int | None]:
        first, last = self.ends or (None, None)
        return {"acknowledged": self.count, "first": first, "last": last}

    def text(self, more: str = "") -> str:
        counted = f"{self.count:,} acknowledged{more}"
        if self.ends is None:
            return counted
        first, last = self.ends
        shared = "" if last - first < self.count else ", with others' between them"
        return f"{counted}; offsets {first:,} to {last:,}{shared}"


class NotAcknowledged(ShortlistError):
    """A log failed on the way; the receipt has what it took before."""

    def __init__(self, problem: str, receipt: Receipt, place: str) -> None:
        rest = f"{place} and what follows was not acknowledged"
        super().__init__(f"{problem}\n{receipt.text()}: {rest}")
        self.receipt = receipt


def send(log: Log, chunks: Iterable[Sequence[Line]]) -> Iterator[Receipt]:
    """Appends one chunk after the other, each acknowledged before the next is sent; the receipt so
    far, before the first and after each."""
    receipt = Receipt()
    yield receipt
    for chunk in chunks:
        try:
            end = log.append(INPUT, [line.content for line in chunk])
        except (LogUnavailable, ValueError) as error:
            raise NotAcknowledged(str(error), receipt, chunk[0].place) from error
        receipt.runs.append(range(end - len(chunk) + 1, end + 1))
        yield receipt


MOST_BYTES = 250_000
"""Of a request; services take 256 kB unless they are told otherwise."""
MOST_WAIT = 20.0
"""Seconds of one request; a service waits no longer than it waits for commands."""
NOT_KNOWN = 504


def send_remotely(remote: Remote, chunks: Iterable[Sequence[Line]]) -> Iterator[Receipt]:
    """Publishes one chunk after the other, each acknowledged before the next is sent; the receipt
    so far, before the first and after each."""
    receipt = Receipt()
    yield receipt
    for chunk in chunks:
        for place, events in _requests(chunk):
            try:
                answer = remote.publish(*events)
            except ShortlistError as error:
                raise NotAcknowledged(str(error), receipt, place) from error
            receipt.runs.append(range(answer["first"], answer["last"] + 1))
            yield receipt


def remote_fates(remote: Remote, receipt: Receipt, patience: float) -> Iterator[Document]:
    """What became of publications that a service took, once its deployment has come to all."""
    deadline = time.monotonic() + patience
    for run in receipt.runs:
        yield from _became(remote, run, deadline)["items"]


def _became(remote: Remote, run: range, deadline: float) -> Document:
    """Asks until it is known, or the time is over."""
    from shortlist.client.remote import Refusal

    while True:
        left = max(deadline - time.monotonic(), 0.0)
        try:
            return remote.fates(run[0], run[-1], min(left, MOST_WAIT))
        except Refusal as error:
            if error.status != NOT_KNOWN or left <= 0:
                raise


def _requests(chunk: Sequence[Line]) -> Iterator[tuple[str, list[Document]]]:
    """The events of each request, and where the first of them stands.

    >>> lines = [Line(f"stdin:{n}", b'{"id": "%d", "source": "ads"}' % n) for n in range(1, 1202)]
    >>> [(place, len(events)) for place, events in _requests(lines)]
    [('stdin:1', 1000), ('stdin:1001', 201)]
    """
    place, size = "", 0
    events: list[Document] = []
    for line in chunk:
        event = json.loads(line.content.decode("utf-8-sig"))
        length = len(json.dumps(event)) + 2
        if events and (len(events) == MOST_LINES or size + length > MOST_BYTES):
            yield place, events
            events, size = [], 0
        if not events:
            place = line.place
        events.append(event)
        size += length
    if events:
        yield place, events
