"""A live deployment on this machine beside plain Structured Streaming.

Run: python benchmarks/live.py [--subscriptions 100000] [--rate 1000] [--seconds 60] [--save]
Prints one JSON line per figure; --save keeps them and their picture in benchmarks/results. What
the baseline finds is less: the best of a fixed window of time, without k, later promotion,
novelty, ranks or commands.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from common.live_baseline import joined_per_second
from common.live_changes import costs
from common.live_load import backlog, subscriptions, wishes
from common.live_picture import draw
from common.memory import PeakMemory
from common.report import Report

import shortlist
from shortlist.live import driver as live
from shortlist.log.base import DELIVERIES, INPUT, Log
from shortlist.log.opening import open_log
from shortlist.spark.running import Running, Wanted

RESULTS = Path(__file__).parent / "results"
WARM_UP = 20_000
"""Publications after which kernels are compiled, and most shortlists hold something."""
BACKLOG = 40_000
"""Publications that are there before the deployment may read them, for its speed under load."""
BASELINE = 2_500
CHANGED = 20_000
"""Shortlists of the deployment whose changes are weighed."""
SHARES = (-1, 0, 0.0002, 0.001, 0.005, 0.02, 0.1, 0.3, 1, -1)


class Batches:
    """Keeps what the deployment says."""

    def __init__(self) -> None:
        self.reports: list[tuple[float, live.Report]] = []
        self.driver: live.Driver | None = None

    def started(self, driver: live.Driver, log: Log) -> None:
        self.driver = driver

    def ran(
        self, report: live.Report, driver: live.Driver, log: Log, appended: dict[int, int]
    ) -> None:
        self.reports.append((time.monotonic(), report))

    def failed(self, error: BaseException, pause: float) -> None:
        print(json.dumps({"figure": "failed", "error": repr(error)}), flush=True)

    def stopped(self) -> None: ...

    def has_read(self, log: Log) -> bool:
        return self.driver is not None and self.driver.manifest.position >= log.end(INPUT)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--subscriptions", type=int, default=100_000)
    arguments.add_argument("--rate", type=float, default=1_000)
    arguments.add_argument("--seconds", type=float, default=60)
    arguments.add_argument("--save", action="store_true")
    asked = arguments.parse_args()
    report = Report(subscriptions=asked.subscriptions)
    weigh_changes(report)
    found = wishes(asked.subscriptions)
    registry = shortlist.registry_from_documents({"subscriptions": subscriptions(found)})
    spark = shortlist.local_session()
    with tempfile.TemporaryDirectory() as name, PeakMemory() as peak:
        folder = Path(name)
        url = f"sqlite:{folder / 'live.log'}"
        log, batches = open_log(url), Batches()
        wanted = Wanted(log=url, folder=folder / "state", registry=registry)
        running = Running(wanted, spark, batches)
        thread = threading.Thread(target=running.run)
        began = time.monotonic()
        thread.start()
        wait(lambda: bool(batches.reports))
        report.add("start to first commit", seconds=time.monotonic() - began)
        backlog(log, WARM_UP, seed=2)
        wait(lambda: batches.has_read(log))
        latencies = steady(report, log, url, batches, asked.rate, asked.seconds)
        ours = under_load(report, log, batches)
        assert batches.driver is not None
        state = batches.driver.manifest.state_bytes
        report.add("state", bytes=state, bytes_per_subscription=state / asked.subscriptions)
        quiet(report, batches)
        running.stop()
        thread.join()
        past = f"sqlite:{folder / 'baseline.log'}"
        backlog(open_log(past), BASELINE)
        rows, theirs = joined_per_second(spark, past, found, folder)
        report.add(
            "plain Structured Streaming, join and best per window",
            publications_per_second=theirs,
            rows=rows,
            ratio=ours / theirs,
        )
    report.add("memory", peak_gib=peak.bytes / 2**30)
    if asked.save:
        RESULTS.mkdir(exist_ok=True)
        lines = "".join(f"{json.dumps(row)}\n" for row in report.rows)
        (RESULTS / "live.jsonl").write_text(lines)
        draw(report, latencies, RESULTS / "live.png")


def weigh_changes(report: Report) -> None:
    """What batches write and take that change few shortlists, or many."""
    found, whole = costs(CHANGED, SHARES)
    for cost in found:
        report.add(
            "cost of a change", shortlists=CHANGED, **cost._asdict(), whole_state_bytes=whole
        )


def steady(
    report: Report, log: Log, url: str, batches: Batches, rate: float, seconds: float
) -> list[float]:
    """Latency at a rate that publishers set, from a process of their own."""
    first = len(batches.reports)
    before = log.end(INPUT), log.end(DELIVERIES)
    code = (
        "from common.live_load import publish; from shortlist.log.opening import open_log; "
        f"print(publish(open_log({url!r}), {rate}, {seconds}))"
    )
    made = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, stdout=subprocess.PIPE, check=True
    )
    wait(lambda: batches.has_read(log))
    time.sleep(3)
    taken = {
        json.loads(entry.content)["id"]: entry.appended
        for entry in log.read(INPUT, before[0])
        if b'"id"' in entry.content
    }
    latencies = []
    for entry in log.read(DELIVERIES, before[1]):
        delivery = json.loads(entry.content)
        if delivery["cause"] == "arrival":
            latencies.append((entry.appended - taken[delivery["publication"]]) / 1e6)
    cuts = statistics.quantiles(latencies, n=100)
    mine = [each for _, each in batches.reports[first:] if each.counts["published"]]
    published = sum(each.counts["published"] for each in mine)
    report.add(
        "publish to delivery",
        publications=int(made.stdout),
        rate=rate,
        deliveries=log.end(DELIVERIES) - before[1],
        matches_per_publication=sum(each.counts["matched"] for each in mine) / published,
        p50_seconds=cuts[49],
        p99_seconds=cuts[98],
        batch_seconds=statistics.median(sum(each.seconds.values()) for each in mine),
        bytes_per_publication=sum(each.bytes_written for each in mine) / published,
    )
    return latencies


def under_load(report: Report, log: Log, batches: Batches) -> float:
    """Publications a second where there are always more to read."""
    first = len(batches.reports)
    backlog(log, BACKLOG)
    wait(lambda: batches.has_read(log))
    mine = batches.reports[first:]
    # the first full batch began while there was nothing to do; from its end on all is known
    seconds = mine[-1][0] - mine[0][0]
    made = sum(each.counts["published"] for _, each in mine[1:])
    report.add(
        "sustained",
        publications_per_second=made / seconds,
        deliveries_per_second=sum(each.deliveries.num_rows for _, each in mine[1:]) / seconds,
        batches=len(mine),
        steps={
            step: round(statistics.median(each.seconds[step] for _, each in mine), 3)
            for step in mine[0][1].seconds
        },
    )
    return made / seconds


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
