"""Bound what a Parquet file takes in memory before any of its values is decoded.

A few kilobytes can stand for gigabytes: a column may name one long value of its dictionary in every
row, repeat one number a billion times, or hold pages that compress a thousandfold. What the footer
says of sizes is not trusted. The headers of pages are what the decoder itself goes by, so they give
a bound; where that is too large, the lengths of values are counted without repeating them.
"""

from collections.abc import Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

# Columns, with those within others: 20,000 took seconds for every row.
MOST_COLUMNS = 10_000
# What a value takes beside itself (its offset, its levels), and what a row takes.
VALUE_BYTES, ROW_BYTES = 8, 64
# A bound of so many bytes for one column of a row group needs no closer look.
LITTLE = 2**20
# Bytes of values that are decoded at once to count them.
COUNTED_AT_ONCE = 2**26

# Numbers of parquet.thrift: types of pages, encodings.
DICTIONARY_PAGE = 2
PLAIN, PLAIN_DICTIONARY, DELTA_LENGTHS, DELTA_TEXTS, DICTIONARY = 0, 2, 6, 7, 8
WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}

MAGIC = b"PAR1"
Fields = dict[int, Any]


class TooLarge(ValueError):
    """Why a table is not read: it would take more memory than its size warrants."""


class _Leaf(NamedTuple):
    """A column of values in the schema."""

    path: str
    is_flat: bool
    width: int | None
    """Bytes of a value; None of texts."""

    @classmethod
    def of(cls, column: pq.ColumnSchema) -> "_Leaf":
        fixed = column.length if column.physical_type == "FIXED_LEN_BYTE_ARRAY" else None
        width = WIDTHS.get(column.physical_type, fixed)
        return cls(column.path, column.max_repetition_level == 0, width)


class _Page(NamedTuple):
    is_dictionary: bool
    values: int
    encoding: int
    size: int
    """Bytes, unpacked."""


class _Column(NamedTuple):
    """A column of a row group; a column within others has no place among the rows."""

    group: int
    path: str
    is_flat: bool
    sure: int
    """Bytes that it takes at most, but for what its dictionary and prefixes repeat."""
    named: int
    """Values that are places in the dictionary."""
    dictionary: int
    """Bytes of the dictionary, which its longest value does not exceed."""
    shared: int
    """Bytes at most of values that share the beginning of those before them."""
    longest_page: int

    @property
    def most(self) -> int:
        return self.sure + self.named * self.dictionary + self.shared


def table_size(file: Path, most: int) -> int:
    """Bytes that a Parquet file takes at most.

    Raise `TooLarge` if that may be over `most`, and what PyArrow raises for a file that it cannot
    read.
    """
    size = _size(file, most)
    if size > most:
        raise TooLarge(f"expected at most {most:,} bytes of values, found more")
    return size


def _size(file: Path, most: int) -> int:
    """A simple bound; if that is over `most`, values are counted until they are."""
    with pq.ParquetFile(file, pre_buffer=False) as table:
        schema = table.schema
        leaves = [_Leaf.of(schema.column(number)) for number in range(len(schema.names))]
    if len(leaves) > MOST_COLUMNS:
        raise TooLarge(f"expected at most {MOST_COLUMNS:,} columns, found {len(leaves):,}")
    with file.open("rb") as opened, mmap(opened.fileno(), 0, access=ACCESS_READ) as content:
        groups = _groups(content)
        taken = ROW_BYTES * sum(_count(group, 3) for group in groups)
        if taken > most:
            return taken
        columns = [
            _column(content, chunk, number, leaf)
            for number, group in enumerate(groups)
            for chunk, leaf in zip(_structs(group, 1), leaves, strict=True)
        ]
    bounds = [_bound(file, each) for each in columns]
    if taken + sum(bounds) <= most:
        return taken + sum(bounds)
    bounds = [each.sure + (each.shared if not each.is_flat else 0) for each in columns]
    taken += sum(bounds)
    for column in columns:
        if taken > most:
            break
        if column.named or (column.shared and column.is_flat):
            for size in _counted(file, column):
                taken += size
                if taken > most:
                    return taken
    return taken


