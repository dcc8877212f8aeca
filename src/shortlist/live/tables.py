"""Rows as Arrow files, and back."""

from collections.abc import Iterable

import pyarrow as pa

from shortlist.engine.arrow import Row, batches

WAITING = pa.schema({"position": pa.int64(), "time": pa.int64(), "line": pa.string()})
"""Lines whose time has not passed yet."""

QUARANTINE = pa.schema(
    {"position": pa.int64(), "time": pa.int64(), "line": pa.string(), "reason": pa.string()}
)
"""What the engine fails on."""

REFUSALS = pa.schema(
    {"position": pa.int64(), "line": pa.string(), "reason": pa.string(), "why": pa.string()}
)

COMMANDS = pa.schema({"position": pa.int64(), "shortlist": pa.string(), "line": pa.string()})
"""Commands that were carried out; the shortlist is the only one that they concern."""

DEPARTED = pa.schema(
    {"time": pa.int64(), "position": pa.int64(), "shortlist": pa.string(), "line": pa.string()}
)
"""What left shortlists, or returned to them."""

HANDOVERS = pa.schema(
    {
        "time": pa.int64(),
        "position": pa.int64(),
        "shortlist": pa.string(),
        "subscriber": pa.string(),
    }
)
"""Shortlists that opened, closed (no subscriber) or went to another subscriber."""

ENTRIES = pa.schema({"content": pa.binary()})
"""Entries of a log."""

# shards have a core each: to wake threads takes longer than they would help
AS_IT_IS = pa.ipc.IpcWriteOptions(use_threads=False)
COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
ALONE = pa.ipc.IpcReadOptions(use_threads=False)
FEW_BYTES = 2**16
"""Up to here compression takes longer than to write what it saves."""


def table_of(rows: Iterable[Row], schema: pa.Schema) -> pa.Table:
    """Rows as columns.

    >>> table_of([(1, 5, "{}")], WAITING).to_pydict()
    {'position': [1], 'time': [5], 'line': ['{}']}
    """
    return pa.Table.from_batches(batches(rows, schema), schema)


def to_bytes(table: pa.Table) -> bytes:
    """What is small is not compressed."""
    sink = pa.BufferOutputStream()
    _write(table, sink, COMPRESSED if table.nbytes > FEW_BYTES else AS_IT_IS)
    return bytes(sink.getvalue())


def to_buffer(table: pa.Table) -> memoryview:
    """Of what is not kept for long: not compressed, and copied once, to a place of its size.

    >>> table = table_of([(1, 5, "{}")], WAITING)
    >>> bytes(to_buffer(table)) == to_bytes(table)
    True
    """
    counted = pa.MockOutputStream()
    _write(table, counted, AS_IT_IS)
    content = pa.allocate_buffer(counted.size())
    _write(table, pa.FixedSizeBufferWriter(content), AS_IT_IS)
    return memoryview(content)


def _write(table: pa.Table, sink: pa.NativeFile, options: pa.ipc.IpcWriteOptions) -> None:
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)


def of_bytes(content: bytes) -> pa.Table:
    """
    >>> of_bytes(to_bytes(table_of([(1, 5, "{}")], WAITING))).to_pydict()
    {'position': [1], 'time': [5], 'line': ['{}']}
    """
    with pa.ipc.open_stream(content, options=ALONE) as reader:
        return reader.read_all()


def joined(tables: Iterable[pa.Table], schema: pa.Schema) -> pa.Table:
    """All rows, one table after the other."""
    return pa.concat_tables([schema.empty_table(), *tables])
