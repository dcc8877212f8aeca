"""Rows of tables (Parquet, Arrow, DataFrames) as the documents that they stand for."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.compute as pc

from shortlist.intake.input_files import most_unpacked
from shortlist.intake.json_text import NotJson, parse_text
from shortlist.model.policy import POLICIES
from shortlist.model.problem import ShortlistError
from shortlist.model.times import END_OF_TIME, parse_time
from shortlist.model.wording import one_line

JSON_CELLS = ("policy", "norm", "at_least", "profile", "prefers")
"""Columns that may hold an object or a list as JSON text."""
WINDOWED = frozenset(
    kind
    for kind, policy in POLICIES.items()
    if any(field.name == "window" for field in fields(policy))
)
"""The kinds of policies with a window."""

CONTEXT_COLUMNS = frozenset(
    ("id", "source", "time", "type", "specversion", "expirytime", "audience", "replaces", "data")
)

POSITION = "__position"
"""No column of a user's has this name, so that all others may be data."""
SECONDS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""How many of each unit a second has."""
DAY = 24 * 60 * 60
FIRST, LAST = parse_time("0001-01-01T00:00:00Z") // 10**6, END_OF_TIME // 10**6
"""The first second that can be written, and the one behind the last."""


# Rows and bytes of a table that are made publications at once, to look at its beginning.
FEW_ROWS, FEW_BYTES = 64, 2**24


class NotATable(ShortlistError, ValueError):
    """Why a file cannot be read as a table."""


def read_rows(file: Path) -> list[dict[str, Any]]:
    """The documents of a Parquet file, or of a folder of them."""
    return [row_document(row) for row in _rows(file)]


def first_publication_lines(file: Path, count: int) -> list[bytes]:
    """The first publications of a Parquet file; fewer than asked for where they are long."""
    import pyarrow.parquet as pq

    lines: list[bytes] = []
    size = 0
    with pq.ParquetFile(file) as table:
        for batch in table.iter_batches(FEW_ROWS):
            some = [text.encode() for text in _publications(rows_of(batch))]
            lines += some
            size += sum(map(len, some))
            if len(lines) >= count or size > FEW_BYTES:
                break
    return lines[:count]


def check_tables(files: Iterable[Path]) -> None:
    """Raise `NotATable` for the first of these files that is not Parquet."""
    import pyarrow.parquet as pq

    for file in files:
        with reading_table(file.name):
            pq.read_schema(file)


def check_sizes(files: Sequence[Path]) -> None:
    """Raise `NotATable` for the first of these files that cannot be read, or with which they take
    more memory than their size on the disk warrants."""
    from shortlist.intake.parquet_sizes import table_size

    most = most_unpacked(files)
    for file in files:
        with reading_table(file.name):
            most -= table_size(file, most)


def row_publication(row: object) -> object:
    """A table's row as a publication: columns that are no context attribute are data.

    >>> row_publication({"id": "p", "rent": 900, "data": '{"rooms": 2}'})
    {'id': 'p', 'data': {'rent': 900, 'rooms': 2}}

    What is wrong with it is left for the reader of publications to find.
    """
    if not isinstance(row, Mapping):
        return row
    context = {name: value for name, value in row.items() if name in CONTEXT_COLUMNS}
    columns = {name: value for name, value in row.items() if name not in CONTEXT_COLUMNS}
    data = context.get("data")
    if isinstance(data, str):
        data = _json(data)
    if data is None or isinstance(data, Mapping):
        data = {**columns, **(data or {})}
    return {**context, "data": data}


def publication_texts(batch: pyarrow.RecordBatch) -> list[str]:
    """Rows of a table as the publications that they stand for, in JSON."""
    return _publications(rows_of(batch.drop_columns([POSITION])))


def _publications(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    documents = (row_publication(_json_value(row)) for row in rows)
    return [json.dumps(document, ensure_ascii=False) for document in documents]


def row_lines(batch: pyarrow.RecordBatch) -> list[bytes]:
    """Rows of a table as the lines that they could have been."""
    rows = rows_of(batch.drop_columns([POSITION]))
    return [json.dumps(_json_value(row), ensure_ascii=False).encode() for row in rows]


def rows_of(table: pyarrow.Table | pyarrow.RecordBatch) -> list[dict[str, Any]]:
    """Rows as Python has them; instants that RFC 3339 cannot write are texts that say so, and so
    are values that Python has none for.

    >>> late = pyarrow.array([0, 2**62], pyarrow.timestamp("us"))
    >>> rows_of(pyarrow.table({"time": late}))[1]
    {'time': '4611686018427387904 us since 1970'}
    """
    beyond: list[tuple[int, str, str]] = []
    for at, name in enumerate(table.schema.names):
        column = table.column(at)
        if not pyarrow.types.is_timestamp(column.type):
            continue
        is_known = known_instants(column)
        if pc.all(is_known).as_py() is False:
            kept = pc.if_else(is_known, column, None)
            for place in np.flatnonzero(~np.asarray(is_known)).tolist():
                number = column[place].value
                beyond.append((place, name, f"{number} {column.type.unit} since 1970"))
            table = table.set_column(at, name, kept)
    rows: list[dict[str, Any]]
    try:
        rows = table.to_pylist()
    except (ValueError, OverflowError):
        names, columns = table.schema.names, [*map(_values, table.columns)]
        rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    for place, name, text in beyond:
        rows[place][name] = text
    return rows


def _values(column: pyarrow.Array | pyarrow.ChunkedArray) -> list[Any]:
    """The values of a column, of which some may be beyond what Python has: days, durations."""
    found = []
    for value in column:
        try:
            found.append(value.as_py())
        except (ValueError, OverflowError):
            found.append(f"a {column.type} out of range")
    return found


def known_instants(column: pyarrow.Array | pyarrow.ChunkedArray) -> pyarrow.Array:
    """Which timestamps are null or can be written; on the first day and the last other zones than
    UTC may write a year that is none."""
    kind = column.type
    day = 0 if kind.tz in (None, "UTC") else DAY
    lowest, end = (SECONDS[kind.unit] * second for second in (FIRST + day, LAST - day))
    numbers = column.cast(pyarrow.int64())
    lowest, end = max(lowest, -(2**63)), min(end, 2**63 - 1)
    is_known = pc.and_(pc.greater_equal(numbers, lowest), pc.less(numbers, end))
    return pc.fill_null(is_known, True)


def _rows(file: Path) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    with reading_table():
        check_table(file)
        table = pq.read_table(file)
        table.validate(full=True)
        return rows_of(table)


def check_table(file: Path) -> None:
    """Check the size of one table as `check_sizes` does: a file, or a folder of Spark's files."""
    import pyarrow.parquet as pq

    from shortlist.intake.parquet_sizes import table_size

    with reading_table():
        parts = [Path(each.path) for each in pq.ParquetDataset(file).fragments]
        most = most_unpacked(parts)
        for part in parts:
            most -= table_size(part, most)


