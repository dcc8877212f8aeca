"""The streaming query: input that goes on, as micro-batches of lines for a driver."""

from __future__ import annotations

import threading
import uuid
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import LongType, StructType

from shortlist.intake.input_files import NoInput, input_files, is_table
from shortlist.intake.reading import rejects_of
from shortlist.intake.tables import check_tables
from shortlist.live.driver import Driver
from shortlist.live.log_stream import MOST_BYTES, STOP_SECONDS, StillBusy
from shortlist.live.manifest import Manifest
from shortlist.live.tasks import Laps
from shortlist.log.base import INPUT
from shortlist.model.items import Items
from shortlist.spark.sources import TIME_FORMATS, Lines, json_row, literal_glob, quoted

LINE_COLUMNS = ("position", "line", "appended")
PUBLICATION_COLUMNS = ("id", "source", "time")


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

    Without a column `position`, items are numbered when they arrive. The column `arrival` says when
    each item did, as a timestamp or in microseconds; of lines it is `appended`, if there is one.
    Unless they are `is_timed`, publications need not say a time themselves.
    """
    positions = [F.col("position").cast("bigint")] if "position" in frame.columns else []
    needed = PUBLICATION_COLUMNS if is_timed else PUBLICATION_COLUMNS[:2]
    if arrival is None and "appended" in frame.columns and "line" in frame.columns:
        arrival = "appended"
    arrivals = [] if arrival is None else [_arrivals(frame, arrival)]
    if "line" in frame.columns and set(frame.columns) <= {*LINE_COLUMNS, arrival}:
        if dict(frame.dtypes)["line"] not in ("string", "binary"):
            raise NoInput(f"line: expected text or bytes, found {dict(frame.dtypes)['line']}")
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
    """The column that says when items arrived, in microseconds."""
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
STOPPED = "the stream was stopped before this batch"


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
    ) -> None:
        self._lines = lines
        self._held = held or ExitStack()
        self._driver = driver
        self._commands = commands
        self._checkpoint = checkpoint
        self._is_positioned = "position" in lines.frame.columns
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

    def stop(self) -> None:
        """Lets the batch that is under way come to its end; raises what went wrong, if it did, and
        `StillBusy` where that takes too long."""
        with self._held:
            self._stop()

    def finish(self) -> None:
        """The input has ended: time runs on, and windows empty. Then it stops."""
        with self._held:
            self._stop()
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

    def _positioned(self, frame: DataFrame) -> DataFrame:
        """The lines of a batch, with a number each that at least tells their order."""
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
        with self._busy:
            if self._is_stopping:
                raise InterruptedError(STOPPED)  # Spark must not take the batch for done
            try:
                self._run_batch(frame, number)
            except Exception as failure:
                # Spark wraps it in texts
                self._failure = failure
                raise

    def _run_batch(self, frame: DataFrame, number: int) -> None:
        manifest = self._driver.manifest
        goes_on = manifest.checkpoint == self._identity
        if goes_on and number <= manifest.batch:
            return
        laps = Laps()
        read = self._driver.read_task(commands=self._commands, tabular=self._lines.tabular)
        schema = from_arrow_schema(read.wanted.schema)
        items = self._positioned(frame).mapInArrow(read, schema).toArrow()
        found = self._unread(Items.of_table(items.sort_by("position")), goes_on)
        laps.lap("reading")
        self._driver.run_batch(found, checkpoint=self._identity, batch=number, laps=laps)

    def _unread(self, items: Items, goes_on: bool) -> Items:
        """What the driver has not read; positions in the order of arrival where the source has
        none. A query that does not go on where another one was may begin with what is known."""
        known = self._driver.manifest.position
        if not self._is_positioned:
            first = known + 1
            return items.with_columns(position=pa.array(range(first, first + len(items))))
        is_new = (items.positions > known) | np.asarray(items.batch.column("position").is_null())
        if is_new.all():
            return items
        if not goes_on:
            return items.kept(is_new)
        late = items.kept(~is_new)
        positions = late.values("position")
        reasons = [f"position: expected more than {known}, found {at}" for at in positions]
        refused = rejects_of(positions, late.values("line"), reasons, items.told)
        return Items.joined([items.kept(is_new), refused])


def identity_of(checkpoint: Path) -> str:
    """Tells a checkpoint from every other one, also from a later one in the same folder."""
    file = checkpoint / "shortlist-identity"
    if not file.exists():
        checkpoint.mkdir(parents=True, exist_ok=True)
        file.write_text(uuid.uuid4().hex)
    return file.read_text()
