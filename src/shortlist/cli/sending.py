"""The command `publish`: lines of files and of standard input, sent to the input of a log."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Annotated, cast

import typer

from shortlist.cli import options
from shortlist.cli.app import LIVE, app, fail, notes, only_with_log, opened, reached, say
from shortlist.client.deployment import Deployment
from shortlist.client.fates import Document, Ends, fate_text, fates
from shortlist.client.sending import Line, Receipt, in_chunks, remote_fates, send, send_remotely
from shortlist.model.settings import Limits
from shortlist.model.times import format_time
from shortlist.model.times import now as present

WAITING = "Waiting for the deployment"

STANDARD_INPUT = Path("-")
BLOCK_BYTES = 2**18


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
            yield from _chunks(cast(BufferedReader, sys.stdin.buffer), "stdin")
            continue
        with path.open("rb") as content:
            yield from _chunks(content, path.name)


def _chunks(content: BufferedReader, name: str) -> Iterator[list[Line]]:
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


def acknowledged(receipts: Iterable[Receipt]) -> Receipt:
    """The last receipt; shows what is acknowledged so far."""
    with notes.status("Sending") as shown:
        for receipt in receipts:
            shown.update(f"{receipt.count:,} acknowledged")
    return receipt


@app.command(rich_help_panel=LIVE)
def publish(
    files: options.FilePaths = None,
    *,
    log: options.LogOrNone = None,
    service: options.ServiceUrl = None,
    now: Annotated[
        bool, typer.Option("--now", help="Give the present time to lines that have none.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Send nothing if a line is bad.")
    ] = False,
    create: Annotated[
        bool, typer.Option("--create", help="Make the log if there is none; `up` does, too.")
    ] = False,
    wait: options.Wait = False,
    patience: options.Patience = 60,
    as_json: options.AsJson = False,
) -> None:
    """Publish JSON lines; what is acknowledged is durable."""
    bad: list[Line] = []
    sent: list[Line] = []
    found: list[Document] = []
    if create and log is not None:
        with opened(log):
            pass
    with reached(log, service) as place:
        is_timed = isinstance(place, Deployment) and place.basis == "event"
        chunks: Iterator[list[Line]] = (
            _good(lines, bad, now, is_timed) for lines in incoming(files)
        )
        if strict:
            lines = [line for chunk in chunks for line in chunk]
            chunks = in_chunks([] if bad else lines)
        chunks = filter(None, chunks)
        if not isinstance(place, Deployment):
            only_with_log(create=create)
            receipt = acknowledged(send_remotely(place, _kept(chunks, sent if wait else None)))
            if wait:
                with notes.status(WAITING):
                    found = [*remote_fates(place, receipt, patience)]
        else:
            before = Ends.of(place.log)
            receipt = acknowledged(send(place.log, _kept(chunks, sent if wait else None)))
            if wait:
                with notes.status(WAITING):
                    found = fates(place, receipt, sent, before, patience)
    found = [{"place": at.place, **fate} for at, fate in zip(sent, found, strict=True)]
    if as_json:
        told = {"became": found} if wait else {}
        print(json.dumps(receipt.document() | {"rejected": len(bad)} | told, ensure_ascii=False))
    else:
        print(receipt.text(f", {len(bad):,} rejected"))
        for fate in found:
            print(fate_text(fate))
    if bad or any("rejected" in fate for fate in found):
        raise typer.Exit(1)


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
    from shortlist.intake.publications import BadItem, parse_json, publication_of

    limits, good = Limits(), []
    for line in lines:
        content = line.content
        try:
            document = parse_json(content, limits)
            if stamps and isinstance(document, dict) and document.get("time") is None:
                document["time"] = format_time(present())
                content = json.dumps(document, ensure_ascii=False).encode()
            publication_of(document, 0, None if is_timed else 0, limits)
        except BadItem as problem:
            bad.append(line)
            say([f"{line.place}: {problem}"])
        else:
            good.append(Line(line.place, content))
    return good
