"""What became of publications that were sent, and the way of one of them through a log."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from shortlist.client.deployment import (
    Awaited,
    Deployment,
    has_passed,
    last_before,
    object_of,
    read_up_to,
    rejections,
    wait_until_passed,
)
from shortlist.client.sending import Line, Receipt
from shortlist.live.manifest import Manifest
from shortlist.log.base import DELIVERIES, INPUT, REJECTS, Entry, Log
from shortlist.model.times import format_time, said_time
from shortlist.model.trace import trace_id
from shortlist.model.wording import one_line

Document = dict[str, Any]


class Ends(NamedTuple):
    """Where the streams ended before something was sent."""

    rejects: int
    deliveries: int

    @classmethod
    def of(cls, log: Log) -> Ends:
        return cls(log.end(REJECTS), log.end(DELIVERIES))

    @classmethod
    def at(cls, log: Log, time: int) -> Ends:
        """Where they ended at an instant in microseconds since 1970, or somewhat earlier."""
        return cls(last_before(log, REJECTS, time), last_before(log, DELIVERIES, time))


def fate_text(fate: Document) -> str:
    """What became of a publication, for people.

    >>> fate_text({"place": "stdin:2", "id": "f1", "source": "ads", "offset": 7, "deliveries": 1})
    'stdin:2: f1 (ads): 1 delivery so far'
    """
    count = fate["deliveries"]
    became = f"{count:,} {'delivery' if count == 1 else 'deliveries'} so far"
    if "rejected" in fate:
        became = f"rejected: {fate['rejected']}"
    return one_line(f"{fate['place']}: {fate['id']} ({fate['source']}): {became}")


def fates(
    deployment: Deployment, receipt: Receipt, sent: Iterable[Line], before: Ends, patience: float
) -> list[Document]:
    """What became of publications, once the deployment has come to all of them."""
    if receipt.ends is None:
        return []
    documents = [json.loads(line.content.decode("utf-8-sig")) for line in sent]
    published = dict(zip(chain(*receipt.runs), documents, strict=True))
    manifest = wait_until_passed(deployment, awaited(published), patience)
    return became(deployment.log, manifest, published, before)


def awaited(published: Mapping[int, Document]) -> Awaited:
    """What is to be waited for, if publications stand at these offsets of the input."""
    times = (said_time(document) for document in published.values())
    return Awaited(max(published), max((time for time in times if time is not None), default=None))


def became(
    log: Log, manifest: Manifest, published: Mapping[int, Document], before: Ends
) -> list[Document]:
    """What became of publications at some offsets, which the deployment has come to: why each was
    rejected, and how often it was delivered so far."""
    reasons = dict(rejections(log, manifest, {*published}, after=before.rejects))
    delivered: Counter[tuple[str, str]] = Counter()
    for entry in log.read(DELIVERIES, before.deliveries):
        delivery = json.loads(entry.content)
        delivered[delivery["source"], delivery["publication"]] += 1
    return [
        {"id": document["id"], "source": document["source"], "offset": offset}
        | (
            {"rejected": reasons[offset], "deliveries": 0}
            if offset in reasons
            else {"deliveries": delivered[document["source"], document["id"]]}
        )
        for offset, document in published.items()
    ]


MOST_READ = 200_000
"""Deliveries that are looked at for one page."""


def traced(
    log: Log, source: str, publication: str, after: int | None = None, limit: int = MOST_READ
) -> Document:
    """One page of what became of one publication, which may have been published repeatedly: what
    the input has of it, unless the page begins behind an offset, and who got it. The `next` page
    begins behind that offset."""
    if after is not None:
        return trace_deliveries(log, source, publication, after, limit)
    entries = [*_mentioning(log.read(INPUT, 0), source, publication, "id")]
    manifest = Deployment(log).manifest
    offsets = {entry.offset for entry, _ in entries}
    first = entries[0][0].appended if entries else 0
    reasons = {}
    if manifest is not None and entries:
        reasons = dict(rejections(log, manifest, offsets, last_before(log, REJECTS, first)))
    parents = (document.get("traceparent") for _, document in entries)
    begins = last_before(log, DELIVERIES, first) if entries else log.end(DELIVERIES)
    return {
        "trace": trace_id(source, publication, next(parents, None)) if entries else None,
        "entries": [
            {
                "offset": entry.offset,
                "appended": format_time(entry.appended),
                "fate": reasons.get(entry.offset) or _fate(manifest, entry, document),
            }
            for entry, document in entries
        ],
        **trace_deliveries(log, source, publication, begins, limit),
    }


def trace_deliveries(
    log: Log, source: str, publication: str, after: int, limit: int, most: int = MOST_READ
) -> Document:
    """Who got a publication, behind an offset of the deliveries: one page, and where the `next` one
    begins. Only so many entries are looked at, so that a page may be short, or empty."""
    end = min(after + most, log.end(DELIVERIES))
    found: list[Document] = []
    entries = log.read(DELIVERIES, after, end)
    for entry, delivery in _mentioning(entries, source, publication, "publication"):
        appended = format_time(entry.appended)
        found.append({"offset": entry.offset, "appended": appended, "delivery": delivery})
        if len(found) == limit:
            return {"deliveries": found, "next": entry.offset}
    return {"deliveries": found, "next": end if end < log.end(DELIVERIES) else None}


def _mentioning(
    entries: Iterable[Entry], source: str, publication: str, field: str
) -> Iterator[tuple[Entry, Document]]:
    """Those that are about a publication, which they name in a field."""
    name = publication.encode(errors="replace")
    for entry in entries:
        # where nothing is escaped the name stands as it is; most entries need not be parsed
        if name not in entry.content and b"\\" not in entry.content:
            continue
        document = object_of(entry.content) or {}
        if (document.get("source"), document.get(field)) == (source, publication):
            yield entry, document


def _fate(manifest: Manifest | None, entry: Entry, document: Document) -> str:
    """Of what was not turned away, or not yet."""
    if manifest is None or read_up_to(manifest) < entry.offset:
        return "not read yet"
    is_over = has_passed(manifest, entry.offset, said_time(document))
    return "let in" if is_over else "waits until time has passed it"