@contextmanager
def reading_table(name: str | None = None) -> Iterator[None]:
    """Raises `NotATable` where a table cannot be read, with the name of its file."""
    try:
        yield
    except NotATable:
        raise
    except (OSError, ValueError, ArithmeticError, MemoryError, pyarrow.ArrowException) as error:
        message = error_line(error) or "it does not fit into memory"
        raise NotATable(message if name is None else f"{name}: {message}") from None


def error_line(error: Exception) -> str:
    """Return the message of an error, which may have several lines, as one line."""
    return one_line(" ".join(str(error).split()))


def _json_value(cell: Any) -> Any:
    """A cell as Spark writes it in JSON, where null is left out.

    >>> _json_value({"tags": [("a", 1)], "x": float("nan"), "none": None})
    {'tags': {'a': 1}, 'x': 'NaN'}
    """
    match cell:
        case Mapping():
            return {name: _json_value(part) for name, part in cell.items() if part is not None}
        case [*pairs] if pairs and all(isinstance(pair, tuple) for pair in pairs):
            return {str(name): _json_value(part) for name, part in pairs if part is not None}
        case list():
            return [_json_value(part) for part in cell]
        case datetime():
            utc = cell.astimezone(UTC).replace(tzinfo=None) if cell.tzinfo else cell
            return f"{utc.isoformat(timespec='microseconds')}Z"
        case Decimal():
            return float(cell)
        case bytes():
            return b64encode(cell).decode()
        case float() if not isfinite(cell):
            return str(cell).replace("nan", "NaN").replace("inf", "Infinity")
        case str() | int() | float() | None:
            return cell
    return str(cell)


def row_document(row: Mapping[str, Any]) -> dict[str, Any]:
    """A table's row as a document: null is absent, and an object may be written as JSON text.

    >>> row_document({"id": "s", "where": None, "policy": '{"kind": "everything"}'})
    {'id': 's', 'policy': {'kind': 'everything'}}

    Text that is not the JSON it seems to be stays text, for the field to complain about. A column
    cannot tell a null window (everything) from none, and only policies that have one need it:

    >>> row_document({"id": "s", "policy": {"kind": "window", "k": 1, "window": None}})
    {'id': 's', 'policy': {'window': None, 'kind': 'window', 'k': 1}}
    """
    return {name: cell(name, value) for name, value in row.items() if value is not None}


def cell(name: str, value: Any) -> Any:
    """What a document has under a name, where a table's row has this in its column."""
    if name in JSON_CELLS and isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        return _json(value)
    if name in ("profile", "over") and isinstance(value, list):
        return _pairs(value, with_nulls=name == "over")
    if name == "policy" and isinstance(value, list):
        return [cell("", part) for part in value]
    if isinstance(value, Decimal):
        return int(value) if value.is_finite() and value % 1 == 0 else float(value)
    if isinstance(value, Mapping):
        kept = {key: cell(key, part) for key, part in value.items() if part is not None}
        return {"window": None, **kept} if kept.get("kind") in WINDOWED else kept
    return value


def _json(text: str) -> Any:
    try:
        return parse_text(text, distinct=True)
    except NotJson:
        return text


def _pairs(cells: list[Any], *, with_nulls: bool) -> Any:
    """Arrow gives a map as a list of pairs; a number that is null is absent, but for a scale."""
    if not all(isinstance(cell, tuple) and len(cell) == 2 for cell in cells):
        return cells
    return {
        name: cell(str(name), number) for name, number in cells if with_nulls or number is not None
    }
