"""The command `publish`: lines of files and of standard input, sent to the input of a log."""

import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, NamedTuple, Protocol, cast

import typer

from shortlist.cli.app import LIVE, AsJson, app, fail, notes, say
from shortlist.cli.deployment import Deployment, LogUrl, opened, rejections
from shortlist.cli.waiting import wait_until_passed
from shortlist.log.base import DELIVERIES, INPUT, REJECTS, Log, LogUnavailable
from shortlist.model.settings import Limits
from shortlist.model.times import format_time, said_time
from shortlist.model.wording import one_line

FilePaths = Annotated[
    list[Path] | None, typer.Argument(help="JSON lines; standard input if there is none, or for -.")
]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until it is carried out or rejected.")]
Patience = Annotated[float, typer.Option(min=0, help="Seconds to wait at most.")]

STANDARD_INPUT = Path("-")
BLOCK_BYTES = 2**18
MOST_LINES = 1000
"""So many lines every log takes at once or not at all."""


class Flowing(Protocol):
    """What can be read as far as it is there."""

    def read1(self, size: int, /) -> bytes: ...


class Line(NamedTuple):
    """A line, and where it stands."""

    place: str
    content: bytes


def incoming(files: Sequence[Path] | None) -> Iterator[list[Line]]:
    """All lines but blank ones, in chunks; without files, those of standard input.

    A chunk holds what is there: what somebody writes to a pipe is not waited with.
    """
    paths = files or [STANDARD_INPUT]
    missing = [path for path in paths if path != STANDARD_INPUT and not path.is_file()]
    if missing:
        fail(f"{path}: expected a file, found none" for path in missing)
    for path in paths:
        if path == STANDARD_INPUT:
            yield from _chunks(cast(Flowing, sys.stdin.buffer), "stdin")
            continue
        with path.open("rb") as content:
            yield from _chunks(content, path.name)


def _chunks(content: Flowing, name: str) -> Iterator[list[Line]]:
    """
    >>> from io import BytesIO
    >>> [*_chunks(BytesIO(b"one\\n\\nthree"), "a.jsonl")]
    [[Line(place='a.jsonl:1', content=b'one')], [Line(place='a.jsonl:3', content=b'three')]]
    """
    number, rest = 0, b""
    while block := content.read1(BLOCK_BYTES):
        *whole, rest = (rest + block).split(b"\n")
        yield from in_chunks(_numbered(whole, name, number))
        number += len(whole)
    yield from in_chunks(_numbered([rest], name, number))


def _numbered(lines: Sequence[bytes], name: str, before: int) -> Iterator[Line]:
    for number, line in enumerate(lines, start=before + 1):
        if line.strip():
            yield Line(f"{name}:{number}", line)


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

    def document(self) -> dict[str, object]:
        first, last = self.ends or (None, None)
        return {"acknowledged": self.count, "first": first, "last": last}

    def text(self, more: str = "") -> str:
        counted = f"{self.count:,} acknowledged{more}"
        if self.ends is None:
            return counted
        first, last = self.ends
        shared = "" if last - first < self.count else ", with others' between them"
        return f"{counted}; offsets {first:,} to {last:,}{shared}"


def send(log: Log, chunks: Iterable[Sequence[Line]]) -> Receipt:
    """Appends one chunk after the other, each acknowledged before the next is sent."""
    receipt = Receipt()
    with notes.status("Sending") as shown:
        for chunk in chunks:
            try:
                end = log.append(INPUT, [line.content for line in chunk])
            except (LogUnavailable, ValueError) as error:
                rest = f"{chunk[0].place} and what follows was not acknowledged"
                fail([str(error), f"{receipt.text()}: {rest}"])
            receipt.runs.append(range(end - len(chunk) + 1, end + 1))
            shown.update(f"{receipt.count:,} acknowledged")
    return receipt


