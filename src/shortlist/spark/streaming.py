"""The streaming query: micro-batches of lines, each handed to the driver of a deployment."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from shortlist.engine.arrow import Row, batches, rows
from shortlist.live.driver import Driver, Report
from shortlist.live.laps import Laps
from shortlist.spark.ingest import ReadLines
from shortlist.spark.schemas import ITEMS, ddl
from shortlist.spark.sources import Lines

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

STREAMED = pa.schema([*ITEMS, ("appended", pa.int64())])
"""Lines, read, and when the log took them, in microseconds."""
POLL = "100 milliseconds"
"""How often a source is asked for more."""

Told = Callable[[Report, dict[int, int]], None]
"""Hears of every batch, with the time at which the log took each position."""


@dataclass(frozen=True, slots=True)
class ReadStreamed:
    """The task that reads lines which have a third column, `appended`."""

    read: ReadLines

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches(self._read(rows(arriving)), STREAMED)

    def _read(self, arriving: Iterable[Row]) -> Iterator[Row]:
        read = self.read.reader()
        for position, line, appended in arriving:
            # a blank line has a position, too
            found = read(position, line) or (position, "blank", *[None] * (len(ITEMS) - 2))
            yield *found, appended


class Stream:
    """Lines on their way to a driver, through one streaming query."""

    def __init__(
        self,
        lines: Lines,
        driver: Driver,
        read: ReadLines,
        checkpoint: Path,
        told: Told = lambda report, appended: None,
    ) -> None:
        self._lines = lines
        self._driver = driver
        self._task = ReadStreamed(read)
        self._checkpoint = checkpoint
        self._told = told
        self._is_positioned = "position" in lines.frame.columns
        self._identity = ""
        self._busy = threading.Lock()
        self._query: StreamingQuery | None = None
        self._failure: Exception | None = None

    def start(self, *, to_the_end: bool = False) -> StreamingQuery:
        """Begins where the checkpoint says; `to_the_end` takes what is there now and stops."""
        writer = self._lines.frame.writeStream.foreachBatch(self._batch)
        writer = writer.option("checkpointLocation", str(self._checkpoint))
        self._identity = identity_of(self._checkpoint)
        trigger = {"availableNow": True} if to_the_end else {"processingTime": POLL}
        self._query = writer.trigger(**trigger).start()
        return self._query

    def run_to_the_end(self) -> None:
        """Takes what is there now, and returns when all of it is done."""
        with self:
            self.start(to_the_end=True).awaitTermination()

    def process_all_available(self) -> None:
        """Waits until what the source has now is done."""
        if self._query is not None:
            self._query.processAllAvailable()

    @property
    def is_active(self) -> bool:
        return self._query is not None and self._query.isActive

    def finish(self) -> None:
        """Lets the batch that is under way come to its end; raises what went wrong, if it did."""
        with self._busy:
            if self._query is not None:
                self._query.stop()
        if self._failure is not None:
            raise self._failure
        error = self._query and self._query.exception()
        if error:
            raise error

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        if self._query is not None:
            self._query.stop()

    def _positioned(self, frame: DataFrame) -> DataFrame:
        """The lines of a batch, with a number each that at least tells their order."""
        from pyspark.sql import functions as F  # noqa: N812

        position = F.monotonically_increasing_id()
        if self._is_positioned:
            position = F.col("position") + F.lit(self._driver.manifest.base)
        appended = F.col("appended") if "appended" in frame.columns else F.lit(None)
        return frame.select(
            position.cast("bigint").alias("position"),
            F.col("line").cast("binary").alias("line"),
            appended.cast("bigint").alias("appended"),
        )

    def _batch(self, frame: DataFrame, number: int) -> None:
        try:
            self._run_batch(frame, number)
        except Exception as failure:
            # Spark wraps it in texts
            self._failure = failure
            raise

    def _run_batch(self, frame: DataFrame, number: int) -> None:
        with self._busy:
            manifest = self._driver.manifest
            goes_on = manifest.checkpoint == self._identity
            if goes_on and number <= manifest.batch:
                return
            laps = Laps()
            lines = self._positioned(frame)
            read = lines.mapInArrow(self._task, ddl(STREAMED)).toArrow().sort_by("position")
            found = self._unread([*rows(read.to_batches())], goes_on)
            laps.lap("reading")
            report = self._driver.run_batch(
                (row[:-1] for row in found), checkpoint=self._identity, batch=number, laps=laps
            )
            self._told(report, {row[0]: row[-1] for row in found if row[-1] is not None})

    def _unread(self, found: list[Row], goes_on: bool) -> list[Row]:
        """What the driver has not read; positions in the order of arrival where the source has
        none. A query that does not go on where another one was may begin with what is known."""
        known = self._driver.manifest.position
        if not self._is_positioned:
            return [(position, *row[1:]) for position, row in enumerate(found, start=known + 1)]
        if not goes_on:
            return [row for row in found if row[0] is None or row[0] > known]
        return [
            row if row[0] is None or row[0] > known else _misplaced(row, known) for row in found
        ]


def identity_of(checkpoint: Path) -> str:
    """Tells a checkpoint from every other one, also from a later one in the same folder."""
    file = checkpoint / "shortlist-identity"
    if not file.exists():
        checkpoint.mkdir(parents=True, exist_ok=True)
        file.write_text(uuid.uuid4().hex)
    return file.read_text()


def _misplaced(row: Row, known: int) -> Row:
    """A line whose position comes too late, as a reject."""
    position, *_, line, _, appended = row
    reason = f"position: expected more than {known}, found {position}"
    return position, "reject", None, None, None, None, line or "", reason, appended
