"""Output: deliveries as JSON lines or Parquet, rejects as lines; in place only when all is well."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from shortlist.engine.arrow import Row
from shortlist.engine.deliveries import file_schema, file_text
from shortlist.intake.input_files import Places

if TYPE_CHECKING:
    import pyarrow.parquet as pq

FIRST_PART = "part-00000.parquet"
"""Of a Parquet folder, whose parts are in order of their names."""


def reject_lines(rejects: Iterable[Row], places: Places | None) -> Iterator[str]:
    """Rows of rejects as lines of a file."""
    for position, line, reason in rejects:
        place = str(position) if places is None else places.name(position)
        document = {"line": line, "position": place, "reason": reason}
        yield json.dumps(document, ensure_ascii=False)


def write_lines(lines: Iterable[str], out: Path) -> None:
    """A file of these lines."""
    with replacing(out) as whole:
        whole.write_bytes("".join(f"{line}\n" for line in lines).encode())


@contextmanager
def replacing(out: str | Path) -> Iterator[Path]:
    """Where to write a file or a folder that takes the place of `out` only if all goes well."""
    out = Path(out)
    with tempfile.TemporaryDirectory(dir=out.absolute().parent, prefix=".shortlist-") as folder:
        whole = Path(folder, f"new-{out.name}")
        yield whole
        if out.is_dir():
            shutil.rmtree(out)
        whole.replace(out)


@contextmanager
def delivery_writer(out: Path, with_data: bool) -> Iterator[Callable[[pa.Table], object]]:
    """Writes deliveries that come in order, some at a time: a Parquet folder if the name says so,
    else lines. What is written is in place only when all went well."""
    with replacing(out) as whole:
        if out.suffix != ".parquet":
            with whole.open("wb") as file:
                yield lambda deliveries: file.write(file_text(deliveries, with_data))
            return
        whole.mkdir()
        with DeliveryFile(whole / FIRST_PART, with_data) as parquet:
            yield parquet.write
        end_folder(whole, with_data)


class DeliveryFile:
    """A Parquet file of deliveries, some columns of which may be places in what they repeat."""

    def __init__(self, path: Path, with_data: bool) -> None:
        self._path = path
        self._names = file_schema(with_data).names
        self._writer: pq.ParquetWriter | None = None

    def __enter__(self) -> DeliveryFile:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def write(self, deliveries: pa.Table) -> None:
        table = deliveries.select(self._names)
        if self._writer is None:
            import pyarrow.parquet as pq

            # ids are never repeated, and no shorter when they are compressed
            named = [name for name in self._names if name != "id"]
            self._writer = pq.ParquetWriter(
                self._path,
                table.schema,
                use_dictionary=named,
                compression=dict.fromkeys(named, "SNAPPY") | {"id": "NONE"},
                # of names, the least and the largest take longer to find than all else to write
                write_statistics=["time"],
                store_schema=False,
            )
        self._writer.write_table(table)


def end_folder(folder: Path, with_data: bool) -> None:
    """All parts of a Parquet folder are there: at least one, which may be empty."""
    if not any(folder.iterdir()):
        import pyarrow.parquet as pq

        empty = file_schema(with_data).empty_table()
        pq.write_table(empty, folder / FIRST_PART, store_schema=False)
    (folder / "_SUCCESS").touch()


def join_files(files: Sequence[Path], whole: Path) -> None:
    """One file of all, the first of which becomes it."""
    if files:
        files[0].replace(whole)
    with whole.open("ab") as target:
        for file in files[1:]:
            with file.open("rb") as content:
                shutil.copyfileobj(content, target, 1 << 20)
            file.unlink()
