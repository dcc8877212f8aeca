"""Output: deliveries, rejects and explanations as JSON lines or Parquet."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from shortlist.engine.arrow import Row, batches, rows
from shortlist.engine.deliveries import ORDER, file_schema, file_text, lines, put_in_order
from shortlist.intake.tables import POSITION, row_lines, row_publication
from shortlist.spark.sources import Places

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ONE_PART = 100_000
"""Rows up to which one task sorts and writes them faster than several."""
MOST_AT_ONCE = 2_000_000
"""Deliveries up to which this process sorts and writes them faster than tasks."""

LINES = pa.schema([("value", pa.string())])


@dataclass(frozen=True, slots=True)
class _WriteDeliveries:
    """The task that turns deliveries into lines."""

    with_data: bool

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in arriving:
            written = lines(pa.Table.from_batches([batch]), self.with_data)
            yield pa.RecordBatch.from_arrays([written.cast(pa.string())], schema=LINES)


@dataclass(frozen=True, slots=True)
class _WriteRejects:
    """The task that turns rejects into lines."""

    lines: RejectLines

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches(((line,) for line in self.lines(rows(arriving))), LINES)


@dataclass(frozen=True, slots=True)
class RejectLines:
    """Rows of rejects as lines of a file."""

    places: Places | None

    def __call__(self, rows: Iterable[Row]) -> Iterator[str]:
        for position, line, reason in rows:
            place = str(position) if self.places is None else self.places.name(position)
            document = {"line": line, "position": place, "reason": reason}
            yield json.dumps(document, ensure_ascii=False)


def write_deliveries(deliveries: DataFrame, out: str | Path, count: int | None = None) -> None:
    """In order of (time, position, shortlist): a Parquet folder if the name says so, else lines.

    Where their `count` is known and small, Spark need not sample them first.
    """
    with_data = "data" in deliveries.columns
    if count is not None and count <= MOST_AT_ONCE:
        _write_table(put_in_order(deliveries.toArrow()), Path(out), with_data)
        return
    ordered = _sorted(deliveries, *ORDER, count=count).select(file_schema(with_data).names)
    if Path(out).suffix == ".parquet":
        ordered.write.mode("overwrite").parquet(str(out))
    else:
        _write_lines(ordered.mapInArrow(_WriteDeliveries(with_data), "value string"), out)


def _write_table(deliveries: pa.Table, out: Path, with_data: bool) -> None:
    """Deliveries in order; what is written is in place only when it is whole."""
    if out.suffix == ".parquet":
        with parts_folder(out) as folder:
            part = folder / "deliveries.parquet"
            with DeliveryFile(part, with_data) as file:
                file.write({name: deliveries[name] for name in file_schema(with_data).names})
            put_parts_in_order(folder, [part.name], with_data)
        return
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".shortlist-") as folder:
        whole = Path(folder, out.name)
        whole.write_bytes(file_text(deliveries, with_data))
        whole.replace(out)


@dataclass(frozen=True, slots=True)
class LinesOfRows:
    """The task that turns rows of a table, each with the reason for which it was refused, into
    rejects."""

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in arriving:
            texts = row_lines(batch.drop_columns(["reason"]))
            documents = [
                json.dumps(row_publication(json.loads(text)), ensure_ascii=False) for text in texts
            ]
            columns = [batch.column(POSITION), documents, batch.column("reason")]
            yield pa.record_batch(columns, names=["position", "line", "reason"])


class DeliveryFile:
    """A Parquet file of deliveries, some columns of which may be places in what they repeat."""

    def __init__(self, path: Path, with_data: bool) -> None:
        self._path = path
        self._schema = file_schema(with_data)
        self._writer: pq.ParquetWriter | None = None

    def __enter__(self) -> DeliveryFile:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def write(self, columns: Mapping[str, pa.Array]) -> None:
        table = pa.table({name: columns[name] for name in self._schema.names})
        if self._writer is None:
            # ids are never repeated, and no shorter when they are compressed
            named = [name for name in self._schema.names if name != "id"]
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


@contextmanager
def parts_folder(out: str | Path) -> Iterator[Path]:
    """A folder to write parts into; it takes the place of `out` only if all goes well."""
    out = Path(out)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".shortlist-") as folder:
        parts = Path(folder, out.name)
        parts.mkdir()
        yield parts
        if out.is_dir():
            shutil.rmtree(out)
        parts.replace(out)


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


def write_rejects(rejects: DataFrame, places: Places | None, out: str | Path) -> int:
    """In order of position; the answer is their number."""
    count = rejects.count()
    ordered = _sorted(rejects.select("position", "line", "reason"), "position", count=count)
    _write_lines(ordered.mapInArrow(_WriteRejects(RejectLines(places)), "value string"), out)
    return count


def write_explanations(explanations: DataFrame, out: str | Path) -> None:
    """In order of their text, which begins with the time."""
    _write_lines(explanations.select("explanation").orderBy("explanation"), out)


def _sorted(frame: DataFrame, *columns: str, count: int | None) -> DataFrame:
    if count is not None and count <= ONE_PART:
        return frame.coalesce(1).sortWithinPartitions(*columns)
    return frame.orderBy(*columns)


def _write_lines(lines: DataFrame, out: str | Path) -> None:
    """One file, made of the parts that the executors wrote, in place only when it is whole."""
    out = Path(out)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".shortlist-") as folder:
        parts = Path(folder, "parts")
        lines.write.option("compression", "none").text(str(parts))
        whole = Path(folder, out.name)
        with whole.open("wb") as target:
            for part in sorted(parts.glob("part-*")):
                with part.open("rb") as source:
                    shutil.copyfileobj(source, target)
        whole.replace(out)
