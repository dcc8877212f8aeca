"""A live deployment on this machine beside what others do with the same load.

Run: python benchmarks/live.py [--subscriptions 100000] [--rate 1000] [--seconds 60]
     [--on process] [--appends 20] [--skip changes,duckdb,grid,range] [--save]

The load is that of common/live_load.py: subscriptions of three ranges each, with five policies, 53
of 100,000 match a publication. Prints one JSON line per figure; --save keeps them and their picture
in benchmarks/results. With --on process the deployment does without Spark, and is compared with
nobody; publishers append more often then, since what came at one instant waits for the next. The
figures:

cost of a change       bytes and seconds of a batch that changes few shortlists, or many
start to first commit  seconds from an empty log to a deployment that runs
publish to delivery    seconds between two entries of the log, at a rate that publishers set
sustained              publications a second, where there are always more to read: from lines that
                       are durable in a log, through commits, to lines that are durable there
state, quiet batch     what is kept; what a batch takes and writes to which nothing comes but time
memory                 of all processes of the deployment, at most
empty micro-batch      seconds of plain Structured Streaming that does nothing, in the same session
latency                the seconds of "publish to delivery" divided by those of an empty micro-batch
DuckDB loop            publications a second of a durable loop of micro-batches, of several sizes,
                       the best of them once more with `is_best`; `ratio` is that of "sustained" to
                       it. It reads the same kind of log, full before the clock starts, as the
                       backlog of the deployment is, and behind as many publications; it keeps the
                       three best of each subscription, which are compared with a scan's, and its
                       deliveries in a table; and brings these to a log as lines, by subscription,
                       since nobody else can read a file of DuckDB's while it is written. "Nothing
                       put out" leaves them in the table. "Tuned further": with a grid over three
                       attributes, and leaving out early what cannot be among the best.
                       common/duckdb_loop.py says what it does not do
Spark, grid join       the same of plain Structured Streaming in a process of its own: wishes cut
                       into cells, joined by cell, the best per window of time (only that: no k,
                       later promotion, novelty, ranks or commands)
Spark, range join      the same without cells, as it is written first
goal                   what was wanted, and whether it was met
"""

import argparse
import json
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from common.arguments import RESULTS, names
from common.latency import latencies_since, publish_at
from common.live_changes import costs
from common.live_load import AHEAD, backlog, subscriptions, wishes
from common.live_others import (
    GOALS,
    GOALS_IN_PROCESSES,
    duckdb_loops,
    empty_batch,
    spark_join,
)
from common.live_picture import draw
from common.memory import PeakMemory
from common.report import Report

import shortlist
from shortlist.live import driver as live
from shortlist.live.lanes import ProcessGround
from shortlist.live.running import Ground, Running, Wanted
from shortlist.log.base import DELIVERIES, INPUT, Log
from shortlist.log.opening import open_log
from shortlist.model.registry import Registry
from shortlist.spark.ground import SparkGround

WARM_UP = 20_000
"""Publications after which kernels are compiled, and most shortlists hold something."""
BACKLOG = 400_000
"""Publications that are all there at once, for its speed under load."""
CHANGED = 20_000
"""Shortlists of the deployment whose changes are weighed."""
SKIPPABLE = ("changes", "duckdb", "grid", "range")
SHARES = (-1, 0, 0.0002, 0.001, 0.005, 0.02, 0.1, 0.3, 1, -1)


class Batches:
    """Keeps what the deployment says."""

    def __init__(self) -> None:
        self.reports: list[tuple[float, live.Report]] = []
        self.driver: live.Driver | None = None
        self.position = 0
        """Up to here all is put out."""

    def compiling(self, left: Sequence[str]) -> None: ...

    def started(self, driver: live.Driver, log: Log) -> None:
        self.driver = driver

    def ran(
        self, report: live.Report, driver: live.Driver, log: Log, appended: dict[int, int]
    ) -> None:
        self.reports.append((time.monotonic(), report))
        self.position = driver.manifest.position

    def failed(self, error: BaseException, pause: float) -> None:
        print(json.dumps({"figure": "failed", "error": repr(error)}), flush=True)

    def stopped(self) -> None: ...

    def wait(self, log: Log) -> None:
        """Returns when all that is in the log now is read, and what came of it is put out;
        heartbeats go on coming."""
        end = log.end(INPUT)
        wait(lambda: self.position >= end)


def main() -> None:
    asked = arguments()
    report = Report(subscriptions=asked.subscriptions)
    if "changes" not in asked.skip:
        weigh_changes(report)
    found = wishes(asked.subscriptions)
    registry = shortlist.registry_from_documents({"subscriptions": subscriptions(found)})
    if asked.on == "process":
        in_processes(report, registry, asked)
        return
    spark = shortlist.local_session()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with PeakMemory() as peak:
            ground = SparkGround(spark)
            latencies, ours = deployed(report, registry, ground, folder, asked)
        report.add("memory", peak_gib=peak.bytes / 2**30)
        compare_latency(report, empty_batch(report, spark, folder))
        spark.stop()
        if "duckdb" not in asked.skip:
            duckdb_loops(report, found, folder, ours)
        for join in ("grid", "range"):
            if join not in asked.skip:
                spark_join(report, join, asked.subscriptions, folder, ours)
    report.judge(GOALS)
    if asked.save:
        RESULTS.mkdir(exist_ok=True)
        report.write(RESULTS / "live.jsonl")
        draw(report, latencies, RESULTS / "live.png")


