"""Deliveries as columns: what they are, their order, and the lines and tables that files hold.

A column is named here, where a `Delivery` has it, and where deliveries are made in bulk; rows,
lines and files follow from the schema.
"""

from __future__ import annotations

import json

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shortlist.engine.arrow import read_only, text_bytes
from shortlist.engine.kernels.delivery_order import Keys, order_of
from shortlist.engine.kernels.line_writing import Cells, has_escapes, line_ends, write_lines

DELIVERIES = pa.schema(
    [
        ("id", pa.string()),
        ("time", pa.timestamp("us", tz="UTC")),
        ("shortlist", pa.string()),
        ("subscriber", pa.string()),
        ("source", pa.string()),
        ("publication", pa.string()),
        ("subscription", pa.string()),
        ("score", pa.float64()),
        ("possibility", pa.float64()),
        ("necessity", pa.float64()),
        ("rank", pa.int32()),
        ("cause", pa.string()),
        ("data", pa.string()),
        ("position", pa.int64()),
    ]
)
"""Deliveries as they travel; texts may come as places in what they repeat (dictionaries).

`data` is JSON, and null where it was not asked for. `position`, where the publication stands in
the input, is for their order alone, and not in files."""

ORDER = ("time", "position", "shortlist")
"""What deliveries are sorted by."""

COLUMNS = tuple(name for name in DELIVERIES.names if name not in ("data", "position"))
"""The columns that every file has, in order."""

SAMPLE = 256
"""Numbers that tell whether a column repeats few of them."""

IN_PLACE: NDArray[np.int32] = np.empty(0, np.int32)
"""In place of places: text i is that of row i."""

Texts = tuple[pa.LargeStringArray, NDArray[np.int32]]
"""Texts, and the place of each row's text among them, or IN_PLACE."""

_encode = json.JSONEncoder(ensure_ascii=False).encode


def file_schema(with_data: bool) -> pa.Schema:
    """The columns of deliveries in a file.

    >>> file_schema(with_data=True).names[-2:]
    ['cause', 'data']
    """
    names = [*COLUMNS, "data"] if with_data else COLUMNS
    return pa.schema([DELIVERIES.field(name) for name in names])


def put_in_order(table: pa.Table) -> pa.Table:
    """The rows in order of time, position and shortlist; whatever other columns they have.

    >>> rows = [{"time": 2, "position": 1, "shortlist": "a"}]
    >>> rows += [{"time": 1, "position": 7, "shortlist": name} for name in "ca"]
    >>> put_in_order(pa.Table.from_pylist(rows))["shortlist"].to_pylist()
    ['a', 'c', 'a']
    """
    if table.num_rows < 2:
        return table  # many batches lead to nothing, and kernels take a while to be loaded
    time, position, shortlist = (_whole(table, name) for name in ORDER)
    texts, places = _texts(shortlist)
    order = order_of(
        Keys(_longs(time), _longs(position), *text_bytes(texts), places=read_only(places))
    )
    return table.combine_chunks().take(pa.array(order)) if order.size else table


def lines(table: pa.Table, with_data: bool) -> pa.LargeStringArray:
    """Each delivery as the JSON that a line of a file holds, equal to `Delivery.document`.

    >>> row = {"id": "36a6", "time": 0, "shortlist": "L", "subscriber": "ann", "source": "b"}
    >>> row |= {"publication": "p", "subscription": "s", "score": -2.0, "possibility": 1.0}
    >>> row |= {"necessity": 0.5, "rank": None, "cause": "arrival", "data": "{}", "position": 7}
    >>> lines(pa.Table.from_pylist([row], DELIVERIES), with_data=True).to_pylist()
    ['{"id": "36a6", "time": "1970-01-01T00:00:00.000Z", ... "cause": "arrival", "data": {}}']
    """
    ends, content = _written(table, with_data, b"}")
    return pa.LargeStringArray.from_buffers(table.num_rows, pa.py_buffer(ends), content)


def file_text(table: pa.Table, with_data: bool) -> pa.Buffer:
    """The lines of all deliveries with the end of each line, ready to be written to a file."""
    _, content = _written(table, with_data, b"}\n")
    return content


def _written(table: pa.Table, with_data: bool, end: bytes) -> tuple[NDArray[np.int64], pa.Buffer]:
    """Where each line begins, and all of them."""
    columns = []
    before = "{"
    for name in COLUMNS:
        kind = DELIVERIES.field(name).type
        quote = "" if pa.types.is_floating(kind) or pa.types.is_integer(kind) else '"'
        column = _whole(table, name)
        if quote and column.null_count:
            raise ValueError(f"expected a {name} for each delivery, found none for some")
        columns.append(_cells(f'{before}"{name}": {quote}', *_cell_texts(column, kind)))
        before = f"{quote}, "
    columns.append(_cells(quote, *_data_texts(table, with_data)))
    last = read_only(np.frombuffer(end, np.uint8))
    ends = line_ends(tuple(columns), last, table.num_rows)
    content = pa.allocate_buffer(int(ends[-1]))
    write_lines(tuple(columns), last, ends, np.frombuffer(content, np.uint8))
    return ends, content


