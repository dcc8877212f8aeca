"""Lines sent to a service, as many at once as it takes."""

import json
import time
from collections.abc import Iterable, Iterator, Sequence

from shortlist.client.remote import Document, Refusal, Remote, Unreachable
from shortlist.client.sending import MOST_LINES, Line, NotAcknowledged, Receipt

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
            except (Refusal, Unreachable) as error:
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
