"""The format `shortlist_log`: a stream of a log as source and sink of streams and batches."""

from __future__ import annotations

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from pyspark.sql.types import StructType

from shortlist.spark.log_sink import LogBatchWriter, LogStreamWriter, LogWriter
from shortlist.spark.log_source import ENTRIES_DDL, LogReader, LogStreamReader


class LogFormat(DataSource):
    """Options: see docs/sources.md."""

    @classmethod
    def name(cls) -> str:
        return "shortlist_log"

    def schema(self) -> str:
        return ENTRIES_DDL

    def reader(self, schema: StructType) -> DataSourceReader:
        return LogReader(self.options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        return LogStreamReader(self.options)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        return LogBatchWriter(LogWriter(self.options, schema, overwrite))

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802
        return LogStreamWriter(LogWriter(self.options, schema, overwrite))
