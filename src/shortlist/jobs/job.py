"""A whole job: files in, files out, a report back."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from shortlist.live.registry_folder import CompiledRegistry
from shortlist.model.registry import Registry
from shortlist.model.settings import PlanSetting, Settings
from shortlist.progress import Steps

Counts = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Where the results go."""

    deliveries: Path
    rejects: Path
    explanations: Path | None = None
    departures: Path | None = None
    """What leaves shortlists; only a stream tells."""


class Streamed(NamedTuple):
    """How a finite input goes through the streaming query."""

    at_most: int | None = None
    """Lines in a micro-batch."""
    plan: PlanSetting = "replicate"


class Ground(Protocol):
    """Where a job runs. What comes of it is the same everywhere: counts, and how many rejects."""

    def batch(self, job: Job) -> tuple[Counts, int]: ...

    def stream(self, job: Job, how: Streamed) -> tuple[Counts, int]: ...


@dataclass(frozen=True, slots=True)
class Job:
    """Ranks the publications of a file or folder."""

    registry: Registry | CompiledRegistry
    source: Path
    outputs: Outputs
    settings: Settings
    steps: Steps
    commands: bool = False
    with_data: bool = False
    shards: int | None = None

    def run(self, ground: Ground, stream: Streamed | None = None) -> dict[str, Any]:
        """The report counts what happened, the same whether it goes through a stream or not."""
        started = time.monotonic()
        self._check_outputs()
        counts, rejected = ground.batch(self) if stream is None else ground.stream(self, stream)
        seconds = round(time.monotonic() - started, 3)
        return {**report_of(counts, rejected), "seconds": seconds}

    def _check_outputs(self) -> None:
        """Nothing may be written where it cannot be, or over something else of this job."""
        taken = {self.source.resolve(): "the input"}
        for each in fields(self.outputs):
            out = getattr(self.outputs, each.name)
            if out is None:
                continue
            if not out.absolute().parent.is_dir():
                raise FileNotFoundError(f"{out}: expected the folder {out.parent} to exist")
            if out.resolve() in taken:
                found = taken[out.resolve()]
                raise FileExistsError(f"{out}: is {found}, and cannot be {each.name}")
            taken[out.resolve()] = f"for the {each.name}"


def report_of(counts: Counts, rejected: int) -> dict[str, Any]:
    """What happened, for whoever asked for the job."""
    return {
        "publications": counts["publications"],
        "matched": counts.get("matched", 0),
        "deliveries": counts.get("arrival", 0) + counts.get("promotion", 0),
        "promotions": counts.get("promotion", 0),
        "rejects": rejected,
        "other_type": counts["other_type"],
    }