@app.command(rich_help_panel=LIVE)
def publish(
    files: FilePaths = None,
    *,
    log: LogUrl,
    now: Annotated[
        bool, typer.Option("--now", help="Give the present time to lines that have none.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Send nothing if a line is bad.")
    ] = False,
    create: Annotated[
        bool, typer.Option("--create", help="Make the log if there is none; `up` does, too.")
    ] = False,
    wait: Wait = False,
    patience: Patience = 60,
    as_json: AsJson = False,
) -> None:
    """Publish JSON lines; what is acknowledged is durable."""
    bad: list[Line] = []
    with opened(log, must_exist=not create) as connected:
        before = Ends.of(connected)
        is_timed = Deployment(connected).basis == "event"
        chunks: Iterator[list[Line]] = (
            _good(lines, bad, now, is_timed) for lines in incoming(files)
        )
        if strict:
            lines = [line for chunk in chunks for line in chunk]
            chunks = in_chunks([] if bad else lines)
        sent: list[Line] = []
        receipt = send(connected, _kept(filter(None, chunks), sent if wait else None))
        found = fates(Deployment(connected), receipt, sent, before, patience) if wait else []
    if as_json:
        told = {"became": [fate.document() for fate in found]} if wait else {}
        print(json.dumps(receipt.document() | {"rejected": len(bad)} | told, ensure_ascii=False))
    else:
        print(receipt.text(f", {len(bad):,} rejected"))
        for fate in found:
            print(fate)
    if bad or any(fate.rejected is not None for fate in found):
        raise typer.Exit(1)


class Ends(NamedTuple):
    """Where the streams ended before something was sent."""

    rejects: int
    deliveries: int

    @classmethod
    def of(cls, log: Log) -> "Ends":
        return cls(log.end(REJECTS), log.end(DELIVERIES))


class Fate(NamedTuple):
    """What became of a publication."""

    place: str
    id: str
    source: str
    offset: int
    rejected: str | None
    deliveries: int
    """So far."""

    def document(self) -> dict[str, object]:
        return {name: value for name, value in self._asdict().items() if value is not None}

    def __str__(self) -> str:
        """
        >>> print(Fate("stdin:2", "f1", "ads", 7, None, 1))
        stdin:2: f1 (ads): 1 delivery so far
        """
        if self.rejected is not None:
            became = f"rejected: {self.rejected}"
        else:
            became = f"{self.deliveries:,} {'delivery' if self.deliveries == 1 else 'deliveries'}"
            became += " so far"
        return one_line(f"{self.place}: {self.id} ({self.source}): {became}")


def fates(
    deployment: Deployment, receipt: Receipt, sent: Sequence[Line], before: Ends, patience: float
) -> list[Fate]:
    """What became of publications, once the deployment has come to all of them."""
    if receipt.ends is None:
        return []
    log, offsets = deployment.log, [*chain(*receipt.runs)]
    documents = [json.loads(line.content.decode("utf-8-sig")) for line in sent]
    latest = max((time for time in map(said_time, documents) if time is not None), default=None)
    manifest = wait_until_passed(deployment, receipt.ends[1], latest, patience)
    reasons = dict(rejections(log, manifest, {*offsets}, after=before.rejects))
    delivered: Counter[tuple[str, str]] = Counter()
    for entry in log.read(DELIVERIES, before.deliveries):
        delivery = json.loads(entry.content)
        delivered[delivery["source"], delivery["publication"]] += 1
    found = []
    for line, document, offset in zip(sent, documents, offsets, strict=True):
        source, name = document["source"], document["id"]
        counted = 0 if offset in reasons else delivered[source, name]
        found.append(Fate(line.place, name, source, offset, reasons.get(offset), counted))
    return found


def _kept(chunks: Iterable[list[Line]], sent: list[Line] | None) -> Iterator[list[Line]]:
    """The same chunks; what is in them is remembered, if somebody asks for it later."""
    for chunk in chunks:
        if sent is not None:
            sent += chunk
        yield chunk


def _good(lines: Sequence[Line], bad: list[Line], stamps: bool, is_timed: bool) -> list[Line]:
    """Lines that can be sent, with the present time if they have none and `stamps` asks for it;
    what is wrong with the others is said. Unless items are of the time that they say, they need
    not say any."""
    from shortlist.intake.lines import BadItem, ItemReader, parse_json
    from shortlist.model.vocabulary import Vocabulary

    limits, good = Limits(), []
    reader = ItemReader(Vocabulary(), limits, commands=False)
    for line in lines:
        content = line.content
        try:
            document = parse_json(content, limits)
            if stamps and isinstance(document, dict) and document.get("time") is None:
                document["time"] = format_time(time.time_ns() // 1000)
                content = json.dumps(document, ensure_ascii=False).encode()
            reader.document(document, position=0, time=None if is_timed else 0)
        except BadItem as problem:
            bad.append(line)
            say([f"{line.place}: {problem}"])
        else:
            good.append(Line(line.place, content))
    return good