def _bound(file: Path, column: _Column) -> int:
    """Bytes that a column takes at most, by the longest value of its dictionary."""
    repeated = column.named * column.dictionary
    if repeated <= LITTLE:
        return column.most
    table = pq.ParquetFile(file, pre_buffer=False, read_dictionary=[column.path])
    with table:
        first = next(_batches(table, column, 1), None)
        longest = max((_longest(leaf) for leaf in _leaves(first)), default=0)
    return column.most - repeated + column.named * longest


def _counted(file: Path, column: _Column) -> Iterator[int]:
    """Bytes of a column's values, some at a time."""
    names_values = column.named and not column.shared
    table = pq.ParquetFile(
        file, pre_buffer=False, read_dictionary=[column.path] if names_values else []
    )
    at_once = max(1, COUNTED_AT_ONCE // max(VALUE_BYTES, column.longest_page))
    with table:
        for batch in _batches(table, column, 1 << 16 if names_values else at_once):
            yield sum(_length(leaf) for leaf in _leaves(batch))


def _batches(table: pq.ParquetFile, column: _Column, at_once: int) -> Iterator[pa.RecordBatch]:
    found: Iterator[pa.RecordBatch] = table.iter_batches(
        at_once, row_groups=[column.group], columns=[column.path], use_threads=False
    )
    return found


def _leaves(holder: Any) -> Iterator[pa.Array]:
    """The arrays that hold values, in a batch or an array of objects and lists."""
    if holder is None:
        return
    if isinstance(holder, pa.RecordBatch):
        for column in holder.columns:
            yield from _leaves(column)
    elif isinstance(holder, pa.ExtensionArray):
        yield from _leaves(holder.storage)
    elif pa.types.is_struct(holder.type):
        for part in holder.flatten():
            yield from _leaves(part)
    elif pa.types.is_map(holder.type):
        yield from _leaves(holder.keys)
        yield from _leaves(holder.items)
    elif pa.types.is_nested(holder.type):
        yield from _leaves(holder.flatten())
    else:
        yield holder


def _longest(leaf: pa.Array) -> int:
    values = leaf.dictionary if isinstance(leaf, pa.DictionaryArray) else leaf
    return pc.max(_lengths(values)).as_py() or 0


def _length(leaf: pa.Array) -> int:
    if not isinstance(leaf, pa.DictionaryArray):
        return pc.sum(_lengths(leaf)).as_py() or 0
    lengths = _lengths(leaf.dictionary).cast(pa.int64())
    return pc.sum(lengths.take(leaf.indices)).as_py() or 0


def _lengths(values: pa.Array) -> pa.Array:
    if _is_text(values.type):
        return pc.binary_length(values)
    return pa.array([values.nbytes])  # of a fixed width, which the bound has in it


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_large_binary(kind)
    )


def _groups(content: mmap) -> list[Fields]:
    """The row groups of a file, by the footer's Thrift struct `FileMetaData`.

    PyArrow has the same, but to ask it for a column whose statistics are damaged ends the process.
    """
    end = len(content) - len(MAGIC) - 4
    size = int.from_bytes(content[end : end + 4], "little")
    if content[end + 4 :] != MAGIC or size > end:
        raise ValueError("expected a footer that is not encrypted")
    footer, _ = _fields(content, end - size, end)
    return _structs(footer, 4)


def _column(content: mmap, chunk: Fields, group: int, leaf: _Leaf) -> _Column:
    """What the headers of a column's pages say."""
    about = _struct(chunk, 3)
    sure = _count(about, 5) * VALUE_BYTES
    named = dictionary = shared = longest_page = 0
    for page in _pages(content, about):
        sure += page.size + page.values * VALUE_BYTES
        longest_page = max(longest_page, page.size)
        if page.is_dictionary:
            dictionary = max(dictionary, page.size)
        elif leaf.width is not None:
            sure += page.values * leaf.width
        elif page.encoding in (DICTIONARY, PLAIN_DICTIONARY):
            named += page.values
        elif page.encoding not in (PLAIN, DELTA_LENGTHS):
            shared += page.values * page.size
    return _Column(group, leaf.path, leaf.is_flat, sure, named, dictionary, shared, longest_page)


