"""Output as files of a folder: one for each batch that led to something, in order of name."""

import os
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq

from shortlist.engine.deliveries import file_schema, file_text
from shortlist.live.files import make_durable
from shortlist.live.outlets import reject_lines

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
        self._folder = Path(folder)
        self._form = form
        self._columns = file_schema(with_data).names

    def deliver(self, before: int, deliveries: pa.Table) -> None:
        if self._form == "parquet":
            target = self._folder / "deliveries" / f"{before:012}.parquet"
            wanted = deliveries.select(self._columns)
            _write(target, lambda draft: pq.write_table(wanted, draft, store_schema=False))
        else:
            text = file_text(deliveries, with_data=True)
            _write(self._target("deliveries", before), lambda draft: draft.write_bytes(text))

    def depart(self, before: int, departures: pa.Table) -> None:
        self._lines("departures", before, departures.column("line").to_pylist())

    def reject(self, before: int, refusals: pa.Table) -> None:
        self._lines("rejects", before, [line.decode() for line in reject_lines(refusals)])

    def _lines(self, kind: str, before: int, lines: Sequence[str]) -> None:
        content = "".join(f"{line}\n" for line in lines).encode()
        _write(self._target(kind, before), lambda draft: draft.write_bytes(content))

    def _target(self, kind: str, before: int) -> Path:
        return self._folder / kind / f"{before:012}.jsonl"


def _write(target: Path, write: Callable[[Path], object]) -> None:
    """A file that is whole when it is there, and durable when this returns."""
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{uuid.uuid4().hex}")
    try:
        write(draft)
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.replace(target)
        make_durable(target.parent)
    finally:
        draft.unlink(missing_ok=True)
