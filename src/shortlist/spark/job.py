"""A whole batch job: files in, files out, a report back."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.progress import Steps
from shortlist.spark.batch import Batch
from shortlist.spark.session import any_session
from shortlist.spark.sinks import write_deliveries, write_explanations, write_rejects
from shortlist.spark.sources import read_files

MANY = 10_000
"""Subscriptions whose shards are made in a step of their own, which can be seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Where the results go."""

    deliveries: Path
    rejects: Path
    explanations: Path | None = None
    departures: Path | None = None
    """What leaves shortlists; only a stream tells."""


def run_job(
    registry: Registry,
    source: Path,
    outputs: Outputs,
    settings: Settings,
    *,
    steps: Steps,
    commands: bool = False,
    with_data: bool = False,
    shards: int | None = None,
    master: str | None = None,
) -> dict[str, Any]:
    """Ranks the publications of a file or folder; the report counts what happened."""
    started = time.monotonic()
    check_outputs(outputs, source)
    with steps.step("Starting Spark"):
        spark = any_session(master)
    with steps.step("Reading"):
        lines = read_files(spark, source)
        batch = Batch(
            lines,
            registry,
            settings,
            commands=commands,
            shards=shards,
            with_data=with_data,
            keep=True,
        )
        passes = batch.passes
    writes_parts = batch.is_stateless and outputs.deliveries.suffix == ".parquet"
    if batch.is_stateless:
        with steps.told("Compiling the registry", len(registry.subscriptions)) as told:
            batch.prepare(processes=None, progress=told)
    elif len(registry.subscriptions) >= MANY:
        with steps.step("Compiling the registry"):
            batch.prepare()
    with steps.counted("Matching and selecting", passes) as batch.progress:
        counts = batch.write_parts(outputs.deliveries) if writes_parts else batch.counts()
        delivered = counts.get("arrival", 0) + counts.get("promotion", 0)
    with steps.step("Writing"):
        if not writes_parts:
            write_deliveries(batch.deliveries, outputs.deliveries, delivered)
        rejected = write_rejects(batch.rejects, lines.places, outputs.rejects)
        if outputs.explanations is not None:
            write_explanations(batch.explanations, outputs.explanations)
    batch.release()
    return job_report(counts, rejected, started)


def job_report(counts: Mapping[str, Any], rejected: int, started: float) -> dict[str, Any]:
    """What a job did: its counts of work in the words of the report."""
    return {
        "publications": counts["publications"],
        "matched": counts.get("matched", 0),
        "deliveries": counts.get("arrival", 0) + counts.get("promotion", 0),
        "promotions": counts.get("promotion", 0),
        "rejects": rejected,
        "other_type": counts["other_type"],
        "seconds": round(time.monotonic() - started, 3),
    }


def check_outputs(outputs: Outputs, source: Path) -> None:
    """Nothing may be written where it cannot be, or over something else of this job."""
    taken = {source.resolve(): "the input"}
    for field in fields(outputs):
        out = getattr(outputs, field.name)
        if out is None:
            continue
        if not out.absolute().parent.is_dir():
            raise FileNotFoundError(f"{out}: expected the folder {out.parent} to exist")
        if out.resolve() in taken:
            raise FileExistsError(f"{out}: is {taken[out.resolve()]}, and cannot be {field.name}")
        taken[out.resolve()] = f"for the {field.name}"
