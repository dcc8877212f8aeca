"""Columns as Spark knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


def spark_schema(schema: pa.Schema) -> StructType:
    """The same columns for Spark."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)
