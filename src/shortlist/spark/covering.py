"""Who covers whom of very many rows, found by tasks on Spark: each has a slice of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shortlist.covering.slices import CoveringOrder, FindCovering, Rows, Sliced, joined

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASKS_PER_CORE = 3
"""Slices do not take the same time: with some to spare no core waits long for the last."""


def covering_on(spark: SparkSession) -> FindCovering:
    """Finds it by tasks; how deep chains are is one pass over what they found."""
    context = spark.sparkContext

    def find(rows: Rows) -> CoveringOrder:
        sliced = Sliced.of(rows)
        cuts = sliced.cuts(TASKS_PER_CORE * context.defaultParallelism)
        if not cuts:
            return joined([sliced.covering(0, 0)])
        sent = context.broadcast(sliced)  # each process gets them once
        try:
            slices = context.parallelize(cuts, len(cuts))
            return joined(slices.map(lambda cut: sent.value.covering(*cut)).collect())
        finally:
            sent.destroy()

    return find
