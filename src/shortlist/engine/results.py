"""Deliveries as rows, and as lines of files."""

import json
from collections.abc import Iterable, Iterator, Mapping
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


def delivery_lines(rows: Iterable[Row]) -> Iterator[str]:
    """Rows of deliveries, with their times in microseconds, as lines of a file.

    Names and times are repeated often, so each is written out once.

    >>> row = ("36a6", 0, "L", "ann", "b", "p", "s", -2.0, 1.0, 0.5, None, "arrival", None)
    >>> [*delivery_lines([row])]
    ['{"id": "36a6", "time": "1970-01-01T00:00:00.000Z", "shortlist": "L", ... "rank": null, ...}']
    """
    texts: dict[str, str] = {}
    times: dict[int, str] = {}

    def text(name: str) -> str:
        known = texts.get(name)
        if known is None:
            known = texts[name] = json.dumps(name, ensure_ascii=False)
        return known

    for key, time, shortlist, subscriber, source, publication, subscription, *rest in rows:
        score, high, low, rank, cause, data, *_ = rest
        when = times.get(time)
        if when is None:
            when = times[time] = format_time(time)
        extra = "" if data is None else f', "data": {data}'
        yield (
            f'{{"id": "{key}", "time": "{when}", "shortlist": {text(shortlist)}, '
            f'"subscriber": {text(subscriber)}, "source": {text(source)}, '
            f'"publication": {text(publication)}, "subscription": {text(subscription)}, '
            f'"score": {score!r}, "possibility": {high!r}, "necessity": {low!r}, '
            f'"rank": {"null" if rank is None else rank}, "cause": "{cause}"{extra}}}'
        )


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False)
