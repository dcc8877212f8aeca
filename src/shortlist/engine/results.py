"""Deliveries as rows, and as lines of files."""

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from shortlist.engine.arrow import Row
from shortlist.model.delivery import Delivery, delivery_id
from shortlist.model.times import format_time

RESULTS = pa.schema(
    [
        ("id", pa.string()),
        ("time", pa.timestamp("us", tz="UTC")),
        ("shortlist", pa.string()),
        ("subscriber", pa.string()),
        ("source", pa.string()),
        ("publication", pa.string()),
        ("subscription", pa.string()),
        ("score", pa.float64()),
        ("possibility", pa.float64()),
        ("necessity", pa.float64()),
        ("rank", pa.int32()),
        ("cause", pa.string()),
        ("data", pa.string()),
        ("position", pa.int64()),
        ("note", pa.string()),
    ]
)
"""Deliveries, and notes (JSON) beside them: a shard's counts, or explanations."""

DELIVERY_COLUMNS = tuple(name for name in RESULTS.names if name not in ("data", "position", "note"))


def delivery_schema(with_data: bool) -> pa.Schema:
    """The columns of deliveries in a file."""
    names = [*DELIVERY_COLUMNS, *(["data"] if with_data else [])]
    return pa.schema([RESULTS.field(name) for name in names])


def delivery_row(delivery: Delivery, with_data: bool) -> Row:
    """A delivery as a row of RESULTS."""
    publication = delivery.publication
    return (
        delivery_id(delivery.shortlist, publication.source, publication.id),
        delivery.time,
        delivery.shortlist,
        delivery.subscriber,
        publication.source,
        publication.id,
        delivery.subscription,
        delivery.score,
        delivery.possibility,
        delivery.necessity,
        delivery.rank,
        delivery.cause,
        _json(publication.data) if with_data else None,
        publication.position,
        None,
    )


def delivery_line(row: Row) -> str:
    """A row of deliveries, with its time in microseconds, as a line of a file."""
    document = dict(zip(DELIVERY_COLUMNS, row, strict=False))
    document["time"] = format_time(document["time"])
    line = json.dumps(document, ensure_ascii=False)
    data = row[len(DELIVERY_COLUMNS)]
    return line if data is None else f'{line[:-1]}, "data": {data}}}'


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False)
