"""Rows of tables to items as columns: what has a type already is not made text on the way."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shortlist.intake.attributes import value_columns
from shortlist.intake.reading import LineReader
from shortlist.intake.tables import CONTEXT_COLUMNS, POSITION, known_instants, row_lines
from shortlist.model.items import ATTRIBUTES, PUBLICATION, Items, Wanted
from shortlist.model.paths import Path, format_path
from shortlist.model.settings import Limits
from shortlist.model.times import parse_times
from shortlist.model.vocabulary import Vocabulary

Array = npt.NDArray[Any]
SIMPLE = {
    *(pa.string(), pa.bool_(), pa.null(), pa.float32(), pa.float64()),
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
}
"""Types of values that can be read in columns."""
REQUIRED = ("id", "source", "time")
TEXT = "text"
ODD_NUMBERS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
"""As JSON texts have them, that knows no such numbers."""


class TableReader:
    """Reads rows of a table: `__position`, `id`, `source`, `time`; all other columns are data.

    Rows of the form that most have are read column by column; all others, and all that is wrong,
    one by one, as the lines that they could have been.

    >>> rows = pa.RecordBatch.from_pylist([
    ...     {"__position": 1, "id": "a", "source": "s", "time": "1970-01-01T00:00:01Z", "rent": 9},
    ...     {"__position": 2, "id": "b", "source": "s", "time": "tonight", "rent": None}])
    >>> read = TableReader(Vocabulary(), Limits(), Wanted(frozenset([("rent",)])))
    >>> items = read.items(rows)
    >>> items.kinds.tolist(), items.positions.tolist()
    ([0, 3], [1, 2])
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits, wanted: Wanted) -> None:
        self._lines = LineReader(vocabulary, limits, wanted, commands=False, tabular=True)
        self._limits = limits
        self._wanted = wanted

    def items(self, batch: pa.RecordBatch) -> Items:
        if not batch.num_rows:
            return Items.empty(self._wanted)
        is_usual, times = self._usual(batch)
        if is_usual.all():
            return self._in_columns(batch, times)
        others = batch.filter(pa.array(~is_usual))
        one_by_one = self._lines.lines(others.column(POSITION).to_pylist(), row_lines(others))
        if not is_usual.any():
            return one_by_one
        in_columns = self._in_columns(batch.filter(pa.array(is_usual)), times[is_usual])
        return Items.joined([in_columns, one_by_one])

    def _usual(self, batch: pa.RecordBatch) -> tuple[Array, Array]:
        """Which rows can be read in columns, and the times of these."""
        nobody = np.zeros(batch.num_rows, np.bool_), np.zeros(batch.num_rows, np.int64)
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        if (
            self._limits.nesting < 1
            or self._wanted.data
            or "data" in columns
            or not columns.keys() >= {*REQUIRED}
        ):
            return nobody
        data = [name for name in columns if name not in CONTEXT_COLUMNS and name != POSITION]
        if not all(columns[name].type in SIMPLE for name in data):
            return nobody
        is_long = self._longest(columns) > self._limits.payload_bytes
        if is_long or len(data) > self._limits.attributes:
            return nobody
        times, has_time = _times(columns["time"])
        is_usual = has_time & np.asarray(columns[POSITION].is_valid())
        for name in ("id", "source"):
            if not pa.types.is_string(columns[name].type):
                return nobody
            length = np.asarray(pc.utf8_length(columns[name]).fill_null(0))
            is_usual &= (length > 0) & (length <= self._limits.id_length)
        for name in CONTEXT_COLUMNS.intersection(columns) - {*REQUIRED}:
            is_usual &= np.asarray(columns[name].is_null())
        return is_usual, times

    @staticmethod
    def _longest(columns: dict[str, pa.Array]) -> int:
        """No row is longer as a line."""
        longest = 0
        for name, column in columns.items():
            longest += len(name) + 64
            if pa.types.is_string(column.type):
                # a character takes six letters at most
                longest += 6 * (pc.max(pc.binary_length(column)).as_py() or 0)
        return longest

    def _in_columns(self, batch: pa.RecordBatch, times: Array) -> Items:
        size = batch.num_rows
        paths = sorted(self._wanted.paths, key=format_path)
        values = {format_path(path): self._value(batch, path) for path in paths}
        columns = {
            "position": batch.column(POSITION).cast(pa.int64()),
            "kind": np.full(size, PUBLICATION, np.int8),
            "time": times,
            "event_time": times,
            "source": batch.column("source"),
            "id": batch.column("id"),
            ATTRIBUTES: value_columns(values, size),
        }
        return Items.of_columns(size, columns, self._wanted)

    @staticmethod
    def _value(batch: pa.RecordBatch, path: Path) -> dict[str, pa.Array]:
        """The columns of one attribute that are not empty."""
        name = path[0]
        if len(path) > 1 or name not in batch.schema.names or name in (POSITION, *CONTEXT_COLUMNS):
            return {}
        column = batch.column(name)
        kind = column.type
        if pa.types.is_string(kind):
            return {TEXT: column}
        if pa.types.is_boolean(kind):
            words = pa.array(["false", "true"])
            return {"other": words.take(column.cast(pa.int8()))}
        numbers = column.cast(pa.float64(), safe=False)
        if not pa.types.is_floating(kind):
            return {"number": numbers}
        is_finite = pc.fill_null(pc.is_finite(numbers), True)
        if pc.all(is_finite).as_py() in (True, None):
            return {"number": numbers}
        odd = pc.if_else(is_finite, None, numbers.cast(pa.string()))
        words = pa.array(map(ODD_NUMBERS.get, odd.to_pylist()), pa.string())
        return {"number": pc.if_else(is_finite, numbers, None), TEXT: words}


def _times(column: pa.Array) -> tuple[Array, Array]:
    """Times in microseconds, and which rows have one."""
    if pa.types.is_timestamp(column.type):
        kept = column.cast(pa.timestamp("us", tz=column.type.tz), safe=False).cast(pa.int64())
        is_known = np.asarray(column.is_valid()) & np.asarray(known_instants(column))
        return np.asarray(kept.fill_null(0)), is_known
    if not pa.types.is_string(column.type):
        return np.zeros(len(column), np.int64), np.zeros(len(column), np.bool_)
    texts: Sequence[str] = column.fill_null("").to_pylist()
    times = parse_times(texts)
    is_time = np.array([time is not None for time in times], np.bool_)
    return np.array([time or 0 for time in times], np.int64), is_time
