"""A batch job whose input is read here, whoever runs the tasks of its shards."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

from shortlist.engine.admitted import Refusal
from shortlist.intake.finite_input import FiniteInput
from shortlist.jobs.job import Counts, Job
from shortlist.jobs.sinks import reject_lines, write_lines
from shortlist.jobs.walk import Walk
from shortlist.live.registry_folder import CompiledRegistry
from shortlist.model.registry import Registry

if TYPE_CHECKING:
    from shortlist.live.tasks import Run


def run_job(job: Job, run: Run, shards: int) -> tuple[Counts, int]:
    """Reads, selects and writes; the counts, and how many rejects there are."""
    outputs, steps = job.outputs, job.steps
    with tempfile.TemporaryDirectory(prefix="shortlist-") as folder:
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
                run=run,
                shards=shards_of(job.registry, shards),
                folder=folder,
            )
            passes = walk.passes
        with steps.counted("Matching and selecting", passes) as progress:
            selected = walk.select(progress)
        with steps.step("Writing"):
            walk.write(selected, outputs.deliveries)
            refusals = walk.admitted.refusals
            rejects = (_reject(refusal, source) for refusal in refusals)
            write_lines(reject_lines(rejects, source.places), outputs.rejects)
            if outputs.explanations is not None:
                write_lines(walk.explanations(), outputs.explanations)
    return walk.counts(selected), len(refusals)


def shards_of(registry: Registry | CompiledRegistry, wanted: int) -> int:
    """One that is compiled has its shards."""
    return registry.shards if isinstance(registry, CompiledRegistry) else wanted


def _reject(refusal: Refusal, source: FiniteInput) -> tuple[int, str, str]:
    """Rows that were read in columns become text only where they are shown."""
    position = refusal.position
    assert position is not None
    return position, refusal.line or source.publication_text(position), refusal.reason
