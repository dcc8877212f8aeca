"""A stream of a log as a source: its entries from an offset on, or those that it has now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow

from shortlist.engine.arrow import batches
from shortlist.log.base import INPUT, Log, LogUnavailable
from shortlist.log.opening import open_log
from shortlist.spark.read_limits import default_limit, most_rows, shares, whole_number

ENTRIES = pa.schema([("position", pa.int64()), ("appended", pa.int64()), ("line", pa.binary())])
ENTRIES_DDL = "position bigint, appended bigint, line binary"
LEAST_ENTRIES = 2000
"""Fewer are not worth a task of their own."""


class LogStream:
    """One stream of a log, as options name it; tasks open the log by themselves."""

    def __init__(self, options: Mapping[str, str]) -> None:
        if "log" not in options:
            raise ValueError("log: expected a log such as sqlite:city.log, found none")
        self.url = options["log"]
        self.stream = options.get("stream", INPUT)
        self.after = whole_number(options, "after", 0) or 0
        self.partitions = whole_number(options, "partitions", 1) or 1

    def opened(self) -> closing[Log]:
        return closing(open_log(self.url))

    def cut(self, after: int, until: int) -> list[InputPartition]:
        """A range of offsets, as pieces that are worth a task each."""
        starts = range(after, until, LEAST_ENTRIES)
        pieces = shares(starts, self.partitions)
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


class LogReader(DataSourceReader):
    """What a stream of a log holds when the plan is made."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._source = LogStream(options)

    def partitions(self) -> Sequence[InputPartition]:
        with self._source.opened() as log:
            end = log.end(self._source.stream)
        after = self._source.after
        # Spark makes a partition of nothing out of an empty list.
        return self._source.cut(after, end) or [InputPartition((after, after))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._source.read(partition)


class LogStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Micro-batches are ranges of offsets: one that is read again is the same."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._source = LogStream(options)
        self._limit = default_limit(options)
        self._last: int | None = None

    @cached_property
    def _log(self) -> Log:
        """Kept open by the process that plans; tasks have logs of their own."""
        return open_log(self._source.url)

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"offset": self._source.after}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return self._limit

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._last = self._end()

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        after = start["offset"]
        end = self._end() if self._last is None else self._last
        if end < after and after > self._source.after:
            raise LogUnavailable(self._source.ends_early(end, after))
        most = most_rows(limit)
        return {"offset": max(after, end if most is None else min(end, after + most))}

    def reportLatestOffset(self) -> dict[str, int]:  # noqa: N802
        return {"offset": self._end()}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        return self._source.cut(start["offset"], end["offset"])

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._source.read(partition)

    def stop(self) -> None:
        if "_log" in self.__dict__:
            self._log.close()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_log"}

    def _end(self) -> int:
        return self._log.end(self._source.stream)
