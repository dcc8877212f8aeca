"""Input: files of JSON lines or Parquet, or any DataFrame, as lines with a position each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import StringType

from shortlist.intake.input_files import Places, input_files, is_table
from shortlist.intake.tables import POSITION, check_tables
from shortlist.model.times import parse_times

TIME_FORMATS = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'",
}

# Columns that rows are ordered by while they are numbered.
TIME_KEY, ROW_KEY = "__time", "__row"


@dataclass(frozen=True, slots=True)
class Lines:
    """What comes in: `position` and `line`; or, if `tabular`, the rows of a table with their
    `__position`."""

    frame: DataFrame
    tabular: bool
    places: Places | None = None


def read_files(spark: SparkSession, path: str | Path) -> Lines:
    """A file or a folder of files, all JSON lines or all Parquet."""
    files = input_files(Path(path))
    tabular = is_table(files[0])
    names = [literal_glob(str(file.resolve())) for file in files]
    if tabular:
        check_tables(files)
        table = spark.read.option("mergeSchema", "true").parquet(*names)
        columns, position = table.columns, POSITION
        content = [F.col(quoted(name)) for name in columns]
        block, row = F.lit(0).cast("bigint"), F.col("_metadata.row_index")
    else:
        table = spark.read.option("lineSep", "\n").text(names)
        columns, position = ["line"], "position"
        content = [F.col("value").cast("binary").alias("line")]
        block, row = F.col("_metadata.file_block_start"), F.monotonically_increasing_id()
    file = F.col("_metadata.file_path").alias("__file")
    frame = table.select(*content, file, block.alias("__block"), row.alias("__row"))
    positioned, places = _positioned(spark, frame, columns, position)
    return Lines(positioned, tabular, places)


def read_table(frame: DataFrame) -> Lines:
    """Return the rows of a DataFrame, with their `position` or else numbered in order."""
    columns = [F.col(quoted(name)) for name in frame.columns if name != "position"]
    if "position" in frame.columns:
        position = F.col("position").cast("bigint").alias(POSITION)
        return Lines(frame.select(position, *columns), tabular=True)
    return Lines(_numbered(frame, columns), tabular=True)


def _numbered(frame: DataFrame, columns: list[Column]) -> DataFrame:
    """Number rows from 1 in the order of SEMANTICS.md, section 1, however Spark reads them.

    Rows that are equal get different numbers: a number that is worked out from a row's content
    would be the same for a row that was delivered twice. One task sorts all rows, as one task of
    each shard does later; what is done with them in between is spread over all cores again.
    """
    time, row = _readable_time(frame), json_row(frame.columns)
    keyed = frame.select(*columns, time.alias(TIME_KEY), row.alias(ROW_KEY))
    keys = [F.col(name).asc_nulls_last() for name in (TIME_KEY, "source", "id", ROW_KEY)]
    # the ids of a single partition are consecutive
    ordered = keyed.repartition(1).sortWithinPartitions(*keys)
    number = (F.monotonically_increasing_id() + 1).alias(POSITION)
    cores = frame.sparkSession.sparkContext.defaultParallelism
    return ordered.select(number, *columns).repartition(cores, POSITION)


def _readable_time(frame: DataFrame) -> Column:
    """Return a column that orders rows by their times; null where a time cannot be read."""
    time = F.col("time")
    if isinstance(frame.schema["time"].dataType, StringType):
        return arrow_udf(_parsed, "bigint")(time)  # type: ignore[call-overload]
    return F.when(F.year(time).between(1, 9999), time)


def _parsed(texts: pa.Array) -> pa.Array:
    return pa.array(parse_times(texts.fill_null("").to_pylist()), pa.int64())


def json_row(columns: list[str]) -> Column:
    """A row as JSON text; times are written as publications write them."""
    return F.to_json(F.struct(*(F.col(quoted(name)) for name in columns)), TIME_FORMATS)


def quoted(name: str) -> str:
    """A column's name as Spark takes it, whatever is in it."""
    return f"`{name.replace('`', '``')}`"


def literal_glob(name: str) -> str:
    return re.sub(r"([*?\[\]{}\\])", r"\\\1", name)


def _positioned(
    spark: SparkSession, frame: DataFrame, columns: list[str], position: str
) -> tuple[DataFrame, Places]:
    """Numbers rows through all files, from 1: a block holds consecutive rows of one file."""
    extents = (
        frame.groupBy("__file", "__block")
        .agg(F.min("__row").alias("first"), F.count("*").alias("length"))
        .collect()
    )
    extents.sort(key=lambda extent: (_name(extent["__file"]), extent["__block"]))
    offsets, ends, end = [], {}, 0
    for file, block, first, length in extents:
        offsets.append((file, block, end + 1 - first))
        end += length
        ends[_name(file)] = end
    starts = spark.createDataFrame(offsets, "__file string, __block bigint, __offset bigint")
    numbered = frame.join(F.broadcast(starts), ["__file", "__block"])
    places = Places(tuple(Path(name).name for name in ends), tuple(ends.values()))
    number = (F.col("__row") + F.col("__offset")).alias(position)
    return numbered.select(number, *(F.col(quoted(name)) for name in columns)), places


def _name(file_uri: str) -> str:
    return unquote(urlparse(file_uri).path)
