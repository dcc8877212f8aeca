"""A file or folder that grows, read in order of name: places in it, and pieces of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq

from shortlist.intake.input_files import NoInput, Places, is_table
from shortlist.intake.tables import check_sizes
from shortlist.model.problem import ShortlistError

PIECE_BYTES = 1 << 20
PIECE_ROWS = 1 << 13
COMPRESSED = frozenset((".bz2", ".deflate", ".gz", ".lz4", ".snappy", ".zst"))
NEWLINE = 10


class ChangedBehind(ShortlistError):
    """A file that is not as it was when it was read, or stands before what was read already."""


class Place(NamedTuple):
    """Where reading stands: `at` counts bytes of lines, or rows of a table."""

    file: str = ""
    at: int = 0
    position: int = 0
    """Of the last line or row that was taken, through all files."""
    before: Mapping[str, int] = {}
    """The files before it that are still there, and how much was in them."""


class Piece(NamedTuple):
    """Some consecutive lines or rows of a file."""

    file: str
    start: int
    end: int
    position: int
    """Of the first."""
    length: int


@dataclass(frozen=True, slots=True)
class GrowingFiles:
    """Files in order of name; only the last may have a line that is not yet whole."""

    path: Path
    tabular: bool
    finite: bool = False
    """The last line counts without a newline too."""

    def listing(self) -> dict[str, int]:
        """What is there now: the files in order of name, with their bytes or rows."""
        found = {}
        for file in self._files():
            # A file that was read may be removed at any time.
            with suppress(FileNotFoundError):
                found[self._name(file)] = self._extent(file)
        return {name: found[name] for name in sorted(found) if found[name]}

    def advanced(
        self, start: Place, listing: Mapping[str, int], at_most: int | None = None
    ) -> Place:
        """The place behind as many of the lines of a listing as may be taken."""
        self._check(start, listing)
        ahead = {name: extent for name, extent in listing.items() if name >= start.file}
        place = start
        for piece in self._pieces(start, ahead, last_line=self.finite):
            allowed = None if at_most is None else start.position + at_most - place.position
            if allowed is not None and allowed <= piece.length:
                end = self._end(piece, allowed)
                return self._place(piece.file, end, place.position + allowed, listing)
            place = self._place(piece.file, piece.end, place.position + piece.length, listing)
        return place

    def between(self, start: Place, end: Place) -> list[Piece]:
        """The pieces from one place to a later one, the same whenever one asks."""
        until = {name: extent for name, extent in end.before.items() if name >= start.file}
        return list(self._pieces(start, {**until, end.file: end.at}, last_line=True))

    def places(self) -> Places:
        """Where the positions of all that is there now come from."""
        ends: dict[str, int] = {}
        for piece in self._pieces(Place(), self.listing(), last_line=True):
            ends[piece.file] = piece.position + piece.length - 1
        return Places(tuple(Path(name).name for name in ends), tuple(ends.values()))

    def lines(self, piece: Piece) -> list[bytes]:
        """The lines of a piece, without their newlines; a byte order mark is no part of one."""
        content = self._bytes(piece.file, piece.start, piece.end)
        if piece.start == 0:
            content = content.removeprefix(b"\xef\xbb\xbf")
        return content.removesuffix(b"\n").split(b"\n")

    def file(self, name: str) -> Path:
        return self.path / name if self.path.is_dir() else self.path

    def _files(self) -> Iterator[Path]:
        if self.path.is_file():
            yield self.path
            return
        if not self.path.is_dir():
            raise NoInput(f"{self.path}: expected a file or a folder, found nothing")
        for file in self.path.rglob("*"):
            *folders, _ = parts = file.relative_to(self.path).parts
            if file.is_dir() or any(part.startswith((".", "_")) for part in parts):
                continue
            if is_table(file) != self.tabular or not all(is_table(Path(one)) for one in folders):
                wanted = "Parquet" if self.tabular else "JSON lines"
                raise NoInput(f"{self.path}: expected {wanted}, found {self._name(file)}")
            if file.suffix in COMPRESSED:
                raise NoInput(f"{file}: is compressed, which only batches read")
            yield file

    def _name(self, file: Path) -> str:
        return file.name if file == self.path else file.relative_to(self.path).as_posix()

    def _extent(self, file: Path) -> int:
        status = file.stat()
        return _rows((file, status.st_size, status.st_mtime_ns)) if self.tabular else status.st_size

    def _place(self, file: str, at: int, position: int, listing: Mapping[str, int]) -> Place:
        before = {name: extent for name, extent in listing.items() if name < file}
        return Place(file, at, position, before)

    def _check(self, start: Place, listing: Mapping[str, int]) -> None:
        unit = "rows" if self.tabular else "bytes"
        for name, extent in listing.items():
            known = start.before.get(name)
            if name < start.file and known is None:
                raise ChangedBehind(
                    f"{self.file(name)}: expected a name behind {start.file}, which was begun"
                    " before this file came: files are read in order of name"
                )
            if known is not None and extent != known:
                raise ChangedBehind(
                    f"{self.file(name)}: was read to its end, {known} {unit}, and has {extent} now"
                )
        now = listing.get(start.file, 0)
        if now < start.at:
            raise ChangedBehind(
                f"{self.file(start.file)}: was read up to {start.at} {unit}, and has {now} now"
            )
        grew = not self.tabular and 0 < start.at < now
        if grew and self._bytes(start.file, start.at - 1, start.at) != b"\n":
            raise ChangedBehind(f"{self.file(start.file)}: its last line was taken, and grew")

    def _pieces(
        self, start: Place, until: Mapping[str, int], *, last_line: bool
    ) -> Iterator[Piece]:
        position = start.position + 1
        final = max(until, default="")
        for name in sorted(until):
            at = start.at if name == start.file else 0
            if self.tabular:
                cuts = _table_cuts(at, until[name])
            else:
                cuts = self._line_cuts(name, at, until[name], last_line or name != final)
            for begin, end, count in cuts:
                yield Piece(name, begin, end, position, count)
                position += count

    def _line_cuts(
        self, name: str, at: int, until: int, last_line: bool
    ) -> Iterator[tuple[int, int, int]]:
        begin = at
        while at < until:
            chunk = self._bytes(name, at, min(at + PIECE_BYTES, until))
            newlines = chunk.count(b"\n")
            if newlines:
                end = at + chunk.rindex(b"\n") + 1
                yield begin, end, newlines
                begin = end
            at += len(chunk)
        if last_line and begin < until:
            yield begin, until, 1

    def _end(self, piece: Piece, count: int) -> int:
        """Where the first lines or rows of a piece end."""
        if count == piece.length:
            return piece.end
        if self.tabular:
            return piece.start + count
        content = np.frombuffer(self._bytes(piece.file, piece.start, piece.end), np.uint8)
        return piece.start + int(np.flatnonzero(content == NEWLINE)[count - 1]) + 1

    def _bytes(self, name: str, start: int, end: int) -> bytes:
        with self.file(name).open("rb") as content:
            content.seek(start)
            found = content.read(end - start)
        if len(found) < end - start:
            raise ChangedBehind(f"{self.file(name)}: expected {end} bytes, found fewer")
        return found


def _table_cuts(at: int, until: int) -> Iterator[tuple[int, int, int]]:
    for begin in range(at, until, PIECE_ROWS):
        end = min(begin + PIECE_ROWS, until)
        yield begin, end, end - begin


@lru_cache(maxsize=1 << 16)
def _rows(written: tuple[Path, int, int]) -> int:
    """The rows of a Parquet file of some size and time: its end is read once."""
    file, _, _ = written
    check_sizes([file])
    metadata: Any = pq.read_metadata(file)
    return int(metadata.num_rows)
