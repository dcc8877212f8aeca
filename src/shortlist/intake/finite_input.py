"""A finite input in this process: all lines of its files, or all rows of its tables."""

import bz2
import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from shortlist.intake.input_files import (
    NoInput,
    Places,
    input_files,
    is_table,
    most_unpacked,
)
from shortlist.intake.tables import (
    POSITION,
    check_sizes,
    check_tables,
    error_line,
    publication_texts,
    reading_table,
    row_lines,
)

AT_ONCE = 1 << 13
"""Lines or rows in a batch."""
# Values of a batch of a table: rows of very many columns become objects some at a time.
CELLS_AT_ONCE = 1 << 22
# Bytes of lines that are read at once, and that a batch has before it may have fewer lines.
PIECE_BYTES, BATCH_BYTES = 1 << 22, 1 << 26
# What a line takes beside its text where all are held at once.
LINE_BYTES = 64
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
OPENED: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".bz2": bz2.open}
LEFT_TO_SPARK = frozenset((".deflate", ".lz4", ".snappy", ".zst"))
LINES = pa.schema([("position", pa.int64()), ("line", pa.binary())])


def pieces_of(file: Path, most: int) -> Iterator[bytes]:
    """The content of a file, which may be compressed, cut at newlines, each piece without its last;
    what unpacks to more than `most` bytes is refused."""
    if file.suffix in LEFT_TO_SPARK:
        known = ", ".join(OPENED)
        raise NoInput(f"{file}: expected {known} or no compression; Spark reads others, too")
    content: BinaryIO
    begun: list[bytes] = []  # a line that goes on in the next chunk
    size = 0
    with OPENED.get(file.suffix, _opened)(file) as content:
        while chunk := _chunk(content, file):
            size += len(chunk)
            if size > most and file.suffix in OPENED:
                raise NoInput(f"{file}: expected at most {most:,} bytes unpacked, found more")
            if size == len(chunk):
                chunk = chunk.removeprefix(BYTE_ORDER_MARK)
            lines, newline, rest = chunk.rpartition(b"\n")
            if newline:
                yield b"".join([*begun, lines])
                begun.clear()
            if rest:
                begun.append(rest)
    if begun:
        yield b"".join(begun)


def _opened(file: Path) -> BinaryIO:
    return file.open("rb")


def _chunk(content: BinaryIO, file: Path) -> bytes:
    try:
        return content.read(PIECE_BYTES)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise NoInput(f"{file}: {error}") from None


@dataclass(frozen=True)
class FiniteInput:
    """Files in order of name, whose lines or rows are numbered through all of them, from 1."""

    files: tuple[Path, ...]
    tabular: bool
    _counts: dict[Path, int] = field(default_factory=dict, compare=False, repr=False)
    """Lines of each file that was read to its end."""

    @classmethod
    def at(cls, path: Path) -> "FiniteInput":
        files = tuple(input_files(path))
        tabular = is_table(files[0])
        if tabular:
            check_tables(files)
        return cls(files, tabular)

    def fits(self, most: int) -> bool:
        """Whether this process can read it, and it has no more than so many bytes: of tables, in
        memory; compressed lines are taken to be ten times as long."""
        if self.tabular:
            import pyarrow.parquet as pq

            found = (pq.read_metadata(file) for file in self.files)
            groups = (each.row_group(n) for each in found for n in range(each.num_row_groups))
            return bool(sum(group.total_byte_size for group in groups) <= most)
        if any(file.suffix in LEFT_TO_SPARK for file in self.files):
            return False
        sizes = ((10 if file.suffix in OPENED else 1, file.stat().st_size) for file in self.files)
        return sum(times * size for times, size in sizes) <= most

    @cached_property
    def places(self) -> Places:
        """Where positions come from."""
        if self.tabular:
            lengths = [*map(len, self._tables)]
        else:
            lengths = [self._counts.get(file) or self._counted(file) for file in self.files]
        return Places(tuple(file.name for file in self.files), tuple(accumulate(lengths)))

    def batches(self, at_once: int = AT_ONCE) -> Iterator[pa.RecordBatch]:
        """`position` and `line` of lines that are not empty; of tables `__position` and the
        columns."""
        if self.tabular:
            table = self._table
            most = max(1, CELLS_AT_ONCE // table.num_columns)
            yield from table.to_batches(max_chunksize=min(at_once, most))
            return
        first = 1
        for lines in self._cut(at_once):
            positions = np.arange(first, first + len(lines))
            first += len(lines)
            some = lines
            if b"" in lines:  # a few kilobytes may hold a hundred million of them
                positions = positions[[line != b"" for line in lines]]
                some = [line for line in lines if line]
            if some:
                yield pa.record_batch([positions, some], schema=LINES)

    def every_line(self) -> list[bytes]:
        """All lines, empty ones too; of tables the publications that rows stand for."""
        if self.tabular:
            texts = (publication_texts(batch) for batch in self.batches())
            return [text.encode() for some in texts for text in some]
        most = most_unpacked(self.files) // LINE_BYTES
        lines: list[bytes] = []
        for some in self._cut(AT_ONCE):
            lines += some
            if len(lines) > most:
                raise NoInput(f"{self.files[0]}: expected at most {most:,} lines, found more")
        return lines

    def _cut(self, at_once: int) -> Iterator[list[bytes]]:
        """All lines, so many at once, or fewer where they are long."""
        waiting: list[bytes] = []
        size = 0
        for piece in self._pieces():
            size += len(piece)
            waiting += piece.split(b"\n")
            whole = len(waiting) - len(waiting) % at_once
            for start in range(0, whole, at_once):
                yield waiting[start : start + at_once]
            if whole:
                del waiting[:whole]
                size = 0
            if size > BATCH_BYTES:
                yield waiting
                waiting, size = [], 0
        if waiting:
            yield waiting

    def _pieces(self) -> Iterator[bytes]:
        most = most_unpacked(self.files)
        for file in self.files:
            count = 0
            for piece in pieces_of(file, most):
                most -= len(piece)
                count += piece.count(b"\n") + 1
                yield piece
            self._counts[file] = count

    def _counted(self, file: Path) -> int:
        return sum(piece.count(b"\n") + 1 for piece in pieces_of(file, most_unpacked(self.files)))

    def line_batches(self, at_once: int = AT_ONCE) -> Iterator[pa.RecordBatch]:
        """`position` and `line`, of tables too: a row as the line that it could have been."""
        for batch in self.batches(at_once):
            if not self.tabular:
                yield batch
                continue
            yield pa.record_batch([batch.column(POSITION), row_lines(batch)], schema=LINES)

    def publication_text(self, position: int) -> str:
        """A row as the publication that it stands for."""
        (text,) = publication_texts(self._table.slice(position - 1, 1).to_batches()[0])
        return text

    @cached_property
    def _tables(self) -> list[pa.Table]:
        import pyarrow.parquet as pq

        check_sizes(self.files)
        found = []
        for file in self.files:
            with reading_table(file.name):
                table = pq.read_table(file)
                table.validate(full=True)
            found.append(table)
        return found

    @cached_property
    def _table(self) -> pa.Table:
        """The rows of all files; a column that a file does not have is null."""
        try:
            whole: Any = pa.concat_tables(self._tables, promote_options="permissive")
        except pa.ArrowException as error:
            what = "expected columns of the same types in all files"
            raise NoInput(f"{what}; {error_line(error)}") from None
        positions = pa.array(range(1, len(whole) + 1), pa.int64())
        return whole.append_column(POSITION, positions).combine_chunks()
