"""A log in one SQLite file, for the processes of one machine."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from heapq import merge
from itertools import chain, repeat
from pathlib import Path
from types import ModuleType

from shortlist.log import streams
from shortlist.log.base import Chunk, Entry, LogUnavailable, Moved, Register
from shortlist.log.durable import open_private

APPLICATION = int.from_bytes(b"shr2")
"""Marks a database as a log (SQLite's `application_id`)."""
FOREIGN = {int.from_bytes(b"shrt"): "a log of version 1, not 2"}
"""What a database is instead, by its mark, if not another program's."""
MANY = 256
"""Entries from which on an append is stored in blocks."""
SETTINGS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",  # where a plain fsync does not reach the disk (macOS)
    "PRAGMA journal_size_limit = 16777216",  # a large append must not leave a large -wal file
    "PRAGMA cache_size = -65536",  # keys come in no order: with less, pages are read again
)
CREATE_REGISTERS = """
    CREATE TABLE IF NOT EXISTS registers (
        name TEXT PRIMARY KEY, revision INTEGER NOT NULL, content BLOB NOT NULL
    ) WITHOUT ROWID
"""
CREATE_STREAM = (
    """
    CREATE TABLE {stream}_entries (
        offset INTEGER PRIMARY KEY, appended INTEGER NOT NULL, key TEXT, content BLOB NOT NULL
    )
    """,
    "CREATE INDEX {stream}_keys ON {stream}_entries (key) WHERE key IS NOT NULL",
    """
    CREATE TABLE {stream}_blocks (
        last INTEGER PRIMARY KEY, count INTEGER NOT NULL, appended INTEGER NOT NULL,
        has_keys INTEGER NOT NULL, size INTEGER NOT NULL, crc INTEGER NOT NULL,
        content BLOB NOT NULL
    )
    """,
    """
    CREATE TABLE {stream}_block_keys (
        place INTEGER PRIMARY KEY, first INTEGER NOT NULL, content BLOB NOT NULL
    )
    """,
)
"""An entry is a row, or in a block (`log/sqlite_blocks.py`)."""
REASONS = {
    sqlite3.SQLITE_BUSY: "another process has locked it for too long",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened (is its folder there?)",
    sqlite3.SQLITE_CORRUPT: "it is damaged",
    sqlite3.SQLITE_FULL: "its disk is full",
    sqlite3.SQLITE_IOERR: "its disk does not read or write",
    sqlite3.SQLITE_NOTADB: "it is not a log, or damaged",
    sqlite3.SQLITE_PERM: "it may not be opened",
    sqlite3.SQLITE_READONLY: "it is read-only",
}