def _pages(content: mmap, chunk: Fields) -> Iterator[_Page]:
    """The pages of a column, by its Thrift struct `ColumnMetaData`: the decoder reads them until it
    has as many values as that says."""
    wanted, at, dictionary = _count(chunk, 5), _count(chunk, 9), _count(chunk, 11)
    if 0 < dictionary < at:
        at = dictionary
    end = min(at + _count(chunk, 7), len(content))
    values = 0
    while at < end and values < wanted:
        header, at = _fields(content, at, end)
        at += _count(header, 3)
        about = next((_struct(header, each) for each in (5, 8, 7) if each in header), {})
        page = _Page(
            is_dictionary=_count(header, 1) == DICTIONARY_PAGE,
            values=_count(about, 1),
            encoding=_count(about, 4 if 8 in header else 2),
            size=_count(header, 2),
        )
        if not page.is_dictionary:
            values += page.values
        yield page


def _structs(fields: Fields, number: int) -> list[Fields]:
    found = fields.get(number, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ValueError(UNKNOWN_FORM)
    return found


def _struct(fields: Fields, number: int) -> Fields:
    found = fields.get(number)
    if not isinstance(found, dict):
        raise ValueError(UNKNOWN_FORM)
    return found


def _count(fields: Fields, number: int) -> int:
    value = fields.get(number, 0)
    if type(value) is not int or value < 0:
        raise ValueError(UNKNOWN_FORM)
    return value


# Types of Thrift's compact protocol.
STOP, TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 11, 12
# In the place of a size that does not fit into four bits.
LONG_LIST = 15
# What describes a file nests less deep than this.
MOST_LEVELS = 12
UNKNOWN_FORM = "expected a description of the file that can be read, found damage"


def _fields(data: mmap, at: int, end: int, level: int = 0) -> tuple[Fields, int]:
    """The fields of a Thrift struct by their numbers, and where it ends."""
    if level > MOST_LEVELS:
        raise ValueError(UNKNOWN_FORM)
    found: Fields = {}
    number = 0
    while True:
        head = _byte(data, at, end)
        at += 1
        if head == STOP:
            return found, at
        if head >> 4:
            number += head >> 4
        else:
            number, at = _whole(data, at, end)
        found[number], at = _value(data, at, end, head & 15, level)


def _value(data: mmap, at: int, end: int, kind: int, level: int) -> tuple[Any, int]:
    if kind in (TRUE, FALSE):
        return kind == TRUE, at
    if kind == BYTE:
        return _byte(data, at, end), at + 1
    if kind == DOUBLE:
        _byte(data, at + 7, end)
        return None, at + 8
    if kind == BINARY:
        size, at = _unsigned(data, at, end)
        return None, at + size
    if kind == STRUCT:
        return _fields(data, at, end, level + 1)
    if kind in (LIST, SET):
        return _list(data, at, end, level)
    if kind == MAP:
        raise ValueError(UNKNOWN_FORM)
    return _whole(data, at, end)


def _list(data: mmap, at: int, end: int, level: int) -> tuple[list[Any], int]:
    head = _byte(data, at, end)
    at += 1
    size, kind = head >> 4, head & 15
    if size == LONG_LIST:
        size, at = _unsigned(data, at, end)
    found = []
    for _ in range(size):
        if kind in (TRUE, FALSE):
            value, at = _byte(data, at, end) == TRUE, at + 1
        else:
            value, at = _value(data, at, end, kind, level)
        found.append(value)
    return found, at


def _whole(data: mmap, at: int, end: int) -> tuple[int, int]:
    number, at = _unsigned(data, at, end)
    return (number >> 1) ^ -(number & 1), at


def _unsigned(data: mmap, at: int, end: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = _byte(data, at, end)
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7
        if shift > 63:
            raise ValueError(UNKNOWN_FORM)


def _byte(data: mmap, at: int, end: int) -> int:
    if not 0 <= at < end:
        raise ValueError(UNKNOWN_FORM)
    return data[at]
