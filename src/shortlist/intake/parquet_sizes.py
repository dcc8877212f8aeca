"""Bound what a Parquet file takes in memory before any of its values is decoded.

A few kilobytes can stand for gigabytes: a column may name one long value of its dictionary in every
row, repeat one number a billion times, or hold pages that compress a thousandfold. What the footer
says of sizes is not trusted. The headers of pages are what the decoder itself goes by, so they give
a bound; where that is too large, the lengths of values are counted without repeating them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
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
DATA_PAGE, DICTIONARY_PAGE, DATA_PAGE_2 = 0, 2, 3
# By the type of a page of data: the numbers of the struct that tells of it, and of its encoding.
ENCODING_OF_PAGE = {DATA_PAGE: (5, 2), DATA_PAGE_2: (8, 4)}
PLAIN, PLAIN_DICTIONARY, DELTA_LENGTHS, DICTIONARY = 0, 2, 6, 8
WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}

MAGIC = b"PAR1"
# By number and type: what has another type than it should is passed over, as the decoder does.
Fields = dict[tuple[int, int], Any]


_NO_VALUES = pa.array([], pa.string()).dictionary_encode()


class TooLarge(ValueError):
    """A table is not read, since it would take more memory than its size warrants."""


class _Leaf(NamedTuple):
    """A column of values in the schema."""

    number: int
    path: str
    is_flat: bool
    # Whether its path names no other column, so that it can be read by itself.
    is_alone: bool
    # Bytes of a value; None of texts.
    width: int | None


def _leaves_of(schema: pq.ParquetSchema) -> list[_Leaf]:
    columns = [schema.column(number) for number in range(len(schema.names))]
    if len(columns) > MOST_COLUMNS:
        raise TooLarge(f"expected at most {MOST_COLUMNS:,} columns, found {len(columns):,}")
    named = Counter(prefix for column in columns for prefix in _prefixes(column.path))
    leaves = []
    for number, column in enumerate(columns):
        fixed = column.length if column.physical_type == "FIXED_LEN_BYTE_ARRAY" else None
        width = WIDTHS.get(column.physical_type, fixed)
        is_flat = column.max_repetition_level == 0
        is_alone = named[column.path] == 1
        leaves.append(_Leaf(number, column.path, is_flat, is_alone, width))
    return leaves


def _prefixes(path: str) -> Iterator[str]:
    """Return the paths that name a column: its own, and those of what it stands in."""
    parts = path.split(".")
    return accumulate(parts, "{}.{}".format)


class _Page(NamedTuple):
    is_dictionary: bool
    values: int
    encoding: int
    size: int  # bytes, unpacked


class _Column(NamedTuple):
    """A column of a row group; a column within others has no place among the rows."""

    group: int
    leaf: _Leaf
    # Bytes that it takes at most, but for what its dictionary and prefixes repeat.
    sure: int
    # Values that are places in the dictionary.
    named: int
    # Bytes of the dictionary, which its longest value does not exceed.
    dictionary: int
    # Bytes at most of values that share the beginning of those before them.
    shared: int
    longest_page: int

    @property
    def repeated(self) -> int:
        """Return the bytes that places in the dictionary stand for at most."""
        return self.named * self.dictionary

    @property
    def needs_dictionary(self) -> bool:
        """Say whether the dictionary itself has to be read for a close bound, and can be."""
        return self.repeated > LITTLE and self.leaf.is_alone

    @property
    def can_be_counted(self) -> bool:
        """Say whether its values can be read some at a time: the length of lists is not known."""
        return self.leaf.is_alone and (self.leaf.is_flat or not self.shared)


class _Opened(NamedTuple):
    """A file that is opened to read values of its columns."""

    # With values as they are.
    table: pq.ParquetFile
    # With values as places in their dictionaries, where `_Column.needs_dictionary` says so.
    dictionaries: pq.ParquetFile
    # Numbers of the leaves that really are read so, which PyArrow does not do for every type.
    kept: frozenset[int]


def table_size(file: Path, most: int) -> int:
    """Return the bytes that a Parquet file takes at most.

    Raise `TooLarge` if that may be over `most`, and what PyArrow raises for a file that it cannot
    read.
    """
    size = _size(file, most)
    if size > most:
        raise TooLarge(f"expected at most {most:,} bytes of values, found more")
    return size


def _size(file: Path, most: int) -> int:
    """Return a simple bound; if that is over `most`, values are counted until they are.

    The file is opened at most twice, however many columns are looked at: each time PyArrow reads
    the whole footer, which describes every column of every row group.
    """
    with pq.ParquetFile(file, pre_buffer=False) as table:
        leaves = _leaves_of(table.schema)
        with file.open("rb") as opened, mmap(opened.fileno(), 0, access=ACCESS_READ) as content:
            groups = _groups(content)
            taken = ROW_BYTES * sum(_count(group, 3, I64) for group in groups)
            if taken > most:
                return taken
            columns = [
                _column(content, chunk, number, leaf)
                for number, group in enumerate(groups)
                for chunk, leaf in zip(_structs(group, 1), leaves, strict=True)
            ]
        taken += sum(column.sure for column in columns)
        if taken > most:
            return taken
        encoded = {column.leaf.path for column in columns if column.needs_dictionary}
        if not encoded:
            return _with_values(columns, taken, most, _Opened(table, table, frozenset()))
        with pq.ParquetFile(file, pre_buffer=False, read_dictionary=[*encoded]) as dictionaries:
            types = [
                kind for field in dictionaries.schema_arrow for kind in _leaf_types(field.type)
            ]
            kept = frozenset(at for at, kind in enumerate(types) if pa.types.is_dictionary(kind))
            return _with_values(columns, taken, most, _Opened(table, dictionaries, kept))


def _with_values(columns: Sequence[_Column], taken: int, most: int, opened: _Opened) -> int:
    """Return `taken` with what dictionaries and prefixes repeat in columns."""
    bounds = [_bound(opened, column) for column in columns]
    if taken + sum(bounds) <= most:
        return taken + sum(bounds)
    for column, bound in zip(columns, bounds, strict=True):
        if bound <= LITTLE or not column.can_be_counted:
            taken += bound
        else:
            for size in _counted(opened, column):
                taken += size
                if taken > most:
                    return taken
        if taken > most:
            return taken
    return taken


def _bound(opened: _Opened, column: _Column) -> int:
    """Return the bytes that a column takes at most beside those that it takes for sure."""
    if not column.needs_dictionary or column.leaf.number not in opened.kept:
        return column.repeated + column.shared
    first = next(_batches(opened.dictionaries, column, 1), None)
    (leaf,) = [*_leaves(first)] if first is not None else [_NO_VALUES]
    lengths = _lengths(leaf.dictionary)
    # Each value of the dictionary stands behind its length. Unless all of them are there, the first
    # row did not need the dictionary.
    size = 4 * len(lengths) + (pc.sum(lengths).as_py() or 0)
    longest = (pc.max(lengths).as_py() or 0) if size == column.dictionary else column.dictionary
    return column.named * longest + column.shared


def _counted(opened: _Opened, column: _Column) -> Iterator[int]:
    """Yield the bytes of a column's values, some at a time."""
    if column.shared or not column.named:
        at_once = max(1, COUNTED_AT_ONCE // max(VALUE_BYTES, column.longest_page))
        batches = _batches(opened.table, column, at_once)
    elif column.leaf.number in opened.kept:
        batches = _batches(opened.dictionaries, column, 1 << 16)
    else:
        yield column.repeated
        return
    for batch in batches:
        yield sum(_length(leaf) for leaf in _leaves(batch))


def _leaf_types(kind: pa.DataType) -> Iterator[pa.DataType]:
    if isinstance(kind, pa.BaseExtensionType):
        yield from _leaf_types(kind.storage_type)
    elif pa.types.is_nested(kind):
        for number in range(kind.num_fields):
            yield from _leaf_types(kind.field(number).type)
    else:
        yield kind


def _batches(table: pq.ParquetFile, column: _Column, at_once: int) -> Iterator[pa.RecordBatch]:
    found: Iterator[pa.RecordBatch] = table.iter_batches(
        at_once, row_groups=[column.group], columns=[column.leaf.path], use_threads=False
    )
    return found


def _leaves(holder: Any) -> Iterator[pa.Array]:
    """Yield the arrays that hold values, in a batch or an array of objects and lists."""
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
    """Return the row groups of a file, by the footer's Thrift struct `FileMetaData`.

    PyArrow has the same, but to ask it for a column whose statistics are damaged ends the process.
    """
    end = len(content) - len(MAGIC) - 4
    size = int.from_bytes(content[end : end + 4], "little")
    if content[end + 4 :] != MAGIC or size > end:
        raise ValueError("expected a footer that is not encrypted")
    footer, _ = _fields(content, end - size, end)
    return _structs(footer, 4)


def _column(content: mmap, chunk: Fields, group: int, leaf: _Leaf) -> _Column:
    """Return what the headers of a column's pages say."""
    about = _struct(chunk, 3)
    sure = _count(about, 5, I64) * VALUE_BYTES
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
    return _Column(group, leaf, sure, named, dictionary, shared, longest_page)


def _pages(content: mmap, chunk: Fields) -> Iterator[_Page]:
    """Yield the pages of a column, by its Thrift struct `ColumnMetaData`.

    The decoder reads them until it has as many values as that says.
    """
    wanted, at, dictionary = (_count(chunk, number, I64) for number in (5, 9, 11))
    if 0 < dictionary < at:
        at = dictionary
    end = min(at + _count(chunk, 7, I64), len(content))
    values = 0
    while at < end and values < wanted:
        header, at = _fields(content, at, end)
        kind, size = _count(header, 1, I32), _count(header, 2, I32)
        at += _count(header, 3, I32)
        if kind == DICTIONARY_PAGE:
            yield _Page(is_dictionary=True, values=0, encoding=PLAIN, size=size)
        elif kind in ENCODING_OF_PAGE:
            struct, encoding = ENCODING_OF_PAGE[kind]
            about = _struct(header, struct)
            count = _count(about, 1, I32)
            yield _Page(False, count, _count(about, encoding, I32), size)
            values += count


def _structs(fields: Fields, number: int) -> list[Fields]:
    found = fields.get((number, LIST), [])
    if not all(isinstance(each, dict) for each in found):
        raise ValueError(UNKNOWN_FORM)
    return list(found)


def _struct(fields: Fields, number: int) -> Fields:
    found: Fields | None = fields.get((number, STRUCT))
    if found is None:
        raise ValueError(UNKNOWN_FORM)
    return found


def _count(fields: Fields, number: int, kind: int) -> int:
    value = int(fields.get((number, kind), 0))
    if value < 0:
        raise ValueError(UNKNOWN_FORM)
    return value


# Types of Thrift's compact protocol.
STOP, TRUE, FALSE, BYTE, I32, I64, DOUBLE, BINARY = 0, 1, 2, 3, 5, 6, 7, 8
LIST, SET, MAP, STRUCT = 9, 10, 11, 12
# In the place of a size that does not fit into four bits.
LONG_LIST = 15
# What describes a file nests less deep than this.
MOST_LEVELS = 12
UNKNOWN_FORM = "expected a description of the file that can be read, found damage"


def _fields(data: mmap, at: int, end: int, level: int = 0) -> tuple[Fields, int]:
    """Return the fields of a Thrift struct by their numbers, and where it ends."""
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
        found[number, head & 15], at = _value(data, at, end, head & 15, level)


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
