"""Large registries: how long they take to compile and to open, and what of them is in memory.

Run: python benchmarks/registries.py [--sizes 10000,100000,1000000] [--on process,spark] [--save]

Subscriptions of three ranges and five policies lie in a Parquet table, so that about 50 of them
match a flat whatever their number. Prints one JSON line per figure:

compiled    by as many processes as there are cores (and by Spark's, if asked for), and by one:
            seconds, those of them in which the one computes, and the most memory that all had, but
            for what lies in files
opened      by a process of its own: seconds, bytes of its memory and of the file for each
            subscription, and microseconds that a flat takes to be matched
goal        what was wanted, and whether it was met

Ten million take 17 GB of disk meanwhile: `--sizes 10000,100000,1000000,10000000 --scratch DIR`.
`--save` keeps the figures and their picture in benchmarks/results.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from common.arguments import names
from common.goals import Goal
from common.large_registry import share_for, write_registry
from common.live_load import flats
from common.memory import PeakMemory
from common.registries_picture import draw
from common.report import Report

from shortlist.jobs.compiling import compile_registry
from shortlist.live.here import run_here
from shortlist.live.lanes import Workers
from shortlist.live.registry_folder import CompiledRegistry
from shortlist.live.tasks import Run
from shortlist.matching.blocks import Block
from shortlist.model.times import format_time

MATCHES = 50
BLOCK = 4_096
BLOCKS = 4
"""That are timed, behind one that is not."""
RESULTS = Path(__file__).parent / "results"
SMALL = 1_000
PLACES = ("process", "spark")


def main() -> None:
    asked = arguments()
    if asked.opened is not None:
        print(json.dumps(opened(asked.opened)))
        return
    report = Report(cores=cores())
    with tempfile.TemporaryDirectory(dir=asked.scratch) as name:
        small = write_registry(Path(name, "small"), SMALL, share_for(MATCHES, SMALL))
        compile_registry(small)  # kernels are loaded, and files of programs are at hand
        for size in asked.sizes:
            folder = write_registry(Path(name, str(size)), size, share_for(MATCHES, size))
            for place, lanes in ways(asked.on):
                report_compiled(report, folder, size, place, lanes)
            command = [sys.executable, __file__, "--opened", str(folder)]
            found = subprocess.run(command, check=True, capture_output=True, text=True)
            report.add("opened", subscriptions=size, **json.loads(found.stdout))
    report.judge(goals(asked.sizes))
    if asked.save:
        report.write(RESULTS / "registries.jsonl")
        draw(report, RESULTS / "registries.png")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    sizes = [10_000, 100_000, 1_000_000]
    parser.add_argument("--sizes", type=_sizes, default=sizes)
    parser.add_argument("--on", type=names(PLACES), default=["process"], help=", ".join(PLACES))
    parser.add_argument("--scratch", type=Path, default=None, help="where registries are written")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--opened", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",")]


def cores() -> int:
    return len(os.sched_getaffinity(0))


def ways(places: list[str]) -> Iterator[tuple[str, int]]:
    """Who compiles, and how many at a time; what is compiled last is opened."""
    if "spark" in places:
        yield "spark", cores()
    if "process" in places:
        yield "process", cores()
    yield "process", 1


@contextmanager
def lanes_of(place: str, lanes: int) -> Iterator[Run]:
    if lanes == 1:
        yield run_here
    elif place == "process":
        with closing(Workers(lanes)) as workers:
            workers.start()
            yield workers
    else:
        import shortlist
        from shortlist.spark.tasks import Lanes

        with closing(Lanes(shortlist.local_session())) as spark:
            yield spark


def report_compiled(report: Report, folder: Path, size: int, place: str, lanes: int) -> None:
    before, cpu = time.monotonic(), time.process_time()
    with PeakMemory(kind="Pss_Anon") as peak, lanes_of(place, lanes) as run:
        began = time.monotonic()
        compile_registry(folder, run=run, lanes=lanes)
        seconds = time.monotonic() - began
    cpu = time.process_time() - cpu
    report.add(
        "compiled",
        subscriptions=size,
        on=place,
        processes=lanes,
        seconds=seconds,
        seconds_with_start=time.monotonic() - before,
        most_private_bytes=peak.bytes,
        **({"cpu_seconds": cpu, "cpu_microseconds_each": 1e6 * cpu / size} if lanes == 1 else {}),
    )


def opened(folder: Path) -> dict[str, Any]:
    """In a process that has opened a small one before."""
    CompiledRegistry.beside(folder.parent / "small").shard()
    before, began, cpu = private(), time.monotonic(), time.process_time()
    registry = CompiledRegistry.beside(folder)
    found = time.monotonic()
    shard = registry.shard()
    seconds = time.monotonic() - found
    open_cpu, after = time.process_time() - cpu, private()
    matching, times = shard.matching, []
    matches = 0
    every = flats()
    for number in range(BLOCKS + 1):
        lines = [
            json.dumps({**flat, "time": format_time(1_000_000 * at)}).encode()
            for at, flat in enumerate(islice(every, BLOCK))
        ]
        items = shard_reader(registry).lines([*range(BLOCK)], lines)
        block = Block.of_items(items, matching.values)
        started = time.process_time()
        combined, _, _ = matching.combined(block)
        if number:
            times.append(time.process_time() - started)
            matches += combined.scores.size
    size = registry.subscriptions
    file = (registry.folder / "shard-0" / "index.arrays").stat().st_size
    return {
        "found_seconds": found - began,
        "open_seconds": seconds,
        "open_cpu_seconds": open_cpu,
        "file_bytes_each": file / size,
        "private_bytes_each": (after - before) / size,
        "private_bytes_each_matched": (private() - before) / size,
        "microseconds_each": 1e6 * sum(times) / (BLOCKS * BLOCK),
        "matches_each": matches / (BLOCKS * BLOCK),
    }


def shard_reader(registry: CompiledRegistry) -> Any:
    from shortlist.intake.reading import LineReader
    from shortlist.model.items import Wanted

    paths = frozenset((name,) for name in ("price", "size", "year"))
    return LineReader(registry.vocabulary, registry.limits, Wanted(paths))


def private() -> int:
    """Bytes of memory that this process shares with nobody."""
    text = Path("/proc/self/smaps_rollup").read_text()
    return 1024 * sum(int(line.split()[1]) for line in text.splitlines() if "Private_D" in line)


def goals(sizes: list[int]) -> list[Goal]:
    wanted = []
    for size in sizes:
        facts = {"figure": "opened", "subscriptions": size}
        wanted.append(
            Goal(f"{size:,}: private bytes each", facts, "private_bytes_each", 1024, True)
        )
        if size <= 1_000_000:
            wanted.append(Goal(f"{size:,}: seconds to open", facts, "open_seconds", 1, True))
        both = {"figure": "compiled", "subscriptions": size, "on": "process", "processes": cores()}
        bound = {100_000: 8, 10_000_000: 900}.get(size)
        if bound is not None:
            wanted.append(Goal(f"{size:,}: seconds to compile", both, "seconds", bound, True))
        alone = {**both, "processes": 1}
        key = "cpu_microseconds_each"
        wanted.append(Goal(f"{size:,}: microseconds each to compile", alone, key, 30, True))
    return wanted


if __name__ == "__main__":
    main()
