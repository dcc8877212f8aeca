"""Jobs in this process, without a JVM: the same stages, walked by one share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shortlist.engine.admission import Refusal
from shortlist.engine.walk import Walk
from shortlist.intake.finite_input import FiniteInput
from shortlist.jobs.job import Counts, Job, Streamed
from shortlist.jobs.sinks import delivery_writer, reject_lines, write_lines
from shortlist.model.items import Items

if TYPE_CHECKING:
    from shortlist.live.driver import Driver

MOST_AT_ONCE = 40_000
"""Lines in a micro-batch."""


@dataclass(frozen=True, slots=True)
class InProcess:
    """A ground for jobs: this process."""

    def batch(self, job: Job) -> tuple[Counts, int]:
        outputs, steps = job.outputs, job.steps
        with steps.step("Reading"):
            source = FiniteInput.at(job.source)
            walk = Walk(
                arriving=source.batches(),
                registry=job.registry,
                settings=job.settings,
                commands=job.commands,
                tabular=source.tabular,
                with_data=job.with_data,
                explains=outputs.explanations is not None,
            )
            publications = walk.publications
        with steps.added("Matching and selecting", publications) as told:
            deliveries, counts = walk.select(told)
        with steps.step("Writing"):
            with delivery_writer(outputs.deliveries, job.with_data) as write:
                write(deliveries)
            refusals = walk.admitted.refusals
            rejects = (_reject(refusal, source) for refusal in refusals)
            write_lines(reject_lines(rejects, source.places), outputs.rejects)
            if outputs.explanations is not None:
                write_lines(walk.explanations(), outputs.explanations)
        return counts, len(refusals)

    def stream(self, job: Job, how: Streamed) -> tuple[Counts, int]:
        from shortlist.jobs.streamed import run_stream
        from shortlist.live.lanes import run_here

        source = FiniteInput.at(job.source)

        def feed(driver: Driver) -> None:
            for batch in source.line_batches(how.at_most or MOST_AT_ONCE):
                read = driver.read_task(commands=job.commands, tabular=source.tabular)
                (items,) = read([batch])
                driver.run_batch(Items(items))

        return run_stream(job, how, run_here, 1, feed, lambda: source.places)


def _reject(refusal: Refusal, source: FiniteInput) -> tuple[int, str, str]:
    """Rows that were read in columns become text only where they are shown."""
    position = refusal.position
    assert position is not None
    return position, refusal.line or source.publication_text(position), refusal.reason
