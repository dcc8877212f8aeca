"""The streaming query: input that goes on, as micro-batches of lines for a driver."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import LongType, StructType

from shortlist.intake.input_files import NoInput, input_files, is_table
from shortlist.intake.reading import rejects_of, with_wanted
from shortlist.intake.tables import check_tables
from shortlist.live.driver import Driver, Report
from shortlist.live.log_stream import MOST_BYTES, MOST_LINES, STOP_SECONDS, StillBusy
from shortlist.live.manifest import Manifest
from shortlist.live.tasks import Laps
from shortlist.log.base import INPUT
from shortlist.model.counts import REJECTED, labelled
from shortlist.model.items import Items
from shortlist.spark.micro_batches import MicroBatches
from shortlist.spark.sources import TIME_FORMATS, Lines, json_row, literal_glob, quoted

LOGGER = logging.getLogger("shortlist.streaming")

LINE_COLUMNS = ("position", "line", "appended")
PUBLICATION_COLUMNS = ("id", "source", "time")
INTEGERS = ("tinyint", "smallint", "int", "bigint")


def stream_log(
    spark: SparkSession,
    log: str,
    *,
    after: int = 0,
    at_most: int | None = None,
    most_bytes: int = MOST_BYTES,
) -> Lines:
    """The input of a log, behind an offset; `at_most` and `most_bytes` bound a micro-batch."""
    from shortlist.spark.log_format import LogFormat

    spark.dataSource.register(LogFormat)
    reader = spark.readStream.format(LogFormat.name())
    reader = reader.options(log=_wherever(log), stream=INPUT, after=after, most_bytes=most_bytes)
    return Lines(reader.options(**_admission(spark, at_most)).load(), tabular=False)


def stream_files(
    spark: SparkSession, path: str | Path, *, finite: bool = False, at_most: int | None = None
) -> Lines:
    """A file or folder that grows; `finite` files have the positions that a batch gives them."""
    from shortlist.spark.file_source import FileFormat

    spark.dataSource.register(FileFormat)
    place = Path(path).resolve()
    reader = spark.readStream.format(FileFormat.name()).options(path=str(place), finite=finite)
    reader = reader.options(**_admission(spark, at_most))
    tables = _tables(place)
    if not tables:
        return Lines(reader.load(), tabular=False)
    rows = reader.schema(_positioned_rows(spark, tables)).load()
    line = F.to_json("row", TIME_FORMATS).cast("binary").alias("line")
    return Lines(rows.select("position", line), tabular=True)


def stream_lines(frame: DataFrame, arrival: str | None = None, *, is_timed: bool = True) -> Lines:
    """Any streaming DataFrame: lines, or a table of publications.

    Without a column `position`, the items of a micro-batch are numbered in order of time. The
    column `arrival` says when each item arrived, as a timestamp or in microseconds; of lines it is
    `appended`, if there is one. Unless they are `is_timed`, publications need not say a time
    themselves.
    """
    kinds = dict(frame.dtypes)
    positions = [F.col("position").cast("bigint")] if "position" in kinds else []
    if positions and kinds["position"] not in INTEGERS:
        raise NoInput(f"position: expected an integer type, found {kinds['position']}")
    needed = PUBLICATION_COLUMNS if is_timed else PUBLICATION_COLUMNS[:2]
    if arrival is None and "appended" in frame.columns and "line" in frame.columns:
        arrival = "appended"
    arrivals = [] if arrival is None else [_arrivals(frame, arrival)]
    if "line" in frame.columns and set(frame.columns) <= {*LINE_COLUMNS, arrival}:
        if kinds["line"] not in ("string", "binary"):
            raise NoInput(f"line: expected text or bytes, found {kinds['line']}")
        line = F.col("line").cast("binary").alias("line")
        return Lines(frame.select(*positions, line, *arrivals), tabular=False)
    if set(needed) <= set(frame.columns):
        columns = [name for name in frame.columns if name not in ("position", arrival)]
        line = json_row(columns).cast("binary").alias("line")
        return Lines(frame.select(*positions, line, *arrivals), tabular=True)
    raise NoInput(
        "expected a column line and, if you like, position and appended; or publications with"
        f" {', '.join(needed[:-1])} and {needed[-1]}; found {', '.join(frame.columns)}"
    )


def _arrivals(frame: DataFrame, name: str) -> Column:
    """Return the column that says when items arrived, in microseconds."""
    kind = dict(frame.dtypes).get(name)
    if kind not in ("timestamp", "bigint"):
        found = f"none in {', '.join(frame.columns)}" if kind is None else kind
        raise NoInput(f"{name}: expected a column of timestamps or microseconds, found {found}")
    column = F.col(quoted(name))
    return (F.unix_micros(column) if kind == "timestamp" else column).alias("appended")


def _wherever(log: str) -> str:
    """The same log for processes that run in another folder."""
    kind, _, path = log.partition(":")
    return f"{kind}:{Path(path).resolve()}" if kind == "sqlite" else log


def _admission(spark: SparkSession, at_most: int | None) -> dict[str, int]:
    limit = {} if at_most is None else {"at_most": at_most}
    return {"partitions": spark.sparkContext.defaultParallelism, **limit}


def _tables(path: Path) -> list[Path]:
    """The Parquet files of an input; none if it has lines, or nothing yet."""
    if path.is_dir() and all(entry.name.startswith((".", "_")) for entry in path.iterdir()):
        return []
    files = input_files(path)
    return files if is_table(files[0]) else []


def _positioned_rows(spark: SparkSession, tables: list[Path]) -> StructType:
    """What the rows of tables look like to Spark, behind their positions."""
    check_tables(tables)
    names = [literal_glob(str(file)) for file in tables]
    row = spark.read.option("mergeSchema", "true").parquet(*names).schema
    return StructType().add("position", LongType()).add("row", row)


POLL = "100 milliseconds"
"""How often a source is asked for more."""
STOP_TIMEOUT = "spark.sql.streaming.stopTimeout"
"""How long Spark waits for a query that is stopped; by itself for ever."""
STOPPED = "the stream was stopped before the end of this batch"


class Stopped(Exception):
    """Tells Spark not to take a batch for done."""

    def __init__(self) -> None:
        super().__init__(STOPPED)


class Stream:
    """Lines on their way to a driver, through one streaming query; it keeps what is `held` open
    until it is stopped."""

    def __init__(
        self,
        lines: Lines,
        driver: Driver,
        checkpoint: Path,
        *,
        commands: bool = True,
        held: ExitStack | None = None,
        most_lines: int = MOST_LINES,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._lines = lines
        self._held = held or ExitStack()
        self._driver = driver
        self._commands = commands
        self._checkpoint = checkpoint
        self._is_positioned = "position" in lines.frame.columns
        self._micro_batches = MicroBatches(
            files=driver.files,
            is_positioned=self._is_positioned,
            is_tabular=lines.tabular,
            most_lines=most_lines,
            most_bytes=most_bytes,
        )
        self._identity = ""
        self._busy = threading.Lock()
        self._query: StreamingQuery | None = None
        self._failure: Exception | None = None
        self._is_stopping = False

    def start(self, *, to_the_end: bool = False) -> StreamingQuery:
        """Begins where the checkpoint says; `to_the_end` takes what is there now and stops."""
        writer = self._lines.frame.writeStream.foreachBatch(self._batch)
        writer = writer.option("checkpointLocation", str(self._checkpoint))
        self._identity = identity_of(self._checkpoint)
        session = self._lines.frame.sparkSession
        if session.conf.get(STOP_TIMEOUT, "0") == "0":
            session.conf.set(STOP_TIMEOUT, f"{STOP_SECONDS:g}s")
        trigger = {"availableNow": True} if to_the_end else {"processingTime": POLL}
        self._query = writer.trigger(**trigger).start()
        return self._query

    def run_to_the_end(self) -> None:
        """Takes what is there now, and returns when all of it is done."""
        query = self.start(to_the_end=True)
        try:
            query.awaitTermination()
        finally:
            query.stop()

    def process_all_available(self) -> None:
        """Waits until what the source has now is done."""
        if self._query is not None:
            self._query.processAllAvailable()

    @property
    def is_active(self) -> bool:
        return self._query is not None and self._query.isActive

    @property
    def manifest(self) -> Manifest:
        """What was committed last."""
        return self._driver.manifest

    @property
    def rejects(self) -> dict[str, int]:
        """The number of rows that were rejected since the state began, by reason.

        The output has each of them, with what was wrong in words.
        """
        return dict(labelled(self._driver.manifest.counts, REJECTED))

    def stop(self) -> None:
        """Stop when the batch that is under way has come to its end.

        Of a micro-batch that is cut into several pieces, the rest is kept for the next start. Raise
        what went wrong, if anything did, and `StillBusy` where the end takes too long.
        """
        with self._held:
            self._stop()

    def finish(self) -> None:
        """Stop, since the input has ended: time runs on, and windows empty."""
        with self._held:
            self._stop()
            self._take_pieces(self._driver.manifest.pending, None, to_the_end=True)
            self._driver.run_batch(Items.empty(), last=True)

    def _stop(self) -> None:
        self._is_stopping = True
        if not self._busy.acquire(timeout=STOP_SECONDS):
            raise StillBusy(f"batch {self._driver.manifest.number + 1:,}", STOP_SECONDS)
        self._busy.release()
        if self._query is not None:
            self._query.stop()
        if self._failure is not None:
            raise self._failure
        error = self._query and self._query.exception()
        if error and STOPPED not in str(error):
            raise error

    def _positioned(self, frame: DataFrame, known: int | None) -> DataFrame:
        """Return the lines of a batch, with their positions, if they have any.

        Where a position is `known`, only those behind it are returned.
        """
        if self._is_positioned:
            position = F.col("position") + F.lit(self._driver.manifest.base)
            if known is not None:
                frame = frame.where(position.isNull() | (position > known))
        else:
            position = F.lit(0)  # they are numbered once they are in order
        appended = F.col("appended") if "appended" in frame.columns else F.lit(None)
        return frame.select(
            position.cast("bigint").alias("position"),
            F.col("line").cast("binary").alias("line"),
            appended.cast("bigint").alias("appended"),
        )

    def _batch(self, frame: DataFrame, number: int) -> None:
        with self._busy:
            if self._is_stopping:
                raise Stopped
            try:
                self._run_batch(frame, number)
            except Stopped:
                raise
            except Exception as failure:
                # Spark wraps it in texts
                self._failure = failure
                raise

    def _run_batch(self, frame: DataFrame, number: int) -> None:
        self._take_pieces(self._driver.manifest.pending, None)
        manifest = self._driver.manifest
        goes_on = manifest.checkpoint == self._identity
        if goes_on and number <= manifest.batch:
            return
        laps = Laps()
        read = self._driver.read_task(commands=self._commands, tabular=self._lines.tabular)
        # a query that does not go on where another one was may begin with what is known
        lines = self._positioned(frame, None if goes_on else manifest.position)
        found = self._micro_batches.read(lines, read)
        if isinstance(found, Items):
            self._take(found, number, (), laps)
        else:
            self._take_pieces(found, number, laps)

    def _take_pieces(
        self,
        names: Sequence[str],
        number: int | None,
        laps: Laps | None = None,
        *,
        to_the_end: bool = False,
    ) -> None:
        """Carry out a batch, or what is left of one, a piece at a time.

        With the first piece the manifest names those behind it, so that a batch that was begun is
        carried out as it was cut then, whatever Spark would bring for its number the next time.
        A stream that is stopped leaves the rest of them, unless asked `to_the_end`.
        """
        for at, name in enumerate(names):
            if at and self._is_stopping and not to_the_end:
                raise Stopped
            # commands of the pieces before it may ask for more than was read
            wanted = self._driver.read_task().wanted
            items = with_wanted(self._micro_batches.piece(name), wanted)
            self._take(items, number, names[at + 1 :], laps)
            self._micro_batches.remove(name)
            laps = None

    def _take(
        self, items: Items, number: int | None, pending: Sequence[str], laps: Laps | None
    ) -> None:
        laps = laps or Laps()
        numbered = self._numbered(items)
        laps.lap("reading")
        checkpoint = None if number is None else self._identity
        report = self._driver.run_batch(
            numbered, checkpoint=checkpoint, batch=number, pending=pending, laps=laps
        )
        _log_rejects(report, len(items))

    def _numbered(self, items: Items) -> Items:
        """Return items with their positions; where the source has none, the next ones in order.

        An item whose position is not behind all earlier ones becomes a reject, whether it comes in
        the same piece or later: so that the cut into pieces does not matter.
        """
        known = self._driver.manifest.position
        if not self._is_positioned:
            first = known + 1
            return items.with_columns(position=pa.array(range(first, first + len(items))))
        has_position = np.asarray(items.batch.column("position").is_valid())
        before = np.maximum.accumulate(np.append(known, items.positions))[:-1]
        is_new = (items.positions > before) | ~has_position
        if is_new.all():
            return items
        late = items.kept(~is_new)
        positions = late.values("position")
        reasons = [
            f"position: expected more than {largest}, found {at}"
            for largest, at in zip(before[~is_new].tolist(), positions, strict=True)
        ]
        refused = rejects_of(positions, late.values("line"), reasons, items.told)
        return Items.joined([items.kept(is_new), refused])


def _log_rejects(report: Report, rows: int) -> None:
    """Log how many rows of a batch were rejected, and why: a warning if they are most of them."""
    refused = report.refusals.num_rows
    if not refused:
        return
    by_reason = ", ".join(f"{count:,} {why}" for why, count in labelled(report.counts, REJECTED))
    first = report.refusals.slice(0, 1).to_pylist()[0]
    LOGGER.log(
        logging.WARNING if refused > rows - refused else logging.INFO,
        "batch %d: %s of %s rows were rejected: %s; the first one: %s",
        report.number,
        f"{refused:,}",
        f"{rows:,}",
        by_reason,
        first["reason"],
    )


def identity_of(checkpoint: Path) -> str:
    """Tells a checkpoint from every other one, also from a later one in the same folder."""
    file = checkpoint / "shortlist-identity"
    if not file.exists():
        checkpoint.mkdir(parents=True, exist_ok=True)
        file.write_text(uuid.uuid4().hex)
    return file.read_text()
