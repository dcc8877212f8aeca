"""Lines sent to a service, as many at once as it takes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from shortlist.client.fates import Fate
from shortlist.client.remote import Refusal, Remote, Unreachable
from shortlist.client.sending import MOST_LINES, Line, NotAcknowledged, Receipt

MOST_BYTES = 250_000
"""Of a request; services take 256 kB unless they are told otherwise."""
MOST_WAIT = 20.0
"""Seconds of one request; a service waits no longer than it waits for commands."""
NOT_KNOWN = 504

Event = dict[str, Any]


def send_remotely(remote: Remote, chunks: Iterable[Sequence[Line]]) -> Iterator[Receipt]:
    """Publishes one chunk after the other, each acknowledged before the next is sent; the receipt
    so far, before the first and after each."""
    receipt = Receipt()
    yield receipt
    for chunk in chunks:
        for place, events in _requests(chunk):
            try:
                answer = remote.publish(*events)
            except (Refusal, Unreachable) as error:
                raise NotAcknowledged(str(error), receipt, place) from error
            receipt.runs.append(range(answer["first"], answer["last"] + 1))
            yield receipt


def remote_fates(
    remote: Remote, receipt: Receipt, sent: Sequence[Line], patience: float
) -> list[Fate]:
    """What became of publications that a service took, once its deployment has come to all."""
    deadline, rest = time.monotonic() + patience, iter(sent)
    found: list[Fate] = []
    for run in receipt.runs:
        for each, line in zip(_became(remote, run, deadline), islice(rest, len(run)), strict=True):
            told = each["id"], each["source"], each["offset"]
            found.append(Fate(line.place, *told, each.get("rejected"), each["deliveries"]))
    return found


def _became(remote: Remote, run: range, deadline: float) -> list[dict[str, Any]]:
    """Asks until it is known, or the time is over."""
    while True:
        left = max(deadline - time.monotonic(), 0.0)
        try:
            items: list[dict[str, Any]] = remote.fates(run[0], run[-1], min(left, MOST_WAIT))[
                "items"
            ]
            return items
        except Refusal as error:
            if error.status != NOT_KNOWN or left <= 0:
                raise


def _requests(chunk: Sequence[Line]) -> Iterator[tuple[str, list[Event]]]:
    """The events of each request, and where the first of them stands.

    >>> lines = [Line(f"stdin:{n}", b'{"id": "%d", "source": "ads"}' % n) for n in range(1, 1202)]
    >>> [(place, len(events)) for place, events in _requests(lines)]
    [('stdin:1', 1000), ('stdin:1001', 201)]
    """
    place, size = "", 0
    events: list[Event] = []
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
