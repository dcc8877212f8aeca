"""A finite input in this process: all lines of its files, or all rows of its tables."""

import bz2
import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa

from shortlist.intake.input_files import NoInput, Places, input_files, is_table
from shortlist.intake.tables import POSITION, check_tables, publication_texts, row_lines

AT_ONCE = 1 << 13
"""Lines or rows in a batch."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UNPACKED: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".bz2": bz2.decompress}
LEFT_TO_SPARK = frozenset((".deflate", ".lz4", ".snappy", ".zst"))
LINES = pa.schema([("position", pa.int64()), ("line", pa.binary())])


def lines_of(file: Path) -> list[bytes]:
    """The lines of a file, which may be compressed; the last counts without a newline too."""
    if file.suffix in LEFT_TO_SPARK:
        known = ", ".join(UNPACKED)
        raise NoInput(f"{file}: expected {known} or no compression; Spark reads others, too")
    content = file.read_bytes()
    if file.suffix in UNPACKED:
        try:
            content = UNPACKED[file.suffix](content)
        except (OSError, EOFError, ValueError) as error:
            raise NoInput(f"{file}: {error}") from None
    content = content.removeprefix(BYTE_ORDER_MARK)
    return content.removesuffix(b"\n").split(b"\n") if content else []


@dataclass(frozen=True)
class FiniteInput:
    """Files in order of name, whose lines or rows are numbered through all of them, from 1."""

    files: tuple[Path, ...]
    tabular: bool

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
        sizes = ((10 if file.suffix in UNPACKED else 1, file.stat().st_size) for file in self.files)
        return sum(times * size for times, size in sizes) <= most

    @cached_property
    def places(self) -> Places:
        """Where positions come from."""
        lengths = map(len, self._tables if self.tabular else self._lines)
        return Places(tuple(file.name for file in self.files), tuple(accumulate(lengths)))

    def batches(self, at_once: int = AT_ONCE) -> Iterator[pa.RecordBatch]:
        """`position` and `line`; of tables `__position` and the columns."""
        if self.tabular:
            yield from self._table.to_batches(max_chunksize=at_once)
            return
        every = [line for lines in self._lines for line in lines]
        for first in range(0, len(every), at_once):
            some = every[first : first + at_once]
            positions = range(first + 1, first + 1 + len(some))
            yield pa.record_batch([positions, some], schema=LINES)

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
    def _lines(self) -> list[list[bytes]]:
        return [lines_of(file) for file in self.files]

    @cached_property
    def _tables(self) -> list[pa.Table]:
        import pyarrow.parquet as pq

        return [pq.read_table(file) for file in self.files]

    @cached_property
    def _table(self) -> pa.Table:
        """The rows of all files; a column that a file does not have is null."""
        try:
            whole: Any = pa.concat_tables(self._tables, promote_options="permissive")
        except pa.ArrowException as error:
            what = "expected columns of the same types in all files"
            raise NoInput(f"{what}; {' '.join(str(error).split())}") from None
        positions = pa.array(range(1, len(whole) + 1), pa.int64())
        return whole.append_column(POSITION, positions).combine_chunks()
