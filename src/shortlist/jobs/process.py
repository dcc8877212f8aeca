"""Jobs in this process, without a JVM: the same stages, walked by one share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shortlist.intake.finite_input import FiniteInput
from shortlist.jobs.job import Counts, Job, Streamed
from shortlist.jobs.walk import run_job
from shortlist.live.here import run_here
from shortlist.model.items import Items

if TYPE_CHECKING:
    from shortlist.live.driver import Driver

MOST_AT_ONCE = 40_000
"""Lines in a micro-batch."""


@dataclass(frozen=True, slots=True)
class InProcess:
    """A ground for jobs: this process."""

    def batch(self, job: Job) -> tuple[Counts, int]:
        return run_job(job, run_here, 1)

    def stream(self, job: Job, how: Streamed) -> tuple[Counts, int]:
        from shortlist.jobs.streamed import run_stream

        source = FiniteInput.at(job.source)

        def feed(driver: Driver) -> None:
            for batch in source.line_batches(how.at_most or MOST_AT_ONCE):
                read = driver.read_task(commands=job.commands, tabular=source.tabular)
                (items,) = read([batch])
                driver.run_batch(Items(items))

        return run_stream(job, how, run_here, 1, feed, lambda: source.places)
