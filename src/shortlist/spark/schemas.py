"""The columns that travel between the stages of a plan, and those that come out."""

import pyarrow as pa

ITEMS = pa.schema(
    [
        ("position", pa.int64()),
        ("kind", pa.string()),
        ("time", pa.int64()),
        ("source", pa.string()),
        ("id", pa.string()),
        ("dead", pa.bool_()),
        ("line", pa.string()),
        ("reason", pa.string()),
    ]
)
"""Lines, read: `kind` is publication, command or reject; times are microseconds."""

ADMITTED = pa.schema(
    [
        ("position", pa.int64()),
        ("time", pa.int64()),
        ("line", pa.string()),
        ("reason", pa.string()),
        ("audience", pa.int64()),
        ("advertisement", pa.string()),
    ]
)
"""Publications, told apart from duplicates, with what their publisher's advertisements allow."""

NOMINATIONS = pa.schema(
    [
        ("position", pa.int64()),
        ("audience", pa.int64()),
        ("shortlist", pa.string()),
        ("score", pa.float64()),
    ]
)
"""A publisher's candidates; a score that cannot be computed is null."""

CHOSEN = pa.schema([("position", pa.int64()), ("shard", pa.int32()), ("shortlist", pa.string())])

PARTS = pa.schema(
    [
        ("time", pa.int64()),
        ("position", pa.int64()),
        ("file", pa.string()),
        ("note", pa.string()),
    ]
)
"""Files of deliveries that tasks wrote, each with the place of its first publication."""


def ddl(schema: pa.Schema) -> str:
    """The same columns as Spark writes them.

    >>> ddl(CHOSEN)
    'position bigint, shard int, shortlist string'
    """
    names = {
        pa.int64(): "bigint",
        pa.int32(): "int",
        pa.string(): "string",
        pa.bool_(): "boolean",
        pa.float64(): "double",
        pa.timestamp("us", tz="UTC"): "timestamp",
    }
    return ", ".join(f"{column.name} {names[column.type]}" for column in schema)
