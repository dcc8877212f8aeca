"""The way of one publication through a log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from shortlist.client.deployment import Deployment, has_passed, read_up_to, rejections
from shortlist.intake.json_text import NotJson, parse_bytes
from shortlist.live.manifest import Manifest
from shortlist.log.base import DELIVERIES, INPUT, Entry, Log
from shortlist.model.times import format_time, said_time
from shortlist.model.trace import trace_id

Document = dict[str, Any]


def traced(log: Log, source: str, publication: str) -> Document:
    """Everything that the log has of one publication; it may have been published repeatedly."""
    entries = [*_mentioning(log, INPUT, source, publication, "id")]
    manifest = Deployment(log).manifest
    offsets = {entry.offset for entry, _ in entries}
    reasons = {} if manifest is None else dict(rejections(log, manifest, offsets))
    parents = (document.get("traceparent") for _, document in entries)
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
        "deliveries": [
            {"offset": entry.offset, "appended": format_time(entry.appended), "delivery": delivery}
            for entry, delivery in _mentioning(log, DELIVERIES, source, publication, "publication")
        ],
    }


def _mentioning(
    log: Log, stream: str, source: str, publication: str, field: str
) -> Iterator[tuple[Entry, Document]]:
    """The entries of a stream that are about a publication, which they name in a field."""
    name = publication.encode(errors="replace")
    for entry in log.read(stream, 0):
        # where nothing is escaped the name stands as it is; most entries need not be parsed
        if name not in entry.content and b"\\" not in entry.content:
            continue
        try:
            document = parse_bytes(entry.content)
        except NotJson:
            continue
        if not isinstance(document, dict):
            continue
        if (document.get("source"), document.get(field)) == (source, publication):
            yield entry, document


def _fate(manifest: Manifest | None, entry: Entry, document: Document) -> str:
    """Of what was not turned away, or not yet."""
    if manifest is None or read_up_to(manifest) < entry.offset:
        return "not read yet"
    is_over = has_passed(manifest, entry.offset, said_time(document))
    return "let in" if is_over else "waits until time has passed it"
