"""A finite input through the driver of a deployment, whose state is of this job only."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from shortlist.engine.arrow import rows
from shortlist.intake.input_files import Places
from shortlist.jobs.job import Counts, Job, Streamed
from shortlist.jobs.sinks import delivery_writer, reject_lines, write_lines
from shortlist.live.driver import Driver, begin
from shortlist.live.files import Files
from shortlist.live.registers import FolderRegisters
from shortlist.live.tasks import Run
from shortlist.model.counts import OTHER_TYPE, labelled
from shortlist.model.items import Items


@dataclass(frozen=True, slots=True)
class FileOutlet:
    """Deliveries are written as they come; what else there is once all of it is known."""

    write: Callable[[pa.Table], object]
    refusals: list[tuple[Any, ...]] = field(default_factory=list)
    departures: list[str] = field(default_factory=list)

    def deliver(self, before: int, deliveries: pa.Table) -> None:
        self.write(deliveries)

    def reject(self, before: int, refusals: pa.Table) -> None:
        self.refusals.extend(rows(refusals.select(["position", "line", "reason"]).to_batches()))

    def depart(self, before: int, departures: pa.Table) -> None:
        self.departures.extend(departures.column("line").to_pylist())


def run_stream(
    job: Job,
    how: Streamed,
    lanes: Run,
    shards: int,
    feed: Callable[[Driver], object],
    places: Callable[[], Places],
) -> tuple[Counts, int]:
    """Somebody feeds the driver with all lines."""
    outputs = job.outputs
    beside = outputs.deliveries.absolute().parent
    with ExitStack() as stack:
        scratch = tempfile.TemporaryDirectory(dir=beside, prefix=".shortlist-")
        folder = Path(stack.enter_context(scratch))
        outlet = FileOutlet(stack.enter_context(delivery_writer(outputs.deliveries, job.with_data)))
        registers, files = FolderRegisters(folder / "registers"), Files(folder / "files")
        begin(registers, files, job.registry, job.shards or shards, job.settings)
        driver = Driver(
            registers,
            files,
            job.settings,
            lanes,
            outlet,
            with_data=job.with_data,
            plan=how.plan,
            with_departures=outputs.departures is not None,
        )
        with job.steps.step("Matching and selecting"):
            feed(driver)
            driver.run_batch(Items.empty(), last=True)
        write_lines(reject_lines(sorted(outlet.refusals), places()), outputs.rejects)
        if outputs.departures is not None:
            write_lines(outlet.departures, outputs.departures)
    counts = Counter(driver.manifest.counts)
    other = dict(labelled(counts, OTHER_TYPE))
    work = {**counts, "publications": counts["published"], "other_type": other}
    return work, len(outlet.refusals)
