"""The format `shortlist_files`: a file or folder that grows, read in order of name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from shortlist.intake.growing_files import ChangedBehind, GrowingFiles, Piece, Place
from shortlist.spark.read_limits import default_limit, most_rows, shares, whole_number


def joined(pieces: list[Piece]) -> list[Piece]:
    """Consecutive pieces, with one for each file.

    >>> joined([Piece("a", 0, 9, 1, 2), Piece("a", 9, 12, 3, 1), Piece("b", 0, 5, 4, 1)])
    [Piece(file='a', start=0, end=12, position=1, length=3), Piece(file='b', ..., length=1)]
    """
    files = ([*group] for _, group in groupby(pieces, lambda piece: piece.file))
    return [
        some[0]._replace(end=some[-1].end, length=sum(piece.length for piece in some))
        for some in files
    ]


LINES = pa.schema([("position", pa.int64()), ("line", pa.binary())])
LINES_DDL = "position bigint, line binary"


class FileFormat(DataSource):
    """Lines; or with a schema `position bigint, row struct<…>` the rows of Parquet files."""

    @classmethod
    def name(cls) -> str:
        return "shortlist_files"

    def schema(self) -> str:
        return LINES_DDL

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        return FileStreamReader(self.options, to_arrow_schema(schema, timezone="UTC"))


class FileStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Micro-batches lie between two places, which know enough to be read again without a search."""

    def __init__(self, options: Mapping[str, str], schema: pa.Schema) -> None:
        if "path" not in options:
            raise ValueError("path: expected a file or a folder, found none")
        self._schema = schema
        self._limit = default_limit(options)
        self._partitions = whole_number(options, "partitions", 1) or 1
        self._files = GrowingFiles(
            Path(options["path"]),
            tabular="row" in schema.names,
            finite=options.get("finite", "false").lower() == "true",
        )
        self._last: Mapping[str, int] | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return Place()._asdict()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return self._limit

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._last = self._files.listing()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        listing = self._files.listing() if self._last is None else self._last
        return self._files.advanced(Place(**start), listing, most_rows(limit))._asdict()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        pieces = self._files.between(Place(**start), Place(**end))
        return [InputPartition(share) for share in shares(pieces, self._partitions)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if self._files.tabular:
            for piece in joined(partition.value):
                yield from self._rows(piece)
        else:
            for piece in partition.value:
                lines = pa.array(self._files.lines(piece), pa.binary())
                positions = _numbers(piece.position, piece.length)
                yield pa.RecordBatch.from_arrays([positions, lines], schema=LINES)

    def _rows(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        file = self._files.file(piece.file)
        position = piece.position
        for table in _row_groups(file, piece.start, piece.end):
            rows = _structs(table, self._schema.field("row").type, file)
            positions = _numbers(position, len(rows))
            yield pa.RecordBatch.from_arrays([positions, rows], schema=self._schema)
            position += len(rows)


def _numbers(first: int, count: int) -> pa.Array:
    return pa.array(range(first, first + count), pa.int64())


def _row_groups(file: Path, start: int, end: int) -> Iterator[pa.Table]:
    """The rows of a range, as far as they lie in the same row group."""
    with pq.ParquetFile(file) as parquet:
        first = 0
        for group in range(parquet.num_row_groups):
            count = parquet.metadata.row_group(group).num_rows
            low, high = max(start - first, 0), min(end - first, count)
            if low < high:
                yield parquet.read_row_group(group).slice(low, high - low)
            first += count


def _structs(table: pa.Table, row_type: pa.StructType, file: Path) -> pa.StructArray:
    """Rows as Spark would have read them: a column that a file does not have is null."""
    if unknown := sorted(set(table.column_names) - {field.name for field in row_type}):
        raise ChangedBehind(
            f"{file}: has the column {unknown[0]}, which no file had when the stream began:"
            " start it again"
        )
    columns = [
        table[field.name].combine_chunks().cast(field.type, safe=False)
        if field.name in table.column_names
        else pa.nulls(len(table), field.type)
        for field in row_type
    ]
    return pa.StructArray.from_arrays(columns, fields=list(row_type))