def _cell_texts(column: pa.Array, kind: pa.DataType) -> Texts:
    if pa.types.is_timestamp(kind):
        return _times(column)
    if pa.types.is_floating(kind):
        return _floats(column)
    if pa.types.is_integer(kind):
        encoded = column.dictionary_encode(null_encoding="encode")
        texts = encoded.dictionary.cast(pa.large_string()).fill_null("null")
        return texts, _places(encoded.indices)
    return _escaped(*_texts(column))


def _texts(column: pa.Array) -> Texts:
    """Texts as they come, but not many more of them than rows."""
    if pa.types.is_dictionary(column.type):
        if len(column.dictionary) <= len(column):
            return column.dictionary.cast(pa.large_string()), _places(column.indices)
        column = column.dictionary_decode()
    return column.cast(pa.large_string()), IN_PLACE


def _escaped(texts: pa.LargeStringArray, places: NDArray[np.int32]) -> Texts:
    """Names as they stand between the quotes of JSON."""
    content, offsets = text_bytes(texts)
    if not has_escapes(content[offsets[0] : offsets[-1]]):
        return texts, places
    if places is IN_PLACE:
        encoded = texts.dictionary_encode()
        texts, places = encoded.dictionary, _places(encoded.indices)
    return pa.array([_encode(text)[1:-1] for text in texts.to_pylist()], pa.large_string()), places


def _times(column: pa.Array) -> Texts:
    """As `format_time` writes them: in milliseconds, or in microseconds where there are any."""
    encoded = column.cast(pa.int64()).dictionary_encode()
    micros = encoded.dictionary.to_numpy()
    in_micros = pa.array(micros, pa.timestamp("us")).cast(pa.large_string())
    in_millis = pa.array(micros // 1000, pa.timestamp("ms")).cast(pa.large_string())
    texts = pc.if_else(pa.array(micros % 1000 == 0), in_millis, in_micros)
    texts = pc.binary_replace_slice(texts, len("1970-01-01"), len("1970-01-01 "), "T")
    return _joined(texts, "Z"), _places(encoded.indices)


def _floats(column: pa.Array) -> Texts:
    """As `repr` writes them."""
    numbers = column.to_numpy()
    places = IN_PLACE
    sample = numbers[:: -(-numbers.size // SAMPLE) or 1]
    if 2 * np.unique(sample).size <= sample.size:
        # their bits, which tell 0.0 from -0.0
        encoded = pa.array(numbers.view(np.int64)).dictionary_encode()
        numbers, places = encoded.dictionary.to_numpy().view(np.float64), _places(encoded.indices)
    return _number_texts(numbers), places


def _number_texts(numbers: NDArray[np.float64]) -> pa.LargeStringArray:
    """As `repr` writes them: so does orjson, but for what takes an exponent and what is not
    finite."""
    listed = orjson.dumps(np.ascontiguousarray(numbers), option=orjson.OPT_SERIALIZE_NUMPY)
    written = np.frombuffer(listed, np.uint8)[1:-1]
    is_comma = written == ord(",")
    content, offsets = written[~is_comma], np.zeros(numbers.size + 1, np.int64)
    offsets[1:-1] = np.flatnonzero(is_comma) - np.arange(offsets[1:-1].size)
    offsets[-1] = content.size
    buffers = pa.py_buffer(offsets), pa.py_buffer(content)
    texts = pa.LargeStringArray.from_buffers(numbers.size, *buffers)
    size = np.abs(numbers)
    is_other = ~((size >= 1e-4) & (size < 1e16) | (size == 0.0))
    if is_other.any():
        others = pa.array([*map(repr, numbers[is_other].tolist())], pa.large_string())
        texts = pc.replace_with_mask(texts, pa.array(is_other), others)
    return texts


def _data_texts(table: pa.Table, with_data: bool) -> Texts:
    """With the name of their column before them; empty where there are none."""
    if not with_data:
        return pa.array([""], pa.large_string()), np.zeros(table.num_rows, np.int32)
    column = _whole(table, "data")
    if pa.types.is_dictionary(column.type) and column.null_count:
        column = column.dictionary_decode()
    texts, places = _texts(column)
    return pc.fill_null(_joined(', "data": ', texts), ""), places


def _joined(*parts: pa.LargeStringArray | str) -> pa.LargeStringArray:
    """Texts one after the other; null where one of them is."""
    scalars = [
        pa.scalar(part, pa.large_string()) if isinstance(part, str) else part for part in parts
    ]
    return pc.binary_join_element_wise(*scalars, pa.scalar("", pa.large_string()))


def _cells(before: str, texts: pa.LargeStringArray, places: NDArray[np.int32]) -> Cells:
    first = read_only(np.frombuffer(before.encode(), np.uint8))
    return Cells(first, *text_bytes(texts), places=read_only(places))


def _whole(table: pa.Table, name: str) -> pa.Array:
    """A column in one piece."""
    return table.column(name).combine_chunks()


def _places(indices: pa.Array) -> NDArray[np.int32]:
    return np.asarray(indices.to_numpy(), np.int32)


def _longs(column: pa.Array) -> NDArray[np.int64]:
    return read_only(column.cast(pa.int64()).to_numpy())
