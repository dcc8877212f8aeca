"""Output as files of a folder: one for each batch that led to something, in order of name."""

from pathlib import Path

import pyarrow as pa

from shortlist.engine.deliveries import file_text
from shortlist.live.outlets import ForeignEntries, reject_lines
from shortlist.log.durable import make_durable, make_folder, write_whole


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

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder).absolute()

    def deliver(self, before: int, deliveries: pa.Table) -> None:
        self._put("deliveries", before, file_text(deliveries, with_data=True))

    def depart(self, before: int, departures: pa.Table) -> None:
        lines = departures.column("line").to_pylist()
        self._put("departures", before, "".join(f"{line}\n" for line in lines).encode())

    def reject(self, before: int, refusals: pa.Table) -> None:
        self._put("rejects", before, b"".join(line + b"\n" for line in reject_lines(refusals)))

    def _put(self, kind: str, before: int, content: bytes) -> None:
        """A file that is whole when it is there, and durable when this returns."""
        target = self._folder / kind / f"{before:012}.jsonl"
        make_folder(target.parent)
        if not target.exists():
            write_whole(target, content)
        elif target.read_bytes() != content:
            raise ForeignEntries(
                f"{target}: expected what was to be written, found something else: is it the"
                " output of another run?"
            )
        make_durable(target.parent)
