"""Jobs on Spark: as a batch, or through the streaming query."""

from __future__ import annotations

import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shortlist.intake.growing_files import GrowingFiles
from shortlist.jobs.job import Counts, Job, Streamed
from shortlist.jobs.streamed import run_stream
from shortlist.live.driver import Driver
from shortlist.spark.batch import Batch
from shortlist.spark.session import any_session
from shortlist.spark.sinks import (
    write_deliveries,
    write_explanations,
    write_from_files,
    write_rejects,
)
from shortlist.spark.sources import read_files
from shortlist.spark.streaming import Stream, stream_files
from shortlist.spark.tasks import Lanes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class OnSpark:
    """A ground for jobs: a session on this machine, or of a master."""

    master: str | None = None

    def batch(self, job: Job) -> tuple[Counts, int]:
        outputs, steps, spark = job.outputs, job.steps, self._session(job)
        with steps.step("Reading"):
            lines = read_files(spark, job.source)
            batch = Batch(
                lines,
                job.registry,
                job.settings,
                commands=job.commands,
                shards=job.shards or 0,
                with_data=job.with_data,
                keep=True,
            )
            passes = batch.passes
        if batch.is_stateless:
            with steps.told("Compiling the registry", len(job.registry.subscriptions)) as told:
                batch.prepare(processes=None, progress=told)
        counts = _deliver(batch, job, passes)
        with steps.step("Writing the rest"):
            rejected = write_rejects(batch.rejects, lines.places, outputs.rejects)
            if outputs.explanations is not None:
                write_explanations(batch.explanations, outputs.explanations)
        batch.release()
        return counts, rejected

    def stream(self, job: Job, how: Streamed) -> tuple[Counts, int]:
        spark = self._session(job)
        lines = stream_files(spark, job.source, finite=True, at_most=how.at_most)

        def feed(driver: Driver) -> None:
            with tempfile.TemporaryDirectory(prefix="shortlist-") as checkpoint:
                stream = Stream(lines, driver, Path(checkpoint), commands=job.commands)
                stream.run_to_the_end()

        cores = spark.sparkContext.defaultParallelism
        files = GrowingFiles(job.source, lines.tabular, finite=True)
        with closing(Lanes(spark)) as lanes:
            return run_stream(job, how, lanes, cores, feed, files.places)

    def _session(self, job: Job) -> SparkSession:
        with job.steps.step("Starting Spark"):
            return any_session(self.master)


def _deliver(batch: Batch, job: Job, passes: int) -> Counts:
    """Selects, and writes what is selected: as much of it in tasks as run on this machine."""
    out, steps = job.outputs.deliveries, job.steps
    with tempfile.TemporaryDirectory(prefix="shortlist-") as folder:
        with steps.counted("Matching and selecting", passes) as batch.progress:
            if batch.is_stateless and out.suffix == ".parquet":
                return batch.write_parts(out)
            if batch.is_local and not batch.is_stateless:
                counts, files = batch.select_to_files(folder)
            else:
                counts, files = batch.counts(), None
        delivered = counts.get("arrival", 0) + counts.get("promotion", 0)
        with steps.step("Writing"):
            if files is None:
                write_deliveries(batch.deliveries, out, delivered)
            else:
                write_from_files(
                    batch.lines.frame.sparkSession, files, out, job.with_data, delivered
                )
    return counts
