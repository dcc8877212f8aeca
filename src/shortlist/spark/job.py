"""Jobs on Spark: as a batch, or through the streaming query."""

from __future__ import annotations

import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shortlist.intake.finite_input import FiniteInput
from shortlist.intake.growing_files import GrowingFiles
from shortlist.jobs.job import Counts, Job, Streamed
from shortlist.jobs.parts import put_parts
from shortlist.jobs.streamed import run_stream
from shortlist.jobs.walk import run_job
from shortlist.live.driver import Driver
from shortlist.live.registry_folder import CompiledRegistry
from shortlist.model.registry import Registry
from shortlist.spark.batch import Batch
from shortlist.spark.session import any_session, is_local
from shortlist.spark.sinks import write_deliveries, write_explanations, write_rejects
from shortlist.spark.sources import read_files
from shortlist.spark.streaming import Stream, stream_files
from shortlist.spark.tasks import Lanes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_AT_HAND = 2**30
"""Bytes of an input that this process reads itself where tasks run on this machine, too."""


@dataclass(frozen=True, slots=True)
class OnSpark:
    """A ground for jobs: a session on this machine, or of a master."""

    master: str | None = None
    most_at_hand: int = MOST_AT_HAND

    def batch(self, job: Job) -> tuple[Counts, int]:
        spark = self._session(job)
        if is_local(spark) and FiniteInput.at(job.source).fits(self.most_at_hand):
            # items are read once, in this process, and mapped by all tasks
            with closing(Lanes(spark)) as lanes:
                return run_job(job, lanes, job.shards or spark.sparkContext.defaultParallelism)
        registry = job.registry
        if isinstance(registry, CompiledRegistry) and not is_local(spark):
            registry = registry.registry()  # elsewhere its files may not be seen
        return _through_spark(job, registry, spark)

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


def _through_spark(
    job: Job, registry: Registry | CompiledRegistry, spark: SparkSession
) -> tuple[Counts, int]:
    """As DataFrames: on a cluster, or where one process could not hold what is read."""
    outputs, steps = job.outputs, job.steps
    with steps.step("Reading"):
        lines = read_files(spark, job.source)
        batch = Batch(
            lines,
            registry,
            job.settings,
            commands=job.commands,
            shards=job.shards or 0,
            with_data=job.with_data,
            keep=True,
        )
        passes = batch.passes
    counts = _deliver(batch, job, passes)
    with steps.step("Writing the rest"):
        rejected = write_rejects(batch.rejects, lines.places, outputs.rejects)
        if outputs.explanations is not None:
            write_explanations(batch.explanations, outputs.explanations)
    batch.release()
    return counts, rejected


def _deliver(batch: Batch, job: Job, passes: int) -> Counts:
    """Selects, and writes what is selected; where tasks see the files of this machine, without the
    JVM."""
    out, steps, spark = job.outputs.deliveries, job.steps, batch.lines.frame.sparkSession
    if is_local(spark):
        scratch = tempfile.TemporaryDirectory(prefix="shortlist-")
        with scratch as folder, closing(Lanes(spark)) as lanes:
            with steps.counted("Matching and selecting", passes) as batch.progress:
                selected = batch.select_into(folder)
            with steps.step("Writing"):
                put_parts(lanes, selected, out, job.with_data, batch.shards)
        return batch.total(each.counts for each in selected)
    with steps.counted("Matching and selecting", passes) as batch.progress:
        counts = batch.counts()
    with steps.step("Writing"):
        delivered = counts.get("arrival", 0) + counts.get("promotion", 0)
        write_deliveries(batch.deliveries, out, delivered)
    return counts
