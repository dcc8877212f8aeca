"""Structured logs of a deployment: one JSON object a line, for programs that read logs."""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal

from shortlist.engine.arrow import rows
from shortlist.intake.json_text import NotJson, parse_text
from shortlist.live.driver import Report
from shortlist.live.manifest import Manifest
from shortlist.log.durable import open_private
from shortlist.model.times import format_time
from shortlist.model.trace import trace_id

Event = Literal["compiling", "started", "batch", "rejected", "stopped", "superseded", "failed"]
OFF = logging.CRITICAL + 1
LOGGER = logging.getLogger("shortlist.live")
LOGGER.setLevel(OFF)
LOGGER.propagate = False
LEVELS: dict[Event, int] = {
    "rejected": logging.WARNING,
    "superseded": logging.WARNING,
    "failed": logging.ERROR,
}
"""The others are worth knowing, and no more."""


class JsonLine(logging.Formatter):
    """A record as one line: time, level, event, then its fields.

    >>> record = logging.LogRecord("", logging.INFO, "", 0, "batch", None, None)
    >>> record.created, record.fields = 1.5, {"number": 7}
    >>> JsonLine().format(record)
    '{"time": "1970-01-01T00:00:01.500Z", "level": "info", "event": "batch", "number": 7}'
    """

    def format(self, record: logging.LogRecord) -> str:
        head = {
            "time": format_time(int(record.created * 1e6)),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        fields: dict[str, Any] = getattr(record, "fields", {})
        return json.dumps(head | fields, ensure_ascii=False, default=str)


@contextmanager
def written_logs(file: Path | None = None, level: int = logging.INFO) -> Iterator[None]:
    """What happens meanwhile goes behind what a file holds, or to standard error; outside of this,
    nowhere."""
    with ExitStack() as stack:
        target = sys.stderr
        if file is not None:
            target = stack.enter_context(open(file, "a", encoding="utf-8", opener=open_private))
        handler = logging.StreamHandler(target)
        handler.setFormatter(JsonLine())
        LOGGER.addHandler(handler)
        LOGGER.setLevel(level)
        try:
            yield
        finally:
            LOGGER.removeHandler(handler)
            LOGGER.setLevel(OFF)
            handler.close()


def tell(event: Event, **fields: object) -> None:
    """Something happened."""
    LOGGER.log(LEVELS.get(event, logging.INFO), event, extra={"fields": fields})


def tell_batch(report: Report, manifest: Manifest) -> None:
    """A batch was committed; what was turned away has an event each."""
    if not LOGGER.isEnabledFor(logging.WARNING):
        return
    for position, line, reason, why in rows(report.refusals.to_batches()):
        tell("rejected", position=position, why=why, reason=reason, trace=_trace(line))
    tell(
        "batch",
        number=report.number,
        position=manifest.position,
        counts=dict(report.counts),
        seconds={step: round(took, 6) for step, took in report.seconds.items()},
        bytes_written=report.bytes_written,
    )


def _trace(line: str) -> str | None:
    """Of a publication; what is none, or cannot be read, has no trace.

    >>> _trace('{"id": "n1", "source": "cinema"}'), _trace("broken")
    ('efba9bbcbcd8593244a24aba8dab49b9', None)
    """
    try:
        document = parse_text(line)
    except NotJson:
        return None
    match document:
        case {"source": str(source), "id": str(name), **others}:
            return trace_id(source, name, others.get("traceparent"))
    return None
