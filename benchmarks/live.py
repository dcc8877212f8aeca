"""A live deployment on this machine beside plain Structured Streaming.

Run: python benchmarks/live.py [--subscriptions 100000] [--rate 1000] [--seconds 60]
Prints one JSON line per figure. What the baseline finds is less: the best of a fixed window of
time, without k, later promotion, novelty, ranks or commands.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from common.live_baseline import joined_per_second
from common.live_load import backlog, subscriptions, wishes

import shortlist
from shortlist.live.driver import Driver, Report
from shortlist.log.base import DELIVERIES, INPUT, Log
from shortlist.log.opening import open_log
from shortlist.spark.running import Running, Wanted

BACKLOG = 40_000
"""Publications that are there before the deployment may read them, for its speed under load."""
BASELINE = 2_500


class Batches:
    """Keeps what the deployment says."""

    def __init__(self) -> None:
        self.reports: list[tuple[float, Report]] = []
        self.driver: Driver | None = None

    def started(self, driver: Driver, log: Log) -> None:
        self.driver = driver

    def ran(self, report: Report, driver: Driver, log: Log, appended: dict[int, int]) -> None:
        self.reports.append((time.monotonic(), report))

    def failed(self, error: BaseException, pause: float) -> None:
        print(json.dumps({"figure": "failed", "error": repr(error)}), flush=True)

    def stopped(self) -> None: ...


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--subscriptions", type=int, default=100_000)
    arguments.add_argument("--rate", type=float, default=1_000)
    arguments.add_argument("--seconds", type=float, default=60)
    asked = arguments.parse_args()
    spark = shortlist.local_session()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = wishes(asked.subscriptions)
        registry = shortlist.registry_from_documents({"subscriptions": subscriptions(found)})
        url = f"sqlite:{folder / 'live.log'}"
        log, batches = open_log(url), Batches()
        running = Running(
            Wanted(log=url, folder=folder / "state", registry=registry), spark, batches
        )
        thread = threading.Thread(target=running.run)
        began = time.monotonic()
        thread.start()
        _wait(lambda: bool(batches.reports))
        report("start to first commit", seconds=time.monotonic() - began)
        steady(log, url, batches, asked.rate, asked.seconds)
        ours = under_load(log, batches)
        assert batches.driver is not None
        state = batches.driver.manifest.state_bytes
        report("state", bytes=state, bytes_per_subscription=state / asked.subscriptions)
        quiet(batches)
        running.stop()
        thread.join()
        past = f"sqlite:{folder / 'baseline.log'}"
        backlog(open_log(past), BASELINE)
        rows, theirs = joined_per_second(spark, past, found, folder)
        report(
            "plain Structured Streaming, join and best per window",
            publications_per_second=theirs,
            rows=rows,
            ratio=ours / theirs,
        )


def steady(log: Log, url: str, batches: Batches, rate: float, seconds: float) -> None:
    """Latency at a rate that publishers set, from a process of its own."""
    before = log.end(INPUT), log.end(DELIVERIES)
    code = (
        "from common.live_load import publish; from shortlist.log.opening import open_log; "
        f"print(publish(open_log({url!r}), {rate}, {seconds}))"
    )
    made = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, stdout=subprocess.PIPE, check=True
    )
    _wait(lambda: _is_read(log, batches))
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
    report(
        "publish to delivery",
        publications=int(made.stdout),
        rate=rate,
        deliveries=log.end(DELIVERIES) - before[1],
        matches_per_publication=_matches(batches),
        p50_seconds=cuts[49],
        p99_seconds=cuts[98],
        batch_seconds=statistics.median(sum(each.seconds.values()) for _, each in batches.reports),
    )


def under_load(log: Log, batches: Batches) -> float:
    """Publications a second where there are always more to read."""
    first = len(batches.reports)
    backlog(log, BACKLOG)
    _wait(lambda: _is_read(log, batches))
    mine = batches.reports[first:]
    # the first full batch begins somewhere; from its end on everything is known
    seconds = mine[-1][0] - mine[0][0]
    made = sum(each.counts["published"] for _, each in mine[1:])
    report(
        "sustained",
        publications_per_second=made / seconds,
        deliveries_per_second=sum(each.deliveries.num_rows for _, each in mine[1:]) / seconds,
        batches=len(mine),
        steps={
            step: statistics.median(each.seconds[step] for _, each in mine)
            for step in mine[0][1].seconds
        },
    )
    return made / seconds


def quiet(batches: Batches) -> None:
    """What a batch writes to which nothing comes but time."""
    first = len(batches.reports)
    _wait(lambda: len(batches.reports) >= first + 5)
    silent = [each for _, each in batches.reports[first:] if not each.counts]
    if silent:
        report(
            "quiet batch",
            bytes_written=statistics.median(each.bytes_written for each in silent),
            seconds=statistics.median(sum(each.seconds.values()) for each in silent),
        )


def report(figure: str, **numbers: Any) -> None:
    print(json.dumps({"figure": figure, **numbers}), flush=True)


def _matches(batches: Batches) -> float:
    counts = [each.counts for _, each in batches.reports]
    return sum(each["matched"] for each in counts) / sum(each["published"] for each in counts)


def _is_read(log: Log, batches: Batches) -> bool:
    assert batches.driver is not None
    return batches.driver.manifest.position >= log.end(INPUT)


def _wait(until: Any, seconds: float = 900) -> None:
    deadline = time.monotonic() + seconds
    while not until():
        if time.monotonic() > deadline:
            raise TimeoutError("the deployment has not come to it")
        time.sleep(0.05)


if __name__ == "__main__":
    main()
