"""The deliveries of a batch: in order within a shard, then of all shards together."""

from collections.abc import Iterable

import pyarrow as pa

from shortlist.engine.deliveries import DELIVERIES, lines, put_in_order

DELIVERED = pa.schema([*DELIVERIES, ("line", pa.string())])
"""Deliveries as columns, and as lines of a file."""


def ordered_lines(results: pa.Table) -> pa.Table:
    """Rows of RESULTS as rows of DELIVERED, in order."""
    ordered = put_in_order(results.select(DELIVERIES.names))
    return ordered.append_column("line", lines(ordered, with_data=True).cast(pa.string()))


def together(tables: Iterable[pa.Table]) -> pa.Table:
    """The deliveries of all shards, in order."""
    return put_in_order(pa.concat_tables([DELIVERED.empty_table(), *tables]))
