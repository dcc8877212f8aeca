"""Output as files of a folder: one for each batch that led to something, in order of name."""

import io
import os
import uuid
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq

from shortlist.engine.deliveries import file_schema, file_text
from shortlist.live.outlets import ForeignEntries, reject_lines
from shortlist.log.durable import make_durable, make_folder

Form = Literal["jsonl", "parquet"]


class FolderOutlet:
    """Files are named by the number of deliveries before them, so that none is written twice.

    >>> import tempfile
    >>> from shortlist.live.tables import REFUSALS, table_of
    >>> folder = Path(tempfile.mkdtemp())
    >>> outlet = FolderOutlet(folder)
    >>> refusals = table_of([(7, "{}", "expected an id", "unreadable")], REFUSALS)
    >>> for _ in range(2):
    ...     outlet.reject(0, refusals)
    >>> [path.relative_to(folder).as_posix() for path in folder.rglob("*.*")]
    ['rejects/000000000000.jsonl']
    """

    def __init__(self, folder: str | Path, form: Form = "jsonl", with_data: bool = False) -> None:
        self._folder = Path(folder).absolute()
        self._form = form
        self._columns = file_schema(with_data).names

    def deliver(self, before: int, deliveries: pa.Table) -> None:
        if self._form == "parquet":
            written = io.BytesIO()
            pq.write_table(deliveries.select(self._columns), written, store_schema=False)
            self._put("deliveries", before, written.getvalue())
        else:
            self._put("deliveries", before, file_text(deliveries, with_data=True))

    def depart(self, before: int, departures: pa.Table) -> None:
        lines = departures.column("line").to_pylist()
        self._put("departures", before, "".join(f"{line}\n" for line in lines).encode())

    def reject(self, before: int, refusals: pa.Table) -> None:
        self._put("rejects", before, b"".join(line + b"\n" for line in reject_lines(refusals)))

    def _put(self, kind: str, before: int, content: bytes) -> None:
        """A file that is whole when it is there, and durable when this returns."""
        form = self._form if kind == "deliveries" else "jsonl"
        target = self._folder / kind / f"{before:012}.{form}"
        make_folder(target.parent)
        if not target.exists():
            _write(target, content)
        elif not _is_same(target, content):
            raise ForeignEntries(
                f"{target}: expected what was to be written, found something else: is it the"
                " output of another run?"
            )
        make_durable(target.parent)


def _write(target: Path, content: bytes) -> None:
    draft = target.with_name(f".{uuid.uuid4().hex}")
    try:
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _is_same(target: Path, content: bytes) -> bool:
    """Tables may be written otherwise by another version of Arrow."""
    there = target.read_bytes()
    if there == content:
        return True
    if target.suffix != ".parquet":
        return False
    return bool(pq.read_table(io.BytesIO(there)).equals(pq.read_table(io.BytesIO(content))))
