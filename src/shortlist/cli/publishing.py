"""The command `publish`."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from shortlist.cli.app import LIVE, AsJson, app, say
from shortlist.cli.deployment import LogUrl, opened
from shortlist.cli.sending import FilePaths, Line, in_chunks, incoming, send
from shortlist.intake.lines import BadItem, ItemReader, parse_json
from shortlist.model.settings import Limits
from shortlist.model.times import format_time
from shortlist.model.vocabulary import Vocabulary


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
    as_json: AsJson = False,
) -> None:
    """Publish JSON lines; what is acknowledged is durable."""
    checking = Checking(stamps=now)
    with opened(log) as connected:
        chunks: Iterator[list[Line]] = map(checking.good, incoming(files))
        if strict:
            lines = [line for chunk in chunks for line in chunk]
            chunks = in_chunks([] if checking.bad else lines)
        receipt = send(connected, filter(None, chunks))
    if as_json:
        print(json.dumps(receipt.document() | {"rejected": checking.bad}))
    else:
        print(receipt.text(f", {checking.bad:,} rejected"))
    if checking.bad:
        raise typer.Exit(1)


@dataclass(slots=True)
class Checking:
    """Tells good lines from bad ones, which it names and counts."""

    stamps: bool
    """Whether lines without a time get the present one."""
    bad: int = 0

    def good(self, lines: Sequence[Line]) -> list[Line]:
        """Those that can be sent."""
        return [*self._good(lines)]

    def _good(self, lines: Sequence[Line]) -> Iterator[Line]:
        limits = Limits()
        reader = ItemReader(Vocabulary(), limits, commands=False)
        for line in lines:
            try:
                document = parse_json(line.content, limits)
                stamped = self._stamped(document)
                reader.document(stamped or document, position=0)
            except BadItem as problem:
                self.bad += 1
                say([f"{line.place}: {problem}"])
            else:
                yield line if stamped is None else _rewritten(line, stamped)

    def _stamped(self, document: object) -> dict[str, object] | None:
        """The document with the present time, if that is wanted and it has none."""
        if not self.stamps or not isinstance(document, dict) or document.get("time") is not None:
            return None
        return document | {"time": format_time(time.time_ns() // 1000)}


def _rewritten(line: Line, document: dict[str, object]) -> Line:
    return line._replace(content=json.dumps(document, ensure_ascii=False).encode())
