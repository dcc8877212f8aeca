"""The deliveries of a batch: in order within a shard, then of all shards together."""

from collections.abc import Iterable

import pyarrow as pa

from shortlist.engine.arrow import rows
from shortlist.engine.results import RESULTS, delivery_lines

ORDER = [("time", "ascending"), ("position", "ascending"), ("shortlist", "ascending")]
KEPT = [name for name in RESULTS.names if name != "note"]
DELIVERED = pa.schema([*(RESULTS.field(name) for name in KEPT), ("line", pa.string())])
"""Deliveries as columns, and as lines of a file."""


def ordered_lines(results: pa.Table) -> pa.Table:
    """Rows of RESULTS as rows of DELIVERED, in order."""
    kept = results.select(KEPT).sort_by(ORDER)
    texts = kept.set_column(1, "time", kept.column("time").cast(pa.int64()))
    lines = pa.array(delivery_lines(rows(texts.to_batches())), pa.string())
    return kept.append_column("line", lines)


def together(tables: Iterable[pa.Table]) -> pa.Table:
    """The deliveries of all shards, in order."""
    joined = pa.concat_tables([DELIVERED.empty_table(), *tables])
    return joined.sort_by(ORDER)
