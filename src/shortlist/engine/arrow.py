"""Rows to Arrow batches and back, for tasks that are plain Python."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import pyarrow as pa

BATCH_ROWS = 4096

Row = tuple[Any, ...]


def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    """The rows of batches, in order."""
    for batch in batches:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def batches(rows: Iterable[Row], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows in batches of bounded size.

    >>> [batch.num_rows for batch in batches([(1,), (2,)], pa.schema([("n", pa.int64())]))]
    [2]
    """
    iterator = iter(rows)
    while chunk := list(islice(iterator, BATCH_ROWS)):
        columns = [
            pa.array(column, type=field.type)
            for column, field in zip(zip(*chunk, strict=True), schema, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
