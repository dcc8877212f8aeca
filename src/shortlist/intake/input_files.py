"""Which files an input is, and where the positions of its lines and rows come from."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from shortlist.model.problem import ShortlistError

# Bytes that compressed files and tables may take once they are unpacked, whatever their size, and
# times their size. What is made for use takes up to 40 times its size; bombs take a thousand times.
MOST_UNPACKED, UNPACKED_PER_BYTE = 2**29, 100


class NoInput(ShortlistError):
    """Input that is not there, or of no form that can be read."""


def most_unpacked(files: Iterable[Path]) -> int:
    """Bytes that the contents of these files may take together once they are unpacked."""
    return max(MOST_UNPACKED, UNPACKED_PER_BYTE * sum(file.stat().st_size for file in files))


@dataclass(frozen=True, slots=True)
class Places:
    """Where positions come from: each file's lines follow those of the file before it."""

    files: tuple[str, ...]
    ends: tuple[int, ...]

    def name(self, position: int) -> str:
        """The file and line of a position.

        >>> Places(("a.jsonl", "b.jsonl"), (10, 15)).name(12)
        'b.jsonl:2'
        """
        index = bisect_left(self.ends, position)
        start = self.ends[index - 1] if index else 0
        return f"{self.files[index]}:{position - start}"


def input_files(path: Path) -> list[Path]:
    """The files that a path stands for, all JSON lines or all Parquet, in order of name."""
    if path.is_file():
        if path.name.startswith((".", "_")):
            raise NoInput(
                f"{path}: Spark passes over names that start with . or _: rename the file"
            )
        return [path]
    if not path.is_dir():
        raise NoInput(f"{path}: expected a file or a folder, found nothing")
    files: list[Path] = []
    for entry in sorted(path.iterdir()):
        if entry.name.startswith((".", "_")):
            continue
        if entry.is_dir() and not is_table(entry):
            raise NoInput(f"{path}: expected files in this folder, found the folder {entry.name}")
        files += input_files(entry)
    if not files:
        raise NoInput(f"{path}: expected files in this folder, found none")
    if len({is_table(file) for file in files}) > 1:
        raise NoInput(f"{path}: expected JSON lines or Parquet, found both")
    return files


def is_table(path: Path) -> bool:
    """A Parquet file, or a folder of them as Spark writes it."""
    return path.suffix == ".parquet"
