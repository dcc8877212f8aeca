"""Where the output of a batch goes once it is committed; putting it there twice is harmless."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from shortlist.engine import deliveries as columns
from shortlist.engine.arrow import rows, text_bytes
from shortlist.engine.deliveries import put_in_order
from shortlist.live.files import Files
from shortlist.live.manifest import Manifest, Output
from shortlist.live.tables import DEPARTED, HANDOVERS, joined, of_bytes
from shortlist.log.base import DELIVERIES, DEPARTURES, REJECTS, Log
from shortlist.log.base import HANDOVERS as HANDOVERS_STREAM
from shortlist.log.durable import local_path, make_durable, make_folder, write_whole
from shortlist.model.joined import Joined, JoinedTexts
from shortlist.model.problem import ShortlistError


class Outlet(Protocol):
    """Takes what a batch led to, in order; `before` says how much there was before it."""

    def deliver(self, before: int, deliveries: pa.Table) -> None:
        """Rows of `engine.deliveries.DELIVERIES`."""
        ...

    def reject(self, before: int, refusals: pa.Table) -> None:
        """Rows of REFUSALS."""
        ...

    def depart(self, before: int, departures: pa.Table) -> None:
        """Rows of DEPARTED: what left shortlists, where that was asked for."""
        ...


@runtime_checkable
class Recorder(Protocol):
    """An outlet that also records whose shortlists are, as the log does."""

    def hand_over(self, before: int, handovers: pa.Table) -> None:
        """Rows of HANDOVERS, with the columns `deliveries` and `departures`: how many of each there
        were before the shortlist opened, closed or went to another subscriber."""
        ...


class ForeignEntries(ShortlistError):
    """A stream that holds something else than what was written to it."""


def put_out(manifest: Manifest, files: Files, outlet: Outlet) -> pa.Table:
    """Brings what the last batch led to where it belongs, if it is not there already; its
    deliveries."""

    def tables(output: Output) -> Iterator[pa.Table]:
        return (of_bytes(files.read(name)) for name in output.files)

    deliveries = put_in_order(joined(tables(manifest.deliveries), columns.DELIVERIES))
    left = DEPARTED.empty_table()
    if manifest.departures.files:
        left = put_in_order(joined(tables(manifest.departures), DEPARTED))
    if manifest.handovers.files and isinstance(outlet, Recorder):
        handovers = joined(tables(manifest.handovers), HANDOVERS)
        for name, rows_before, output in (
            ("deliveries", deliveries, manifest.deliveries),
            ("departures", left, manifest.departures),
        ):
            counts = output.before + rows_ahead(handovers, rows_before)
            handovers = handovers.append_column(name, pa.array(counts))
        # ahead of the deliveries: a reader of one that came to the new subscriber finds them
        outlet.hand_over(manifest.handovers.before, handovers)
    if deliveries.num_rows:
        outlet.deliver(manifest.deliveries.before, deliveries)
    for refusals in tables(manifest.rejects):
        outlet.reject(manifest.rejects.before, refusals)
    if left.num_rows:
        outlet.depart(manifest.departures.before, left)
    return deliveries


def rows_ahead(handovers: pa.Table, ordered: pa.Table) -> NDArray[np.int64]:
    """Return, for each handover, how many rows of an ordered table come ahead of it.

    A shortlist opens empty: all that a former subscriber got is of publications that stand ahead of
    the command, and all that the new one gets of publications behind it.

    >>> some = {"position": [5], "shortlist": ["a"], "subscriber": ["ann"]}
    >>> rows = pa.table({"time": [1, 2, 2, 3], "position": [1, 4, 6, 2]})
    >>> rows_ahead(pa.table({"time": [2], **some}), rows)
    array([2])
    """
    times, positions = (
        ordered.column(name).combine_chunks().cast(pa.int64()).to_numpy()
        for name in ("time", "position")
    )
    instants = handovers.column("time").to_numpy()
    first, end = (np.searchsorted(times, instants, side) for side in ("left", "right"))
    spans = zip(first, end, handovers.column("position").to_numpy(), strict=True)
    found = [
        start if start == stop else start + np.searchsorted(positions[start:stop], at)
        for start, stop, at in spans
    ]
    return np.array(found, np.int64)


MOST_LETTERS = 1000
"""Of a text in a line that is too long for a log."""
SMALL = 2**12
"""Bytes that every log takes."""


class LogOutlet:
    """The streams of a log.

    >>> from shortlist.log.opening import open_log
    >>> from shortlist.live.tables import REFUSALS, table_of
    >>> import tempfile
    >>> log = open_log(f"sqlite:{tempfile.mkdtemp()}/log.db")
    >>> refusals = table_of([(7, "{}", "expected an id", "unreadable")], REFUSALS)
    >>> for _ in range(2):
    ...     LogOutlet(log).reject(0, refusals)
    >>> [entry.content for entry in log.read("rejects", 0)]
    [b'{"line": "{}", "position": "7", "reason": "expected an id"}']
    """

    def __init__(self, log: Log) -> None:
        self._log = log

    def deliver(self, before: int, deliveries: pa.Table) -> None:
        lines = columns.lines(deliveries, with_data=True)
        self._put(DELIVERIES, before, joined_texts(lines), deliveries)

    def reject(self, before: int, refusals: pa.Table) -> None:
        self._put(REJECTS, before, Joined.of([*reject_lines(refusals)]))

    def depart(self, before: int, departures: pa.Table) -> None:
        lines = departures.column("line").combine_chunks()
        self._put(DEPARTURES, before, joined_texts(lines), departures)

    def hand_over(self, before: int, handovers: pa.Table) -> None:
        lines = Joined.of([*handover_lines(handovers)])
        self._put(HANDOVERS_STREAM, before, lines, handovers)

    def _put(self, stream: str, before: int, lines: Joined, keyed: pa.Table | None = None) -> None:
        """Lines whose keys are the shortlists of a table, if they have any."""
        if np.diff(lines.stops, prepend=lines.start).max(initial=0) > SMALL:
            longest = self._log.longest
            lines = Joined.of([shortened(line, longest) for line in lines])
        end = self._log.end(stream)
        done = end - before
        if not 0 <= done <= len(lines):
            raise ForeignEntries(
                f"{stream}: expected between {before} and {before + len(lines)} entries, "
                f"found {end}: does somebody else write to it?"
            )
        there = [entry.content for entry in self._log.read(stream, before, end)]
        if there != [*lines[:done]]:
            raise ForeignEntries(f"{stream}: found other entries behind {before} than were written")
        if done < len(lines):
            keys = None
            if keyed is not None:
                named = keyed.column("shortlist").slice(done).combine_chunks()
                keys = JoinedTexts(joined_texts(named))
            self._log.append(stream, lines[done:], keys=keys, expected_end=end)


class FolderOutlet:
    """Files in a folder: one for each batch that led to something, in order of name.

    They are named by the number of deliveries before them, so that none is written twice.

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
        self._folder = local_path(folder).absolute()

    def deliver(self, before: int, deliveries: pa.Table) -> None:
        self._put("deliveries", before, columns.file_text(deliveries, with_data=True))

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


