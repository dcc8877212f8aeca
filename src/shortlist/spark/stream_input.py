"""Input that goes on: a log, growing files, or any streaming DataFrame, as lines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shortlist.intake.tables import check_tables
from shortlist.log.base import INPUT
from shortlist.spark.sources import (
    TIME_FORMATS,
    Lines,
    NoInput,
    input_files,
    is_table,
    json_row,
    literal_glob,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

LINE_COLUMNS = ("position", "line", "appended")
PUBLICATION_COLUMNS = ("id", "source", "time")


def stream_log(
    spark: SparkSession, log: str, *, after: int = 0, at_most: int | None = None
) -> Lines:
    """The input of a log, behind an offset; `at_most` bounds a micro-batch."""
    from shortlist.spark.log_format import LogFormat

    spark.dataSource.register(LogFormat)
    reader = spark.readStream.format(LogFormat.name())
    reader = reader.options(log=_wherever(log), stream=INPUT, after=after)
    return Lines(reader.options(**_admission(spark, at_most)).load(), tabular=False)


def stream_files(
    spark: SparkSession, path: str | Path, *, finite: bool = False, at_most: int | None = None
) -> Lines:
    """A file or folder that grows; `finite` files have the positions that a batch gives them."""
    from pyspark.sql import functions as F  # noqa: N812

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


def stream_lines(frame: DataFrame) -> Lines:
    """Any streaming DataFrame: lines, or a table of publications.

    Without a column `position`, items are numbered when they arrive.
    """
    from pyspark.sql import functions as F  # noqa: N812

    positions = [F.col("position").cast("bigint")] if "position" in frame.columns else []
    if "line" in frame.columns and set(frame.columns) <= set(LINE_COLUMNS):
        if dict(frame.dtypes)["line"] not in ("string", "binary"):
            raise NoInput(f"line: expected text or bytes, found {dict(frame.dtypes)['line']}")
        appended = [F.col("appended").cast("bigint")] if "appended" in frame.columns else []
        line = F.col("line").cast("binary").alias("line")
        return Lines(frame.select(*positions, line, *appended), tabular=False)
    if set(PUBLICATION_COLUMNS) <= set(frame.columns):
        columns = [name for name in frame.columns if name != "position"]
        line = json_row(columns).cast("binary").alias("line")
        return Lines(frame.select(*positions, line), tabular=True)
    raise NoInput(
        "expected a column line and, if you like, position and appended; or publications with"
        f" id, source and time; found {', '.join(frame.columns)}"
    )


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
    from pyspark.sql.types import LongType, StructType

    check_tables(tables)
    names = [literal_glob(str(file)) for file in tables]
    row = spark.read.option("mergeSchema", "true").parquet(*names).schema
    return StructType().add("position", LongType()).add("row", row)
