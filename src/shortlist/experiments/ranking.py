"""The system, asked for what it delivers: the job that `shortlist run` runs."""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from shortlist.jobs.job import Ground, Job, Outputs, report_of
from shortlist.model.problem import ShortlistError
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.progress import Steps


class Rejected(ShortlistError):
    """Some of an input was turned away, so that nothing is comparable."""


class Ranked(NamedTuple):
    """What a job did: deliveries in order, and what its report says, with `threshold_changes`."""

    deliveries: pa.Table
    report: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Where and how jobs run."""

    ground: Ground
    steps: Steps
    settings: Settings = field(default_factory=Settings)

    def rank(
        self,
        registry: Registry,
        source: Path,
        *,
        commands: bool = False,
        with_data: bool = False,
    ) -> Ranked:
        with tempfile.TemporaryDirectory(prefix="shortlist-") as name:
            folder = Path(name)
            outputs = Outputs(deliveries=folder / "out.parquet", rejects=folder / "rejects.jsonl")
            job = Job(registry, source, outputs, self.settings, self.steps, commands, with_data)
            counts, rejected = self.ground.batch(job)
            if rejected:
                first = json.loads(outputs.rejects.read_text().splitlines()[0])
                raise Rejected(
                    f"expected an input of which nothing is rejected, found {rejected:,} rejects,"
                    f" the first at {first['position']}: {first['reason']}"
                )
            deliveries = pq.read_table(outputs.deliveries).combine_chunks()
        changes = counts.get("threshold_changes", 0)
        return Ranked(deliveries, report_of(counts, 0) | {"threshold_changes": changes})