def joined_texts(texts: pa.StringArray | pa.LargeStringArray) -> Joined:
    """The texts of a column as they are appended to a log."""
    content, starts = text_bytes(texts)
    return Joined(content, starts[1:], int(starts[0]))


def shortened(line: bytes, longest: int | None) -> bytes:
    """A JSON object that has no more bytes than a log takes: a line that does not fit would keep
    all behind it from being put out. It has no `data` then, and only the beginning of long texts.

    >>> shortened(b'{"position": "7", "line": "' + b"x" * 2000 + b'"}', 1500)
    b'{"position": "7", "line": "xxx...x\xe2\x80\xa6"}'
    """
    if longest is None or len(line) <= longest:
        return line
    document = json.loads(line)
    document.pop("data", None)
    for name, value in document.items():
        if isinstance(value, str) and len(value) > MOST_LETTERS:
            document[name] = f"{value[:MOST_LETTERS]}…"
    return json.dumps(document, ensure_ascii=False).encode()


def handover_lines(handovers: pa.Table) -> Iterator[bytes]:
    """Handovers, as entries of a log."""
    return map(orjson.dumps, handovers.drop_columns("time").to_pylist())


def reject_lines(refusals: pa.Table) -> Iterator[bytes]:
    """What was turned away, as lines of a file."""
    for position, line, reason, _ in rows(refusals.to_batches()):
        place = None if position is None else str(position)
        document = {"line": line, "position": place, "reason": reason}
        yield json.dumps(document, ensure_ascii=False).encode()
