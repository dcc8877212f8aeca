"""Rows of a table as publications: the numbers, texts and lists of texts of its columns."""

import numpy as np
import pyarrow as pa

from shortlist.matching.blocks import (
    Block,
    Column,
    column_of_coded,
    column_of_numbers,
    column_of_words,
)


def block_of(rows: pa.RecordBatch) -> Block:
    """
    >>> rows = pa.RecordBatch.from_pydict({"x": [1, None], "genre": [["war"], []]})
    >>> block = block_of(rows)
    >>> block.value(0, ("x",)), block.value(1, ("x",)), block.value(0, ("genre",)).elements
    (1.0, None, ('war',))
    """
    return Block(rows.num_rows, lambda path: _column(rows.column(path[0])))


def _column(array: pa.Array) -> Column:
    if pa.types.is_string(array.type):
        return column_of_words(array)
    if not pa.types.is_list(array.type):
        numbers = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return column_of_numbers(np.array(numbers))
    coded = array.flatten().dictionary_encode()
    lengths = np.array(array.value_lengths().fill_null(0), np.int64)
    none, codes = np.full(len(array), -1, np.int32), np.array(coded.indices, np.int32)
    return column_of_coded(none, coded.dictionary.to_pylist(), lengths, codes)
