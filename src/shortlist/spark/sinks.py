"""Output: deliveries, rejects and explanations as JSON lines or Parquet."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from shortlist.engine.arrow import Row, batches, rows
from shortlist.engine.deliveries import ORDER, file_schema, file_text, lines, put_in_order
from shortlist.intake.input_files import Places
from shortlist.intake.tables import POSITION, publication_texts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ONE_PART = 100_000
"""Rows up to which one task sorts and writes them faster than several."""
MOST_AT_ONCE = 2_000_000
"""Deliveries up to which this process sorts and writes them faster than tasks."""

Batches = Iterable[pa.RecordBatch]
LINES = pa.schema([("value", pa.string())])


def write_deliveries(deliveries: DataFrame, out: str | Path, count: int | None = None) -> None:
    """In order of (time, position, shortlist): a Parquet folder if the name says so, else lines.

    Where their `count` is known and small, Spark need not sample them first.
    """
    out, with_data = Path(out), "data" in deliveries.columns
    if count is not None and count <= MOST_AT_ONCE:
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


def write_rejects(rejects: DataFrame, places: Places | None, out: str | Path) -> int:
    """In order of position; the answer is their number."""
    count, found = rejects.count(), rejects.select("position", "line", "reason")
    if count <= ONE_PART:
        ordered = found.coalesce(1).sortWithinPartitions("position")
    else:
        ordered = found.orderBy("position")
    _write_lines(ordered.mapInArrow(partial(_rejected, places), "value string"), Path(out))
    return count


def _rejected(places: Places | None, arriving: Batches) -> Iterator[pa.RecordBatch]:
    """The task that turns rejects into lines."""
    return batches(((line,) for line in reject_lines(rows(arriving), places)), LINES)


def reject_lines(rejects: Iterable[Row], places: Places | None) -> Iterator[str]:
    """Rows of rejects as lines of a file."""
    for position, line, reason in rejects:
        place = str(position) if places is None else places.name(position)
        document = {"line": line, "position": place, "reason": reason}
        yield json.dumps(document, ensure_ascii=False)


def lines_of_rows(arriving: Batches) -> Iterator[pa.RecordBatch]:
    """The task that turns rows of a table, each with the reason for which it was refused, into
    rejects."""
    for batch in arriving:
        lines = publication_texts(batch.drop_columns(["reason"]))
        columns = [batch.column(POSITION), lines, batch.column("reason")]
        yield pa.record_batch(columns, names=["position", "line", "reason"])


def write_explanations(explanations: DataFrame, out: str | Path) -> None:
    """In order of their text, which begins with the time."""
    _write_lines(explanations.select("explanation").orderBy("explanation"), Path(out))


def _write_lines(lines: DataFrame, out: Path) -> None:
    """One file, made of the parts that the executors wrote."""
    with replacing(out) as whole:
        parts = whole.with_name("parts")
        lines.write.option("compression", "none").text(str(parts))
        with whole.open("wb") as target:
            for part in sorted(parts.glob("part-*")):
                with part.open("rb") as source:
                    shutil.copyfileobj(source, target)


@contextmanager
def replacing(out: str | Path) -> Iterator[Path]:
    """Where to write a file or a folder that takes the place of `out` only if all goes well."""
    out = Path(out)
    with tempfile.TemporaryDirectory(dir=out.absolute().parent, prefix=".shortlist-") as folder:
        whole = Path(folder, f"new-{out.name}")
        yield whole
        if out.is_dir():
            shutil.rmtree(out)
        whole.replace(out)


@contextmanager
def delivery_writer(out: Path, with_data: bool) -> Iterator[Callable[[pa.Table], object]]:
    """Writes deliveries that come in order, some at a time: a Parquet folder if the name says so,
    else lines. What is written is in place only when all went well."""
    with replacing(out) as whole:
        if out.suffix != ".parquet":
            with whole.open("wb") as file:
                yield lambda deliveries: file.write(file_text(deliveries, with_data))
            return
        whole.mkdir()
        part = whole / "deliveries.parquet"
        with DeliveryFile(part, with_data) as parquet:
            yield parquet.write
        put_parts_in_order(whole, [part.name] if part.exists() else [], with_data)


class DeliveryFile:
    """A Parquet file of deliveries, some columns of which may be places in what they repeat."""

    def __init__(self, path: Path, with_data: bool) -> None:
        self._path = path
        self._names = file_schema(with_data).names
        self._writer: pq.ParquetWriter | None = None

    def __enter__(self) -> DeliveryFile:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def write(self, deliveries: pa.Table) -> None:
        table = deliveries.select(self._names)
        if self._writer is None:
            # ids are never repeated, and no shorter when they are compressed
            named = [name for name in self._names if name != "id"]
            self._writer = pq.ParquetWriter(
                self._path,
                table.schema,
                use_dictionary=named,
                compression=dict.fromkeys(named, "SNAPPY") | {"id": "NONE"},
                # of names, the least and the largest take longer to find than all else to write
                write_statistics=["time"],
                store_schema=False,
            )
        self._writer.write_table(table)


def put_parts_in_order(folder: Path, files: Sequence[str], with_data: bool) -> None:
    """Gives the parts of a Parquet folder names in this order; all others are forgotten."""
    for number, file in enumerate(files):
        Path(folder, file).rename(Path(folder, f"part-{number:05}.parquet"))
    for left in folder.glob("[!p]*"):
        left.unlink()
    if not files:
        empty = file_schema(with_data).empty_table()
        pq.write_table(empty, Path(folder, "part-00000.parquet"), store_schema=False)
    Path(folder, "_SUCCESS").touch()
