"""A whole job, as a batch or through the streaming query: files in, files out, a report back."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from shortlist.engine.arrow import rows
from shortlist.live.driver import Driver, begin
from shortlist.live.files import Files
from shortlist.live.folder_registers import FolderRegisters
from shortlist.model.counts import OTHER_TYPE, labelled
from shortlist.model.items import Items
from shortlist.model.registry import Registry
from shortlist.model.settings import PlanSetting, Settings
from shortlist.progress import Steps
from shortlist.spark.batch import Batch
from shortlist.spark.file_source import GrowingFiles
from shortlist.spark.session import any_session
from shortlist.spark.sinks import (
    delivery_writer,
    reject_lines,
    write_deliveries,
    write_explanations,
    write_rejects,
)
from shortlist.spark.sources import read_files
from shortlist.spark.streaming import Stream, stream_files
from shortlist.spark.tasks import Lanes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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


@dataclass(frozen=True, slots=True)
class Job:
    """Ranks the publications of a file or folder."""

    registry: Registry
    source: Path
    outputs: Outputs
    settings: Settings
    steps: Steps
    commands: bool = False
    with_data: bool = False
    shards: int | None = None

    def run(self, master: str | None = None, stream: Streamed | None = None) -> dict[str, Any]:
        """The report counts what happened, the same whether it goes through a stream or not."""
        started = time.monotonic()
        self._check_outputs()
        with self.steps.step("Starting Spark"):
            spark = any_session(master)
        if stream is None:
            counts, rejected = self._run_batch(spark)
        else:
            counts, rejected = self._run_stream(spark, stream)
        return {
            "publications": counts["publications"],
            "matched": counts.get("matched", 0),
            "deliveries": counts.get("arrival", 0) + counts.get("promotion", 0),
            "promotions": counts.get("promotion", 0),
            "rejects": rejected,
            "other_type": counts["other_type"],
            "seconds": round(time.monotonic() - started, 3),
        }

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

    def _run_batch(self, spark: SparkSession) -> tuple[Mapping[str, Any], int]:
        outputs, steps = self.outputs, self.steps
        with steps.step("Reading"):
            lines = read_files(spark, self.source)
            batch = Batch(
                lines,
                self.registry,
                self.settings,
                commands=self.commands,
                shards=self.shards or 0,
                with_data=self.with_data,
                keep=True,
            )
            passes = batch.passes
        writes_parts = batch.is_stateless and outputs.deliveries.suffix == ".parquet"
        if batch.is_stateless:
            with steps.told("Compiling the registry", len(self.registry.subscriptions)) as told:
                batch.prepare(processes=None, progress=told)
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
        return counts, rejected

    def _run_stream(self, spark: SparkSession, how: Streamed) -> tuple[Mapping[str, Any], int]:
        outputs = self.outputs
        beside = outputs.deliveries.absolute().parent
        with ExitStack() as stack:
            scratch = tempfile.TemporaryDirectory(dir=beside, prefix=".shortlist-")
            folder = Path(stack.enter_context(scratch))
            writer = delivery_writer(outputs.deliveries, self.with_data)
            outlet = FileOutlet(stack.enter_context(writer))
            registers, files = FolderRegisters(folder / "registers"), Files(folder / "files")
            lines = stream_files(spark, self.source, finite=True, at_most=how.at_most)
            shards = self.shards or spark.sparkContext.defaultParallelism
            begin(registers, files, self.registry, shards)
            driver = Driver(
                registers,
                files,
                self.settings,
                stack.enter_context(closing(Lanes(spark))),
                outlet,
                with_data=self.with_data,
                plan=how.plan,
                with_departures=outputs.departures is not None,
            )
            with self.steps.step("Matching and selecting"):
                stream = Stream(lines, driver, folder / "checkpoint", commands=self.commands)
                stream.run_to_the_end()
                driver.run_batch(Items.empty(), last=True)
            places = GrowingFiles(self.source, lines.tabular, finite=True).places()
            _write_text(outputs.rejects, reject_lines(sorted(outlet.refusals), places))
            if outputs.departures is not None:
                _write_text(outputs.departures, outlet.departures)
        counts = Counter(driver.manifest.counts)
        other = dict(labelled(counts, OTHER_TYPE))
        work = {**counts, "publications": counts["published"], "other_type": other}
        return work, len(outlet.refusals)


def _write_text(out: Path, lines: Iterable[str]) -> None:
    out.write_bytes("".join(f"{line}\n" for line in lines).encode())
