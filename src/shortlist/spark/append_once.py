"""Batches of lines that are appended to a log once, however often and wherever that is tried."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from hashlib import sha256

import pyarrow as pa

from shortlist.live.files import Files
from shortlist.live.tables import of_bytes, to_bytes
from shortlist.log.base import Log, Moved

LINES = pa.schema([("line", pa.binary()), ("key", pa.string())])
PART_ENTRIES = 1000
PART_BYTES = 16 * 2**20
"""What every log appends all or none; a single line may be larger."""
ATTEMPTS = 100
"""How often others may append in between before a part is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What the register remembers: the part of a batch that was begun last."""

    query: str | None
    number: int
    parts: int
    whole: str
    """The digest of all lines, in whatever order."""
    file: str | None
    """All lines as they were first tried, if there are several parts."""
    part: int = 0
    begin: int = 0
    """Where the stream ended before the part."""
    count: int = 0
    digest: str = ""
    """Of the part's lines, in whatever order: a part that is all there is may have been tried in
    another one before."""


class AppendOnce:
    """Writes to a stream under a name: the register says what was begun, the stream what was done.

    A batch that comes again is looked for behind its beginning, and goes on as it was first tried,
    even if its lines come in another order now.

    >>> import tempfile
    >>> from shortlist.log.sqlite import SqliteLog
    >>> folder = tempfile.TemporaryDirectory()
    >>> log = SqliteLog(f"{folder.name}/city.log")
    >>> append = AppendOnce(log, "input", "sink/input/me", Files(folder.name))
    >>> lines = pa.table([[b"one", b"two"], pa.nulls(2, pa.string())], schema=LINES)
    >>> append("query", 0, lines)
    >>> append("query", 0, lines)
    >>> [entry.content for entry in log.read("input", 0)]
    [b'one', b'two']
    >>> log.close()
    >>> folder.cleanup()
    """

    def __init__(self, log: Log, stream: str, register: str, files: Files) -> None:
        self._log = log
        self._stream = stream
        self._register = register
        self._files = files

    def __call__(self, query: str | None, number: int, lines: pa.Table) -> None:
        """Appends a batch; the numbers of a query's batches grow."""
        whole = _digest(sorted(lines["line"].to_pylist()))
        known = self._log.register(self._register)
        revision = 0 if known is None else known.revision
        last = None if known is None else Intent(**json.loads(known.content))
        if last is not None:
            self._check(last, query, number, whole)
        begun = last if last is not None and last.number == number else None
        done = 0 if begun is None else begun.part + self._was_appended(begun)
        if begun is not None and begun.parts == done:
            return
        if begun is not None and begun.file is not None:
            lines = of_bytes(self._files.read(begun.file))
        parts = list(_parts(lines))
        intent = begun
        if intent is None or intent.file is None:
            file = None
            if len(parts) > 1:
                file = self._files.write("batch", to_bytes(lines))
                self._files.settle()
            intent = Intent(query=query, number=number, parts=len(parts), whole=whole, file=file)
        for part in range(done, len(parts)):
            revision = self._append(replace(intent, part=part), parts[part], revision, begun)

    def _append(self, intent: Intent, part: pa.Table, revision: int, begun: Intent | None) -> int:
        """The revision of the register afterwards."""
        digest = _digest(sorted(part["line"].to_pylist()))
        for _ in range(ATTEMPTS):
            # The end is taken before anybody looks: a driver that was believed dead may append
            # until then, and be seen; later, and the stream does not end there.
            begin = self._log.end(self._stream)
            if begun is not None and begun.part == intent.part and self._was_appended(begun):
                return revision
            intent = replace(intent, begin=begin, count=len(part), digest=digest)
            revision = self._log.put(self._register, json.dumps(asdict(intent)).encode(), revision)
            try:
                append(self._log, self._stream, part, expected_end=begin)
                return revision
            except Moved:
                continue
        raise Moved(f"others appended to {self._stream} in between, {ATTEMPTS} times")

    def _check(self, last: Intent, query: str | None, number: int, whole: str) -> None:
        if query != last.query or number < last.number:
            raise ValueError(
                f"name: {self._register} was used up to batch {last.number} by a query with"
                " another checkpoint: a new checkpoint needs a new name"
            )
        if query is None and whole != last.whole:
            raise ValueError(f"name: {self._register} was used for other lines")

    def _was_appended(self, intent: Intent) -> bool:
        entries = self._log.read(self._stream, intent.begin, intent.begin + intent.count)
        return _digest(sorted(entry.content for entry in entries)) == intent.digest


def append(log: Log, stream: str, lines: pa.Table, expected_end: int | None = None) -> None:
    """Appends lines with their keys, if they have any."""
    keys = lines["key"].to_pylist() if lines["key"].null_count == 0 else None
    log.append(stream, lines["line"].to_pylist(), keys=keys, expected_end=expected_end)


def _parts(lines: pa.Table) -> Iterator[pa.Table]:
    """Consecutive lines, as many at a time as an append takes."""
    start, size = 0, 0
    for index, line in enumerate(lines["line"].to_pylist()):
        if index - start == PART_ENTRIES or (index > start and size + len(line) > PART_BYTES):
            yield lines.slice(start, index - start)
            start, size = index, 0
        size += len(line)
    if start < len(lines):
        yield lines.slice(start)


def _digest(contents: Iterable[bytes]) -> str:
    digest = sha256()
    for content in contents:
        digest.update(len(content).to_bytes(8))
        digest.update(content)
    return digest.hexdigest()
