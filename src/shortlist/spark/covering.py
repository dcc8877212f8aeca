"""Who covers whom of very many rows, found by tasks on Spark: each has a slice of them."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from shortlist.covering.slices import CoveringOrder, FindCovering, Rows, Sliced, joined

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASKS_PER_CORE = 3
"""Slices do not take the same time: with some to spare no core waits long for the last."""
FOUND = pa.schema([("number", pa.int64()), ("found", pa.binary())])


@dataclass(frozen=True, slots=True)
class _FindSlices:
    """What a task does with the numbers of its slices."""

    rows: Any
    """Spark's broadcast of them: each process gets them once."""
    cuts: list[tuple[int, int]]

    def __call__(self, arriving: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in arriving:
            for number in batch.column(0).to_pylist():
                found = self.rows.value.covering(*self.cuts[number])
                yield pa.record_batch([[number], [pickle.dumps(found)]], schema=FOUND)


def covering_on(spark: SparkSession) -> FindCovering:
    """Finds it by tasks; how deep chains are is one pass over what they found."""

    def find(rows: Rows) -> CoveringOrder:
        sliced = Sliced.of(rows)
        cuts = sliced.cuts(TASKS_PER_CORE * spark.sparkContext.defaultParallelism)
        if not cuts:
            return joined([sliced.covering(0, 0)])
        sent = spark.sparkContext.broadcast(sliced)
        try:
            numbers = spark.range(0, len(cuts), 1, len(cuts))
            found = numbers.mapInArrow(
                _FindSlices(sent, cuts), "number bigint, found binary"
            ).toArrow()
        finally:
            sent.destroy()
        return joined([pickle.loads(one) for one in found.sort_by("number")["found"].to_pylist()])

    return find
