"""Deliveries of shards in files: where tasks run on this machine, they need not pass the JVM."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from shortlist.engine.arrow import batches
from shortlist.engine.deliveries import DELIVERIES
from shortlist.engine.stages import Select

FILES = pa.schema([("file", pa.string()), ("note", pa.string())])
"""What tasks wrote, and counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteSelected:
    """The task that writes what its shard selects to a file of its own, in its own order.

    It answers with a row of FILES; a file that nobody hears of is of an attempt that failed.
    """

    select: Select
    folder: str

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        path, notes = Path(self.folder, f"{uuid.uuid4()}.parquet"), []
        with pq.ParquetWriter(path, DELIVERIES, compression="NONE", write_statistics=False) as file:
            for batch in self.select(arriving):
                note = batch.column("note")
                if note.null_count:
                    file.write_batch(batch.drop_columns(["note"]))
                else:
                    notes += note.to_pylist()
        yield from batches(((str(path), note) for note in notes), FILES)


def selected(files: Iterable[str]) -> pa.Table:
    """The deliveries of all files."""
    return pa.concat_tables([DELIVERIES.empty_table(), *map(pq.read_table, files)])
