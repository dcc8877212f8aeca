"""What a deployment's shards and driver take to come up: the first time, and again."""

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from shortlist.jobs.compiling import compile_registry
from shortlist.live.driver import Driver, begin
from shortlist.live.files import Files
from shortlist.live.lanes import Workers
from shortlist.live.outlets import LogOutlet
from shortlist.live.registers import committed
from shortlist.live.registry_folder import CompiledRegistry
from shortlist.live.shard import run as run_shard
from shortlist.live.tasks import idle_works
from shortlist.log.base import Log
from shortlist.log.opening import open_log
from shortlist.model.settings import Settings

from .deep_conditions import PREDICATES, deep_conditions
from .live_load import subscriptions, wishes
from .report import Report

T = TypeVar("T")

PROCESSES = 2


def report_starts(report: Report, count: int) -> None:
    """A registry that is read and compiled by two processes, then opened by two others."""
    with tempfile.TemporaryDirectory() as name:
        folder, few = Path(name, "large"), Path(name, "small")
        written(folder, subscriptions(wishes(count)))
        written(few, subscriptions(wishes(1_000)))
        with closing(Workers(PROCESSES)) as workers:
            small = deployment(few, compiled(few, workers))
            registry, compile_seconds = timed(lambda: compiled(folder, workers))
        made, begin_seconds = timed(lambda: deployment(folder, registry))
        before, after, open_seconds = shards_made(small, made)
        _, driver_seconds = timed(lambda: driver(*made))
    report.add(
        "read and compiled",
        subscriptions=count,
        seconds=compile_seconds + begin_seconds,
        compile_seconds=compile_seconds,
        begin_seconds=begin_seconds,
    )
    report.add(
        "opened",
        subscriptions=count,
        shards_seconds=open_seconds,
        driver_seconds=driver_seconds,
        private_bytes_each=(after - before) / count,
    )


def report_deep(report: Report, count: int) -> None:
    """Conditions of very many predicates, each of another shape."""
    conditions = enumerate(deep_conditions(count))
    with tempfile.TemporaryDirectory() as name, closing(Workers(PROCESSES)) as workers:
        folder, few = Path(name, "deep"), Path(name, "small")
        written(folder, ({"id": f"s{number}", "where": where} for number, where in conditions))
        written(few, subscriptions(wishes(1_000)))
        compiled(few, workers)
        _, seconds = timed(lambda: compiled(folder, workers))
    report.add("deep conditions", subscriptions=count, predicates=PREDICATES, seconds=seconds)


def compiled(folder: Path, workers: Workers) -> CompiledRegistry:
    return compile_registry(folder / "registry", shards=PROCESSES, run=workers, lanes=PROCESSES)


def written(folder: Path, entries: Iterable[dict[str, Any]]) -> None:
    """A registry as a folder of lines."""
    (folder / "registry").mkdir(parents=True)
    lines = "\n".join(json.dumps(entry) for entry in entries)
    (folder / "registry" / "subscriptions.jsonl").write_text(lines)


def deployment(folder: Path, registry: CompiledRegistry) -> tuple[Log, Files]:
    log, files = open_log(f"sqlite:{folder / 'log'}"), Files(folder / "files")
    begin(log, files, registry, shards=PROCESSES)
    return log, files


def shards_made(small: tuple[Log, Files], made: tuple[Log, Files]) -> tuple[int, int, float]:
    """Private bytes of new workers before and after they have made shards, and how long that
    took; they have done as much for a small registry before."""
    workers = Workers(PROCESSES)
    try:
        idle(workers, *small)
        before = private(workers)
        _, seconds = timed(lambda: idle(workers, *made))
        return before, private(workers), seconds
    finally:
        workers.close()


def idle(workers: Workers, log: Log, files: Files) -> None:
    workers(run_shard, idle_works(committed(log)[1], files, Settings().limits))


def private(workers: Workers) -> int:
    """Bytes of memory that workers share with nobody."""
    found = 0
    for process in workers.processes:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
        found += sum(int(line.split()[1]) for line in text.splitlines() if "Private_D" in line)
    return 1024 * found


def driver(log: Log, files: Files) -> Driver:
    return Driver(log, files, Settings(), lambda task, works: [], LogOutlet(log))


def timed(act: Callable[[], T]) -> tuple[T, float]:
    os.sync()  # what others have written is no part of it
    began = time.monotonic()
    made = act()
    return made, time.monotonic() - began
