"""Read a micro-batch of any size into pieces that the driver can hold, in order.

Tasks read lines, and write the items that they make of them to files. If all of these together are
no more than one piece may be, the driver sorts them. Otherwise Spark sorts them, and its tasks
write pieces, in order. Only names and counts of files come to the driver by themselves, so that its
memory is bounded by a piece, however large the micro-batch is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from shortlist.engine.stages import Read
from shortlist.live.files import Files
from shortlist.live.log_stream import MOST_BYTES, MOST_LINES
from shortlist.log.durable import make_private, open_private
from shortlist.model.items import COMMAND, PUBLICATION, Items

WRITTEN = pa.schema(
    {"place": pa.int64(), "file": pa.string(), "rows": pa.int64(), "bytes": pa.int64()}
)
"""What a task says of a file that it wrote: its place among those of the task, and its size in
items and in bytes of their lines."""

# Columns beside those of items, by which these are sorted: the kind's place at one time, and the
# row of a table as JSON text, which differs from the text that its item has in the column `line`.
RANK, ROW = "__rank", "__row"


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroBatches:
    """Makes pieces of micro-batches, in a folder that all tasks see."""

    files: Files
    is_positioned: bool
    is_tabular: bool
    most_lines: int = MOST_LINES
    most_bytes: int = MOST_BYTES

    def read(self, frame: DataFrame, task: Read) -> Items | list[str]:
        """Return the items of a micro-batch in order, or the names of files that hold them.

        `frame` has the columns `position`, `line` and `appended`.
        """
        spark, schema = frame.sparkSession, self._schema(task)
        write = partial(_write_items, read=task, schema=schema, files=self.files)
        written = frame.mapInArrow(write, from_arrow_schema(WRITTEN)).toArrow()
        names = written["file"].to_pylist()
        lines, size = (pc.sum(written[column]).as_py() or 0 for column in ("rows", "bytes"))
        try:
            if lines <= self.most_lines and size <= self.most_bytes:
                return self._sorted(names, schema)
            return self._cut(spark, names, schema)
        finally:
            for name in names:
                self.files.path(name).unlink(missing_ok=True)

    def piece(self, name: str) -> Items:
        """Return the items of a piece."""
        with pa.OSFile(str(self.files.path(name))) as file, pa.ipc.open_stream(file) as reader:
            return Items.of_table(reader.read_all())

    def remove(self, name: str) -> None:
        """Remove a piece that has been taken in."""
        self.files.path(name).unlink(missing_ok=True)

    @property
    def _keys(self) -> tuple[str, ...]:
        """The columns that items are sorted by, nulls last.

        Without a position the order is that of SEMANTICS.md, section 1. Behind a position the row
        makes the order of rows that have the same one certain.
        """
        row = ROW if self.is_tabular else "line"
        return ("position", row) if self.is_positioned else ("time", RANK, "source", "id", row)

    def _schema(self, task: Read) -> pa.Schema:
        return pa.schema([*task.wanted.schema, (RANK, pa.int8()), (ROW, pa.binary())])

    def _sorted(self, names: Sequence[str], schema: pa.Schema) -> Items:
        table = pa.Table.from_batches(_read_files(names, self.files), schema)
        keys = [(name, "ascending") for name in self._keys]
        return Items.of_table(table.sort_by(keys).drop_columns([RANK, ROW]))

    def _cut(self, spark: SparkSession, names: Sequence[str], schema: pa.Schema) -> list[str]:
        """Let Spark sort what files hold, and cut it into pieces."""
        cores = spark.sparkContext.defaultParallelism
        numbers = spark.range(0, len(names), 1, min(len(names), cores))
        read = partial(_read_numbered, names=names, files=self.files)
        write = partial(
            _write_pieces,
            files=self.files,
            most_lines=self.most_lines,
            most_bytes=self.most_bytes,
        )
        keys = [F.col(name).asc_nulls_last() for name in self._keys]
        written = (
            numbers.mapInArrow(read, from_arrow_schema(schema))
            .repartitionByRange(cores, *keys)
            .sortWithinPartitions(*keys)
            .mapInArrow(write, from_arrow_schema(WRITTEN))
            .toArrow()
        )
        return written.sort_by("place")["file"].to_pylist()


class _NewFile:
    """A file of items that a task writes; only what has been written whole is named to others."""

    def __init__(self, files: Files, schema: pa.Schema, kind: str) -> None:
        make_private(files.folder)
        self._name = files.new_name(kind)
        descriptor = open_private(files.path(self._name), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        self._file = os.fdopen(descriptor, "wb")
        self._writer = pa.ipc.new_stream(self._file, schema)
        self.rows = 0
        # Of their lines: what is read of a line may take two or three times as much.
        self.bytes = 0

    def write(self, items: pa.RecordBatch) -> None:
        self._writer.write_batch(items)
        self.rows += items.num_rows
        self.bytes += int(_line_sizes(items).sum())

    def close(self, place: int, *, durable: bool) -> pa.RecordBatch:
        """Return what the driver has to know of this file, a row of WRITTEN."""
        self._writer.close()
        if durable:
            self._file.flush()
            os.fsync(self._file.fileno())
        self._file.close()
        return pa.record_batch([[place], [self._name], [self.rows], [self.bytes]], schema=WRITTEN)


def _line_sizes(items: pa.RecordBatch) -> npt.NDArray[np.int64]:
    return np.asarray(pc.fill_null(pc.binary_length(items["line"]), 0), np.int64)


def _write_items(
    arriving: Iterable[pa.RecordBatch], read: Read, schema: pa.Schema, files: Files
) -> Iterator[pa.RecordBatch]:
    """Read lines, and write all items of a partition to one file."""
    file = None
    for batch in arriving:
        if not batch.num_rows:
            continue
        file = file or _NewFile(files, schema, "unsorted")
        for items in read([batch]):
            rows = batch["line"].cast(pa.binary()) if read.tabular else None
            columns = [
                *items.columns,
                _ranks(Items(items)),
                rows or pa.nulls(len(items), pa.binary()),
            ]
            file.write(pa.record_batch(columns, schema=schema))
    if file is not None:
        yield file.close(0, durable=False)


def _ranks(items: Items) -> pa.Array:
    """Commands come before publications of the same time; what is neither comes last."""
    ranks = np.full(len(items), 2, np.int8)
    ranks[items.kinds == PUBLICATION] = 1
    ranks[items.kinds == COMMAND] = 0
    return pa.array(ranks)


def _read_numbered(
    arriving: Iterable[pa.RecordBatch], names: Sequence[str], files: Files
) -> Iterator[pa.RecordBatch]:
    for batch in arriving:
        yield from _read_files((names[at] for at in batch["id"].to_pylist()), files)


def _read_files(names: Iterable[str], files: Files) -> Iterator[pa.RecordBatch]:
    for name in names:
        with pa.OSFile(str(files.path(name))) as file, pa.ipc.open_stream(file) as reader:
            yield from reader


def _write_pieces(
    arriving: Iterable[pa.RecordBatch], files: Files, most_lines: int, most_bytes: int
) -> Iterator[pa.RecordBatch]:
    """Write the items of a partition, which are in order, to files of a limited size."""
    task = TaskContext.get()
    assert task is not None
    place, file = task.partitionId() << 32, None
    for batch in arriving:
        items, first = batch.drop_columns([RANK, ROW]), 0
        sizes = _line_sizes(items)
        while first < len(sizes):
            file = file or _NewFile(files, items.schema, "piece")
            size = file.bytes + np.cumsum(sizes[first : first + most_lines - file.rows])
            # the line that crosses the limit is included
            count = min(int(np.searchsorted(size, most_bytes)) + 1, len(size))
            file.write(items.slice(first, count))
            first += count
            if file.rows >= most_lines or file.bytes >= most_bytes:
                yield file.close(place, durable=True)
                place, file = place + 1, None
    if file is not None:
        yield file.close(place, durable=True)
