"""The command `trace`."""

import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from shortlist.cli.app import LIVE, AsJson, app, fail
from shortlist.cli.deployment import Deployment, LogUrl, has_passed, opened, read_up_to
from shortlist.cli.verdicts import rejections
from shortlist.cli.watching import readable
from shortlist.intake.json_text import NotJson, parse_bytes
from shortlist.live.manifest import Manifest
from shortlist.log.base import DELIVERIES, INPUT, Entry, Log
from shortlist.model.times import format_time, parse_time
from shortlist.model.trace import trace_id

Document = dict[str, Any]


@app.command(rich_help_panel=LIVE)
def trace(
    source: Annotated[str, typer.Argument(help="The publisher.")],
    publication: Annotated[str, typer.Argument(metavar="ID", help="The publication's id.")],
    *,
    log: LogUrl,
    as_json: AsJson = False,
) -> None:
    """Follow one publication through the log: its entry, and its deliveries or why not."""
    with opened(log, must_exist=True) as connected:
        found = traced(connected, source, publication)
    if not found["entries"]:
        fail([f"there is no publication {publication!r} of {source!r} in the log"])
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
    else:
        _print(found)


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
    is_over = has_passed(manifest, entry.offset, parse_time(document["time"]))
    return "let in" if is_over else "waits until time has passed it"


def _print(found: Document) -> None:
    console = Console()
    console.print(Text.assemble("trace ", (found["trace"], "bold")))
    for entry in found["entries"]:
        line = Text.assemble((entry["appended"], "dim"), f"  input {entry['offset']:,}: ")
        console.print(line.append(entry["fate"]), soft_wrap=True)
    for each in found["deliveries"]:
        line = Text.assemble((each["appended"], "dim"), f"  delivery {each['offset']:,}: ")
        console.print(line.append(readable(each["delivery"])), soft_wrap=True)
