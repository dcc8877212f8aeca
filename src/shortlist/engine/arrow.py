"""Rows to Arrow batches and back, for tasks that are plain Python, and texts for kernels."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

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
        yield pa.record_batch([*zip(*chunk, strict=True)], schema=schema)


def text_bytes(
    texts: pa.StringArray | pa.LargeStringArray,
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of all texts, and where each begins and the last one ends.

    >>> content, offsets = text_bytes(pa.array(["a", "é"]))
    >>> content.tobytes(), offsets.tolist()
    (b'a\xc3\xa9', [0, 1, 3])
    """
    _, offsets, content = texts.cast(pa.large_string()).buffers()
    if not len(texts) or content is None:
        return read_only(np.empty(0, np.uint8)), read_only(np.zeros(len(texts) + 1, np.int64))
    starts = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return read_only(np.frombuffer(content, np.uint8)), read_only(starts)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """So that kernels, compiled by type, take what Arrow owns and what numpy does alike."""
    seen = array.view()
    seen.flags.writeable = False
    return seen
