"""The format `shortlist_log`: a stream of a log as source and sink of streams and batches."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import BinaryType, StringType, StructType

from shortlist.engine.arrow import batches
from shortlist.live.files import Files
from shortlist.live.tables import of_bytes, to_bytes
from shortlist.log.base import INPUT, Log, LogUnavailable
from shortlist.log.opening import open_log
from shortlist.log.streams import within_bytes
from shortlist.model.wording import shown
from shortlist.spark.append_once import LINES, AppendOnce, append
from shortlist.spark.read_limits import default_limit, most_rows, shares, whole_number

ENTRIES = pa.schema([("position", pa.int64()), ("appended", pa.int64()), ("line", pa.binary())])
ENTRIES_DDL = "position bigint, appended bigint, line binary"
LEAST_ENTRIES = 2000
"""Fewer are not worth a task of their own."""


class LogStream:
    """One stream of a log, as options name it; tasks open the log by themselves."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.url = _required(options, "log", "a log such as sqlite:city.log")
        self.stream = options.get("stream", INPUT)
        self.after = whole_number(options, "after", 0) or 0
        self._most = whole_number(options, "partitions", 1) or 1

    def opened(self) -> closing[Log]:
        return closing(open_log(self.url))

    def cut(self, after: int, until: int) -> list[InputPartition]:
        """A range of offsets, as pieces that are worth a task each."""
        starts = range(after, until, LEAST_ENTRIES)
        pieces = shares(starts, self._most)
        ends = [*(piece[0] for piece in pieces[1:]), until]
        return [InputPartition((piece[0], end)) for piece, end in zip(pieces, ends, strict=False)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        after, until = partition.value
        with self.opened() as log:
            yield from batches(log.read(self.stream, after, until), ENTRIES)
            end = log.end(self.stream)
        if end < until:
            raise LogUnavailable(self.ends_early(end, until))

    def ends_early(self, end: int, expected: int) -> str:
        return (
            f"the log lost entries, or is another one: {self.stream} was known up to {expected},"
            f" and ends at {end}"
        )


class LogReader(LogStream, DataSourceReader):
    """What a stream of a log holds when the plan is made."""

    def partitions(self) -> Sequence[InputPartition]:
        with self.opened() as log:
            end = log.end(self.stream)
        # Spark makes a partition of nothing out of an empty list.
        return self.cut(self.after, end) or [InputPartition((self.after, self.after))]


class LogStreamReader(LogStream, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Micro-batches are ranges of offsets: one that is read again is the same."""

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self._limit = default_limit(options)
        self._most_bytes = whole_number(options, "most_bytes", 1)
        self._last: int | None = None

    @cached_property
    def _log(self) -> Log:
        """Kept open by the process that plans; tasks have logs of their own."""
        return open_log(self.url)

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"offset": self.after}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return self._limit

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._last = self._log.end(self.stream)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        after = start["offset"]
        end = self._log.end(self.stream) if self._last is None else self._last
        if end < after and after > self.after:
            raise LogUnavailable(self.ends_early(end, after))
        most = most_rows(limit)
        last = max(after, end if most is None else min(end, after + most))
        return {"offset": self._within_bytes(after, last)}

    def _within_bytes(self, after: int, last: int) -> int:
        """The end of a batch that has no more bytes than it may, but for its last entry."""
        if self._most_bytes is None or last - after < 2:
            return last
        entries = self._log.read(self.stream, after, last)
        return max(entry.offset for entry in within_bytes(entries, self._most_bytes))

    def reportLatestOffset(self) -> dict[str, int]:  # noqa: N802
        return {"offset": self._log.end(self.stream)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        return self.cut(start["offset"], end["offset"])

    def stop(self) -> None:
        if "_log" in self.__dict__:
            self._log.close()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_log"}


SMALL = 2**16
"""Up to so many bytes a task sends to the driver itself rather than through a file."""
EMBEDDED = "sqlite:"
Messages = list[WriterCommitMessage | None]
NAME = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Staged(WriterCommitMessage):
    """The lines of one partition, or the file that holds them."""

    partition: int
    query: str | None
    """Of a stream: a query keeps its id with its checkpoint."""
    lines: bytes = b""
    file: str | None = None


class LogWriter(DataSourceStreamArrowWriter, DataSourceArrowWriter):
    """Micro-batches, each appended once, however often Spark commits it; or a finite frame, which
    with a `name` is appended once, however often it is saved."""

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

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Staged:
        """What a task does with its partition."""
        lines = to_bytes(pa.Table.from_batches(map(self._lines, iterator), LINES))
        task = TaskContext.get()
        assert task is not None
        partition, query = task.partitionId(), task.getLocalProperty("sql.streaming.queryId")
        if len(lines) <= SMALL:
            return Staged(partition, query, lines=lines)
        return Staged(partition, query, file=self._files(query).write("lines", lines))

    def commit(self, messages: Messages, batchId: int = 0) -> None:  # noqa: N803
        """What the driver does with all partitions, in their order."""
        staged = _in_order(messages)
        if not staged:
            return
        query = staged[0].query
        files = self._files(query)
        lines = pa.concat_tables(
            of_bytes(files.read(one.file) if one.file else one.lines) for one in staged
        )
        if len(lines):
            with closing(open_log(self._url)) as log:
                self._append(log, query, batchId, lines)
        # Here is also what attempts left behind that failed.
        rmtree(files.folder, ignore_errors=True)

    def abort(self, messages: Messages, batchId: int = 0) -> None:  # noqa: N803
        """Removes what tasks staged; what an append has begun stays, to be ended later."""
        for one in _in_order(messages):
            if one.file is not None:
                self._files(one.query).path(one.file).unlink(missing_ok=True)

    def _append(self, log: Log, query: str | None, number: int, lines: pa.Table) -> None:
        if self._name is None and query is None:
            append(log, self._stream, lines)
        else:
            once = AppendOnce(log, self._stream, self._identity(query), self._files(query))
            once(query, number, lines)

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


def _in_order(messages: Messages) -> list[Staged]:
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


class LogFormat(DataSource):
    """Options: see docs/sources.md."""

    @classmethod
    def name(cls) -> str:
        return "shortlist_log"

    def schema(self) -> str:
        return ENTRIES_DDL

    def reader(self, schema: StructType) -> DataSourceReader:
        return LogReader(self.options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        return LogStreamReader(self.options)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        return LogWriter(self.options, schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802
        return LogWriter(self.options, schema, overwrite)
