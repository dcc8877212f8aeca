"""Output of DataFrames: deliveries, rejects and explanations as JSON lines or Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from shortlist.engine.arrow import batches, rows
from shortlist.engine.deliveries import ORDER, file_schema, lines, put_in_order
from shortlist.intake.input_files import Places
from shortlist.intake.tables import POSITION, publication_texts
from shortlist.jobs.sinks import delivery_writer, join_files, reject_lines, replacing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ONE_PART = 100_000
"""Rows up to which one task sorts and writes them faster than several."""
MOST_AT_ONCE = 2_000_000
"""Deliveries up to which this process sorts and writes them faster than tasks."""
# Beside the columns of a user's row, which may have one of their own that is named `reason`.
REASON = "__reason"

Batches = Iterable[pa.RecordBatch]
LINES = pa.schema([("value", pa.string())])


def write_deliveries(deliveries: DataFrame, out: Path, count: int) -> None:
    """In order of (time, position, shortlist): a Parquet folder if the name says so, else lines.

    Where there are few, Spark need not sample them first.
    """
    with_data = "data" in deliveries.columns
    if count <= MOST_AT_ONCE:
        with delivery_writer(out, with_data) as write:
            write(put_in_order(deliveries.toArrow()))
        return
    ordered = deliveries.orderBy(*ORDER).select(file_schema(with_data).names)
    if out.suffix == ".parquet":
        ordered.write.mode("overwrite").parquet(str(out))
    else:
        _write_lines(ordered.mapInArrow(partial(_delivery_lines, with_data), "value string"), out)


def _delivery_lines(with_data: bool, arriving: Batches) -> Iterator[pa.RecordBatch]:
    """The task that turns deliveries into lines."""
    for batch in arriving:
        written = lines(pa.Table.from_batches([batch]), with_data)
        yield pa.RecordBatch.from_arrays([written.cast(pa.string())], schema=LINES)


def write_rejects(rejects: DataFrame, places: Places | None, out: Path) -> int:
    """In order of position; the answer is their number."""
    count, found = rejects.count(), rejects.select("position", "line", "reason")
    if count <= ONE_PART:
        ordered = found.coalesce(1).sortWithinPartitions("position")
    else:
        ordered = found.orderBy("position")
    _write_lines(ordered.mapInArrow(partial(_rejected, places), "value string"), out)
    return count


def _rejected(places: Places | None, arriving: Batches) -> Iterator[pa.RecordBatch]:
    """The task that turns rejects into lines."""
    return batches(((line,) for line in reject_lines(rows(arriving), places)), LINES)


def lines_of_rows(arriving: Batches) -> Iterator[pa.RecordBatch]:
    """Turn rows of a table, each with the reason for which it was refused, into rejects."""
    for batch in arriving:
        lines = publication_texts(batch.drop_columns([REASON]))
        columns = [batch.column(POSITION), lines, batch.column(REASON)]
        yield pa.record_batch(columns, names=["position", "line", "reason"])


def write_explanations(explanations: DataFrame, out: Path) -> None:
    """In order of their text, which begins with the time."""
    _write_lines(explanations.select("explanation").orderBy("explanation"), out)


def _write_lines(lines: DataFrame, out: Path) -> None:
    """One file, made of the parts that the executors wrote."""
    with replacing(out) as whole:
        parts = whole.with_name("parts")
        lines.write.option("compression", "none").text(str(parts))
        join_files(sorted(parts.glob("part-*")), whole)
