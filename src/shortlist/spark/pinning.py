"""Tasks that always meet the same Python process.

What a shard holds takes long to make, so a task has to meet the process that has it in memory.
Spark keeps a pool of Python workers for every environment that functions ask for, so each shard
asks for an environment of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHARD = "SHORTLIST_SHARD"


@contextmanager
def pinned(spark: SparkSession, shard: int) -> Iterator[None]:
    """What is mapped meanwhile runs in the process of a shard."""
    environment = spark.sparkContext.environment
    environment[SHARD] = str(shard)
    try:
        yield
    finally:
        del environment[SHARD]
