"""A registry's files cut into parts: tasks read the subscriptions of each."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from shortlist.intake.files import documents_of, files_of_lines, not_json
from shortlist.intake.given import Given
from shortlist.intake.json_text import NotJson
from shortlist.intake.tables import check_table, reading_table
from shortlist.matching.arrays import Longs
from shortlist.model.problem import Problem

AT_ONCE = 1 << 17
"""Subscriptions of one piece: what is made of them meanwhile takes a few hundred megabytes."""
LEAST_ROWS, MOST_ROWS = 1 << 14, 1 << 18
LEAST_BYTES, MOST_BYTES = 1 << 21, 1 << 25
"""Of one part."""

Numbered = tuple[int, Problem]
"""What is wrong with an entry, and its number in the list."""


@dataclass(slots=True)
class Chunk:
    """Documents that are read and compiled together."""

    given: Given
    numbers: Longs
    """Of rows or lines, in order."""
    problems: list[Numbered] = field(default_factory=list)
    """Of lines that hold no document."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a file, from one byte to before another."""

    file: Path
    label: str
    start: int
    stop: int
    first: int
    """The number of the first one."""
    size: int
    """How many there are, about."""

    def chunks(self, at_once: int = AT_ONCE) -> Iterator[Chunk]:
        with self.file.open("rb") as content:
            content.seek(self.start)
            lines = BytesIO(content.read(self.stop - self.start))
        read = documents_of(lines, self.first)
        while some := [*islice(read, at_once)]:
            known = [(number, each) for number, each in some if not isinstance(each, NotJson)]
            bad = [
                (number, Problem(file=self.place(number)[0], message=not_json(each)))
                for number, each in some
                if isinstance(each, NotJson)
            ]
            given = Given.of_documents(each for _, each in known)
            yield Chunk(given, np.array([number for number, _ in known], np.int64), bad)

    def place(self, number: int) -> tuple[str, int | None]:
        """How messages name an entry: where it stands, and its number where that is no line."""
        return f"{self.label}:{number}", None


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a table, counted in one of its files from the first of some row groups on."""

    file: Path
    label: str
    groups: tuple[int, ...]
    start: int
    stop: int
    first: int

    @property
    def size(self) -> int:
        return self.stop - self.start

    def chunks(self, at_once: int = AT_ONCE) -> Iterator[Chunk]:
        import pyarrow.parquet as pq

        before, first = 0, self.first
        with reading_table(), pq.ParquetFile(self.file) as table:
            for batch in table.iter_batches(at_once, row_groups=[*self.groups]):
                start, stop = max(self.start - before, 0), min(self.stop - before, batch.num_rows)
                before += batch.num_rows
                if start < stop:
                    some = pa.Table.from_batches([batch.slice(start, stop - start)])
                    yield Chunk(Given.of_table(some), first + np.arange(some.num_rows))
                    first += some.num_rows

    def place(self, number: int) -> tuple[str, int | None]:
        return self.label, number


@dataclass(frozen=True, slots=True)
class Listed:
    """Documents that were read already."""

    label: str
    documents: Sequence[object]
    first: int

    @property
    def size(self) -> int:
        return len(self.documents)

    def chunks(self, at_once: int = AT_ONCE) -> Iterator[Chunk]:
        for start in range(0, len(self.documents), at_once):
            given = Given.of_documents(self.documents[start : start + at_once])
            yield Chunk(given, self.first + start + np.arange(len(given)))

    def place(self, number: int) -> tuple[str, int | None]:
        return self.label, number


Part = Lines | Rows | Listed
"""Some subscriptions of a registry: where they stand, and how they are read."""


def parts_of_file(file: Path, lanes: int) -> list[Part]:
    """A list of subscriptions in a file or a folder, in parts for so many processes; raises
    `NotATable` where it is none."""
    if file.suffix == ".parquet":
        with reading_table():
            check_table(file)
            return [*_table_parts(file, lanes)]
    return [
        part for each, label in files_of_lines(file) for part in _line_parts(each, label, lanes)
    ]


def parts_of_list(label: str, documents: Iterable[object], lanes: int) -> list[Part]:
    """The same of documents."""
    every = [*documents]
    size = _within(LEAST_ROWS, len(every) // (2 * lanes), MOST_ROWS)
    return [
        Listed(label, every[start : start + size], 1 + start)
        for start in range(0, len(every), size)
    ]


def _line_parts(file: Path, label: str, lanes: int) -> Iterator[Part]:
    size = os.stat(file).st_size
    wanted = _within(LEAST_BYTES, size // (2 * lanes), MOST_BYTES)
    number, start = 1, 0
    with file.open("rb") as content:
        while start < size:
            some = content.read(wanted) + content.readline()
            count = some.count(b"\n")
            yield Lines(file, label, start, start + len(some), number, count)
            number += count
            start += len(some)


def _table_parts(file: Path, lanes: int) -> Iterator[Part]:
    import pyarrow.parquet as pq

    fragments = pq.ParquetDataset(file).fragments
    groups = [
        (Path(each.path), group.id, group.num_rows)
        for each in fragments
        for group in each.row_groups
    ]
    wanted = _within(LEAST_ROWS, sum(rows for _, _, rows in groups) // (2 * lanes), MOST_ROWS)
    first = 1
    waiting: list[int] = []
    for place, (path, group, _) in enumerate(groups):
        waiting.append(group)
        following = groups[place + 1 : place + 2]
        count = sum(rows for _, _, rows in groups[place + 1 - len(waiting) : place + 1])
        if count < wanted and following and following[0][0] == path:
            continue
        for start in range(0, count, wanted):
            stop = min(start + wanted, count)
            yield Rows(path, file.name, tuple(waiting), start, stop, first)
            first += stop - start
        waiting = []


def _within(least: int, wanted: int, most: int) -> int:
    return max(least, min(wanted, most))
