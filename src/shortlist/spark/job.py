"""A whole job, as a batch or through the streaming query: files in, files out, a report back."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from shortlist.engine.arrow import rows
from shortlist.engine.deliveries import file_text
from shortlist.engine.shard import OTHER_TYPE
from shortlist.live.driver import Driver, begin
from shortlist.live.files import Files
from shortlist.live.folder_registers import FolderRegisters
from shortlist.live.plans import PlanSetting
from shortlist.model.items import Items
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.progress import Steps
from shortlist.spark.batch import Batch
from shortlist.spark.session import any_session
from shortlist.spark.sinks import (
    DeliveryFile,
    RejectLines,
    parts_folder,
    put_parts_in_order,
    write_deliveries,
    write_explanations,
    write_rejects,
)
from shortlist.spark.sources import counted_places, read_files
from shortlist.spark.streaming import Stream, stream_files
from shortlist.spark.tasks import Lanes

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


class FileOutlet:
    """One batch behind the other, in one file or one Parquet folder; what else there is once all
    of it is known."""

    def __init__(self, deliveries: BinaryIO | DeliveryFile) -> None:
        self._deliveries = deliveries
        self.refusals: list[tuple[int, str, str]] = []
        self.departures: list[str] = []

    def deliver(self, before: int, deliveries: pa.Table) -> None:
        if isinstance(self._deliveries, DeliveryFile):
            self._deliveries.write({name: deliveries[name] for name in deliveries.column_names})
        else:
            self._deliveries.write(file_text(deliveries, with_data=True))

    def reject(self, before: int, refusals: pa.Table) -> None:
        self.refusals += rows(refusals.select(["position", "line", "reason"]).to_batches())

    def depart(self, before: int, departures: pa.Table) -> None:
        self.departures += departures.column("line").to_pylist()


def run_stream_job(
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
    at_most: int | None = None,
    plan: PlanSetting = "replicate",
) -> dict[str, Any]:
    """As `run_job`, through Structured Streaming; a micro-batch has `at_most` so many lines."""
    started = time.monotonic()
    check_outputs(outputs, source)
    with steps.step("Starting Spark"):
        spark = any_session(master)
    with ExitStack() as stack:
        folder = Path(
            stack.enter_context(
                tempfile.TemporaryDirectory(
                    dir=outputs.deliveries.absolute().parent, prefix=".shortlist-"
                )
            )
        )
        outlet = stack.enter_context(_outlet(outputs.deliveries, with_data))
        registers, files = FolderRegisters(folder / "registers"), Files(folder / "files")
        lines = stream_files(spark, source, finite=True, at_most=at_most)
        begin(registers, files, registry, shards or spark.sparkContext.defaultParallelism)
        lanes = Lanes(spark)
        stack.callback(lanes.release)
        driver = Driver(
            registers,
            files,
            settings,
            lanes,
            outlet,
            with_data=with_data,
            plan=plan,
            with_departures=outputs.departures is not None,
        )
        with steps.step("Matching and selecting"):
            Stream(lines, driver, folder / "checkpoint", commands=commands).run_to_the_end()
            driver.run_batch(Items.empty(), last=True)
        lines_of = RejectLines(counted_places(source))
        rejected = "".join(f"{line}\n" for line in lines_of(sorted(outlet.refusals)))
        outputs.rejects.write_bytes(rejected.encode())
        if outputs.departures is not None:
            left = "".join(f"{line}\n" for line in outlet.departures)
            outputs.departures.write_bytes(left.encode())
    return job_report(_work(driver.manifest.counts), len(outlet.refusals), started)


def _work(counts: Mapping[str, int]) -> dict[str, Any]:
    """The counts of a manifest in the words of a batch."""
    other = {name: count for name, count in counts.items() if name.startswith(OTHER_TYPE)}
    return {
        **counts,
        "publications": counts.get("published", 0),
        "other_type": {name.removeprefix(OTHER_TYPE): count for name, count in other.items()},
    }


@contextmanager
def _outlet(out: Path, with_data: bool) -> Iterator[FileOutlet]:
    """What is written is in place only when all went well."""
    if out.suffix == ".parquet":
        with parts_folder(out) as folder:
            part = folder / "deliveries.parquet"
            with DeliveryFile(part, with_data) as file:
                yield FileOutlet(file)
            put_parts_in_order(folder, [part.name] if part.exists() else [], with_data)
        return
    with tempfile.TemporaryDirectory(dir=out.absolute().parent, prefix=".shortlist-") as folder:
        whole = Path(folder, out.name)
        with whole.open("wb") as file:
            yield FileOutlet(file)
        whole.replace(out)
