"""A stream of a log as a sink: tasks stage lines, and the driver appends a batch exactly once."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import BinaryType, StringType, StructType

from shortlist.live.files import Files
from shortlist.log.base import Log, Moved
from shortlist.log.opening import open_log
from shortlist.model.wording import shown

LINES = pa.schema([("line", pa.binary()), ("key", pa.string())])
SMALL = 2**16
"""Up to so many bytes a task sends to the driver itself rather than through a file."""
ATTEMPTS = 100
"""How often others may append in between before an append is given up."""
EMBEDDED = "sqlite:"
NAME = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Staged(WriterCommitMessage):
    """The lines of one partition, or the file that holds them."""

    partition: int
    query: str | None
    """Of a stream: a query keeps its id with its checkpoint."""
    lines: bytes | None
    file: str | None


@dataclass(frozen=True, slots=True)
class Intent:
    """What a register remembers of the batch that was begun last."""

    query: str | None
    number: int
    begin: int
    """Where the stream ended before it."""
    count: int
    digest: str


class AppendOnce:
    """Batches of one name in a stream: the register says what was begun, the stream what was done.

    A batch that is appended again is found behind its beginning by its content, as it was at the
    first attempt.
    """

    def __init__(self, log: Log, stream: str, register: str) -> None:
        self._log = log
        self._stream = stream
        self._register = register

    def __call__(
        self, query: str | None, number: int, contents: Sequence[bytes], keys: Sequence[str] | None
    ) -> None:
        known = self._log.register(self._register)
        revision = 0 if known is None else known.revision
        digest = _digest(contents)
        attempts = []
        if known is not None:
            last = Intent(**json.loads(known.content))
            self._check(last, query, number, digest)
            attempts = [last] if last.number == number else []
        for _ in range(ATTEMPTS):
            if any(map(self._was_appended, attempts)):
                return
            intent = Intent(query, number, self._log.end(self._stream), len(contents), digest)
            revision = self._log.put(self._register, json.dumps(asdict(intent)).encode(), revision)
            try:
                self._log.append(self._stream, contents, keys=keys, expected_end=intent.begin)
                return
            except Moved:
                attempts.append(intent)
        raise Moved(f"{self._stream}: others appended in between, {ATTEMPTS} times")

    def _check(self, last: Intent, query: str | None, number: int, digest: str) -> None:
        if query != last.query or number < last.number:
            raise ValueError(
                f"name: {self._register} was used up to batch {last.number} by a query with"
                " another checkpoint: a new checkpoint needs a new name"
            )
        if query is None and digest != last.digest:
            raise ValueError(f"name: {self._register} was used for other lines")

    def _was_appended(self, intent: Intent) -> bool:
        end = intent.begin + intent.count
        entries = self._log.read(self._stream, intent.begin, end)
        return _digest([entry.content for entry in entries]) == intent.digest


class LogWriter:
    """What the sinks of streams and of batches share."""

    def __init__(self, options: Mapping[str, str], schema: StructType, overwrite: bool) -> None:
        if overwrite:
            raise ValueError("expected the mode append: a log only grows")
        _check_columns(schema)
        self._keyed = "key" in schema.fieldNames()
        self._url = _required(options, "log", "a log such as sqlite:city.log")
        self._stream = _required(options, "stream", "a stream of the log such as input")
        self._name = options.get("name")
        if self._name is not None and NAME.fullmatch(self._name) is None:
            raise ValueError(f"name: expected letters and digits, found {shown(self._name)}")
        self._staging = _staging(options, self._url)
        self._job = uuid.uuid4().hex

    def stage(self, arriving: Iterable[pa.RecordBatch]) -> Staged:
        """What a task does with its partition."""
        written = pa.BufferOutputStream()
        with pa.ipc.new_stream(written, LINES) as stream:
            for batch in arriving:
                stream.write_batch(self._lines(batch))
        content = written.getvalue().to_pybytes()
        task = TaskContext.get()
        assert task is not None
        partition, query = task.partitionId(), task.getLocalProperty("sql.streaming.queryId")
        if len(content) <= SMALL:
            return Staged(partition, query, content, None)
        return Staged(partition, query, None, self._files(query).write("lines", content))

    def append(self, messages: Iterable[WriterCommitMessage | None], number: int) -> None:
        """What the driver does with all partitions, in their order."""
        staged = _in_order(messages)
        if not staged:
            return
        query = staged[0].query
        files = self._files(query)
        found = pa.concat_tables(
            pa.ipc.open_stream(files.read(one.file) if one.file else one.lines).read_all()
            for one in staged
        )
        contents = found["line"].to_pylist()
        keys = found["key"].to_pylist() if self._keyed else None
        if contents:
            with closing(open_log(self._url)) as log:
                if self._name is None and query is None:
                    log.append(self._stream, contents, keys=keys)
                else:
                    AppendOnce(log, self._stream, self._identity(query))(
                        query, number, contents, keys
                    )
        self.forget(messages)

    def forget(self, messages: Iterable[WriterCommitMessage | None]) -> None:
        """Removes what was staged, also by attempts that failed."""
        for folder in {self._files(one.query) for one in _in_order(messages)}:
            if folder.folder.exists():
                folder.collect(needed=(), retention=0)

    def _identity(self, query: str | None) -> str:
        return f"sink/{self._stream}/{self._name or query or self._job}"

    def _files(self, query: str | None) -> Files:
        return Files(self._staging / self._identity(query))

    def _lines(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        lines = batch["line"].cast(pa.binary())
        keys = batch["key"] if self._keyed else pa.nulls(len(batch), pa.string())
        if lines.null_count or (self._keyed and keys.null_count):
            raise ValueError(
                "expected a line, and a key if there are any, in every row, found null"
            )
        return pa.RecordBatch.from_arrays([lines, keys], schema=LINES)


class LogStreamWriter(DataSourceStreamArrowWriter):
    """Micro-batches, each appended once, however often Spark commits it."""

    def __init__(self, writer: LogWriter) -> None:
        self._writer = writer

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        return self._writer.stage(iterator)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        self._writer.append(messages, batchId)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        self._writer.forget(messages)


class LogBatchWriter(DataSourceArrowWriter):
    """A finite frame; with a `name` it is appended once, however often it is saved."""

    def __init__(self, writer: LogWriter) -> None:
        self._writer = writer

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        return self._writer.stage(iterator)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        self._writer.append(messages, 0)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        self._writer.forget(messages)


def _digest(contents: Iterable[bytes]) -> str:
    digest = sha256()
    for content in contents:
        digest.update(len(content).to_bytes(8))
        digest.update(content)
    return digest.hexdigest()


def _in_order(messages: Iterable[WriterCommitMessage | None]) -> list[Staged]:
    staged = [message for message in messages if isinstance(message, Staged)]
    return sorted(staged, key=lambda message: message.partition)


def _required(options: Mapping[str, str], name: str, expected: str) -> str:
    if name not in options:
        raise ValueError(f"{name}: expected {expected}, found none")
    return options[name]


def _staging(options: Mapping[str, str], url: str) -> Path:
    if "staging" in options:
        return Path(options["staging"])
    if url.startswith(EMBEDDED):
        return Path(f"{url.removeprefix(EMBEDDED)}.staging")
    raise ValueError("staging: expected a folder that driver and executors share, found none")


def _check_columns(schema: StructType) -> None:
    types = {field.name: type(field.dataType) for field in schema.fields}
    is_line = types.get("line") in (StringType, BinaryType)
    is_key = types.get("key", StringType) is StringType
    if not (is_line and is_key and types.keys() <= {"line", "key"}):
        raise ValueError(
            "expected the columns line (string or binary) and, if you like, key (string),"
            f" found {schema.simpleString()}"
        )