def in_processes(report: Report, registry: Registry, asked: argparse.Namespace) -> None:
    """The deployment without Spark."""
    with tempfile.TemporaryDirectory() as name, PeakMemory() as peak:
        deployed(report, registry, ProcessGround(), Path(name), asked)
    report.add("memory", peak_gib=peak.bytes / 2**30)
    report.judge(GOALS_IN_PROCESSES)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--subscriptions", type=int, default=100_000)
    parser.add_argument("--rate", type=float, default=1_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--on", choices=("spark", "process"), default="spark")
    parser.add_argument("--appends", type=float, help="a second; else 20, or 200 in a process")
    parser.add_argument("--skip", type=names(SKIPPABLE), default=[], help=", ".join(SKIPPABLE))
    parser.add_argument("--save", action="store_true")
    asked = parser.parse_args()
    if asked.save and (asked.skip or asked.on == "process"):
        parser.error("--save: expected nothing to be skipped, and Spark")
    asked.appends = asked.appends or (200 if asked.on == "process" else 20)
    return asked


def deployed(
    report: Report,
    registry: Registry,
    ground: Ground,
    folder: Path,
    asked: argparse.Namespace,
) -> tuple[list[float], float]:
    """Adds all about the deployment: its latencies, and its publications a second under load."""
    url = f"sqlite:{folder / 'live.log'}"
    log, batches = open_log(url), Batches()
    wanted = Wanted(log=url, folder=folder / "state", registry=registry)
    running = Running(wanted, ground, batches)
    thread = threading.Thread(target=running.run)
    began = time.monotonic()
    thread.start()
    try:
        wait(lambda: bool(batches.reports))
        report.add("start to first commit", seconds=time.monotonic() - began)
        backlog(log, WARM_UP, seed=2)
        batches.wait(log)
        time.sleep(AHEAD / 1e6 + 1)  # what comes next is not late
        latencies = steady(report, log, url, batches, asked)
        ours = under_load(report, log, batches)
        assert batches.driver is not None
        state = batches.driver.manifest.state_bytes
        report.add("state", bytes=state, bytes_per_subscription=state / asked.subscriptions)
        quiet(report, batches)
    finally:
        running.stop()
        thread.join()
    return latencies, ours


def compare_latency(report: Report, empty: float) -> None:
    """Adds how many empty micro-batches a delivery takes."""
    (row,) = report.of({"figure": "publish to delivery"})
    report.add(
        "latency",
        rate=row["rate"],
        p50_by_empty=row["p50_seconds"] / empty,
        p99_by_empty=row["p99_seconds"] / empty,
    )


def weigh_changes(report: Report) -> None:
    """What batches write and take that change few shortlists, or many."""
    found, whole = costs(CHANGED, SHARES)
    for cost in found:
        report.add(
            "cost of a change", shortlists=CHANGED, **cost._asdict(), whole_state_bytes=whole
        )


def steady(
    report: Report, log: Log, url: str, batches: Batches, asked: argparse.Namespace
) -> list[float]:
    """Latency at a rate that publishers set, from a process of their own."""
    first = len(batches.reports)
    before = log.end(INPUT), log.end(DELIVERIES)
    made = publish_at(url, asked.rate, asked.seconds, asked.appends)
    batches.wait(log)
    time.sleep(3)
    latencies = latencies_since(log, *before)
    cuts = statistics.quantiles(latencies, n=100)
    mine = [each for _, each in batches.reports[first:] if each.counts["published"]]
    published = sum(each.counts["published"] for each in mine)
    report.add(
        "publish to delivery",
        publications=made,
        rate=asked.rate,
        appends_per_second=asked.appends,
        deliveries=log.end(DELIVERIES) - before[1],
        matches_per_publication=sum(each.counts["matched"] for each in mine) / published,
        p50_seconds=cuts[49],
        p99_seconds=cuts[98],
        batch_seconds=statistics.median(sum(each.seconds.values()) for each in mine),
        steps=median_steps(mine),
        bytes_per_publication=sum(each.bytes_written for each in mine) / published,
    )
    return latencies


def under_load(report: Report, log: Log, batches: Batches) -> float:
    """Publications a second where there are always more to read."""
    first = len(batches.reports)
    backlog(log, BACKLOG)
    batches.wait(log)
    mine = [each for each in batches.reports[first:] if each[1].counts["published"]]
    read = sum(each.counts["published"] for _, each in mine)
    if read < 0.9 * BACKLOG:
        raise RuntimeError(f"expected about {BACKLOG} publications, found {read}: others were late")
    # the first of them began while there was nothing to do; from its end on all is known
    seconds = mine[-1][0] - mine[0][0]
    made = sum(each.counts["published"] for _, each in mine[1:])
    report.add(
        "sustained",
        publications_per_second=made / seconds,
        deliveries_per_second=sum(each.deliveries.num_rows for _, each in mine[1:]) / seconds,
        batches=len(mine),
        steps=median_steps([each for _, each in mine]),
    )
    return made / seconds


def median_steps(reports: Sequence[live.Report]) -> dict[str, float]:
    """Seconds of each step of a batch."""
    return {
        step: round(statistics.median(each.seconds[step] for each in reports), 4)
        for step in reports[0].seconds
    }


def quiet(report: Report, batches: Batches) -> None:
    """What a batch writes to which nothing comes but time."""
    first = len(batches.reports)
    wait(lambda: len(batches.reports) >= first + 6)
    silent = [each for _, each in batches.reports[first + 1 :] if not each.counts]
    report.add(
        "quiet batch",
        batches=len(silent),
        bytes_written=statistics.median([each.bytes_written for each in silent] or [0]),
        seconds=statistics.median([sum(each.seconds.values()) for each in silent] or [0]),
    )


def wait(until: Callable[[], bool], seconds: float = 900) -> None:
    deadline = time.monotonic() + seconds
    while not until():
        if time.monotonic() > deadline:
            raise TimeoutError("the deployment has not come to it")
        time.sleep(0.05)


if __name__ == "__main__":
    main()