class SqliteLog:
    """Any number of processes and threads may use one file at the same time, on a local disk.

    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> log = SqliteLog(Path(folder.name, "city.log"))
    >>> log.append("input", [b"one", b"two"], keys=["a", "b"])
    2
    >>> [(entry.offset, entry.content) for entry in log.read("input", 0, key="b")]
    [(2, b'two')]
    >>> log.append("input", [b"three"], expected_end=1)
    Traceback (most recent call last):
    ...
    shortlist.log.base.Moved: expected the end of input at 1, found it at 2
    >>> log.put("manifest", b"first", revision=0), log.register("manifest")
    (1, Register(revision=1, content=b'first'))
    >>> log.close()
    >>> folder.cleanup()
    """

    def __init__(self, path: str | Path, patience: float = 30.0) -> None:
        """Opens the file, or makes it; waits for others that write for `patience` seconds."""
        self.path = Path(path)
        self.patience = patience
        # SQLite's connections must not be carried through a fork: hence the process's id. Those of
        # the parent stay here, since a child must not close them either.
        self._connections: dict[tuple[int, int], sqlite3.Connection] = {}
        self._streams: set[str] = set()
        self._connection()

    def append(
        self,
        stream: str,
        contents: Sequence[bytes],
        *,
        keys: Sequence[str] | None = None,
        expected_end: int | None = None,
    ) -> int:
        count = len(contents)
        with self._transaction() as connection:
            if not self._has(connection, stream):
                for statement in CREATE_STREAM:
                    connection.execute(statement.format(stream=stream))
            end, last = self._last(connection, stream)
            if expected_end not in (None, end):
                raise streams.moved(stream, expected_end, end)
            # a clock that was set back must not let time go back
            now = max(time.time_ns() // 1000, last)
            if count >= MANY:
                _blocks().insert(connection, stream, end + 1, now, contents, keys)
                return end + count
            rows = zip(
                range(end + 1, end + 1 + count),
                repeat(now, count),
                repeat(None, count) if keys is None else keys,
                contents,
                strict=True,
            )
            connection.executemany(f"INSERT INTO {stream}_entries VALUES (?, ?, ?, ?)", rows)
        return end + count

    @property
    def longest(self) -> int | None:
        return None

    def end(self, stream: str) -> int:
        with self._explained():
            return self._last(self._connection(), stream)[0]

    def read(
        self, stream: str, after: int, until: int | None = None, *, key: str | None = None
    ) -> Iterator[Entry]:
        if key is None:
            chunks = self.chunks(stream, after, until)
            return chain.from_iterable(chunk.entries() for chunk in chunks)
        last = self._until(stream, until)
        rows = streams.read_in_chunks(
            lambda behind: self._rows(stream, behind, last, key), after, last, sparse=True
        )
        return merge(rows, self._in_blocks(stream, after, last, key))

    def chunks(self, stream: str, after: int, until: int | None = None) -> Iterator[Chunk]:
        return self._chunks(stream, after, self._until(stream, until))

    def register(self, name: str) -> Register | None:
        with self._explained():
            found = self._connection().execute(
                "SELECT revision, content FROM registers WHERE name = ?", (name,)
            )
            row = found.fetchone()
        return None if row is None else Register(*row)

    def put(self, name: str, content: bytes, revision: int) -> int:
        with self._transaction() as connection:
            if revision == 0:
                changed = connection.execute(
                    "INSERT INTO registers VALUES (?, 1, ?) ON CONFLICT DO NOTHING", (name, content)
                )
            else:
                changed = connection.execute(
                    "UPDATE registers SET revision = revision + 1, content = ?"
                    " WHERE name = ? AND revision = ?",
                    (content, name, revision),
                )
            if changed.rowcount == 0:
                raise Moved(f"expected revision {revision} of {name}, found another one")
        return revision + 1

    def close(self) -> None:
        for process, thread in list(self._connections):
            if process == os.getpid():
                self._connections.pop((process, thread)).close()

    def _until(self, stream: str, until: int | None) -> int:
        end = self.end(stream)
        return end if until is None else min(until, end)

    def _chunks(self, stream: str, after: int, until: int) -> Iterator[Chunk]:
        """The entries of (after, until]."""
        while after < until:
            chunk = self._chunk(stream, after, until)
            yield chunk
            after = chunk.last

    def _chunk(self, stream: str, after: int, until: int) -> Chunk:
        """Some of them, the first one included."""
        with self._explained():
            connection = self._connection()
            first = self._first_in_blocks(connection, stream, after)
            if first == after + 1:
                chunk: Chunk = _blocks().chunk_from(connection, stream, first)
                return chunk.between(after, until)
        rows = self._rows(stream, after, until if first is None else min(first - 1, until))
        if not rows or rows[-1].offset != after + len(rows):
            raise streams.missing(after)
        return Chunk.of(rows)

    def _rows(self, stream: str, after: int, until: int, key: str | None = None) -> list[Entry]:
        """Some of the entries of (after, until] that are rows."""
        with self._explained():
            rows = self._connection().execute(
                f"SELECT offset, appended, content FROM {stream}_entries"
                f" WHERE offset > ?1 AND offset <= ?2 {'' if key is None else 'AND key = ?3'}"
                f" ORDER BY offset LIMIT {streams.MOST_ENTRIES}",
                (after, until) if key is None else (after, until, key),
            )
            chunk = [*streams.within_bytes((Entry(*row) for row in rows), streams.MOST_BYTES)]
            rows.close()  # an open statement would keep the -wal file from being emptied
        return chunk

    def _in_blocks(self, stream: str, after: int, until: int, key: str) -> Iterator[Entry]:
        """The entries of a key of (after, until] that are in blocks."""
        with self._explained():
            connection = self._connection()
            if after < until and self._first_in_blocks(connection, stream, after) is not None:
                yield from _blocks().find(self._connection, stream, after, until, key)

    def _first_in_blocks(
        self, connection: sqlite3.Connection, stream: str, after: int
    ) -> int | None:
        """The offset of the first entry behind an offset that is in a block."""
        found: tuple[int] | None = connection.execute(
            f"SELECT last - count + 1 FROM {stream}_blocks WHERE last > ? ORDER BY last LIMIT 1",
            (after,),
        ).fetchone()
        return None if found is None else max(found[0], after + 1)

    def _last(self, connection: sqlite3.Connection, stream: str) -> tuple[int, int]:
        """The offset of the last entry, and when it was taken."""
        found = [(0, 0)]
        if self._has(connection, stream):
            for table, offset in (("entries", "offset"), ("blocks", "last")):
                found += connection.execute(
                    f"SELECT {offset}, appended FROM {stream}_{table}"
                    f" ORDER BY {offset} DESC LIMIT 1"
                )
        return max(found)

    def _has(self, connection: sqlite3.Connection, stream: str) -> bool:
        if stream in self._streams:
            return True
        name = f"{streams.checked_stream(stream)}_blocks"
        found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone()
        # within a transaction it may be one that nobody else sees yet, and that is undone
        if found and not connection.in_transaction:
            self._streams.add(stream)
        return found is not None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._explained(), self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            # Extended codes carry their family in the lowest byte; errors of Python's module have
            # none.
            family = getattr(error, "sqlite_errorcode", 0) & 0xFF
            reason = REASONS.get(family, "SQLite failed")
            raise LogUnavailable(f"the log {self.path}: {reason}: {error}") from error

    def _connection(self) -> sqlite3.Connection:
        mine = os.getpid(), threading.get_ident()
        if mine not in self._connections:
            with self._explained():
                self._connections[mine] = self._opened()
        return self._connections[mine]

    def _opened(self) -> sqlite3.Connection:
        with suppress(OSError):  # SQLite says what is wrong
            # only a new file: to close one that is there would let go of SQLite's locks on it
            os.close(open_private(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
        connection = sqlite3.connect(
            self.path, timeout=self.patience, isolation_level=None, check_same_thread=False
        )
        # In this order: another process may be making the log, and makes both in one transaction.
        used = connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        if application != APPLICATION:
            if used:
                what = FOREIGN.get(application, "another program's database")
                raise LogUnavailable(f"the log {self.path}: it is {what}")
            self._write_ahead(connection)
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(CREATE_REGISTERS)
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
        for setting in SETTINGS:
            connection.execute(setting)
        return connection

    def _write_ahead(self, connection: sqlite3.Connection) -> None:
        """Alone among statements, the change of mode does not wait for others by itself."""
        deadline = time.monotonic() + self.patience
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)


def logs_in(folder: Path) -> list[str]:
    """The names of the files of a folder that are logs."""
    return sorted(file.name for file in folder.glob("*") if file.is_file() and _is_log(file))


def _is_log(file: Path) -> bool:
    """Without a change to whatever it is: its first page may still be in the -wal file."""
    try:
        with file.open("rb") as content:
            if content.read(16) != b"SQLite format 3\0":
                return False
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as found:
            return bool(found.execute("PRAGMA application_id").fetchone()[0] == APPLICATION)
    except (OSError, sqlite3.Error):
        return False


def _blocks() -> ModuleType:
    """Imported where there are any: a small log is used without numpy and Arrow."""
    from shortlist.log import sqlite_blocks

    return sqlite_blocks
