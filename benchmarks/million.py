"""A million subscriptions that are live on one machine, as somebody runs them: with `shortlist up`.

Run: python benchmarks/million.py [--subscriptions 1000000] [--on process] [--rate 1000]
     [--seconds 60]

The load is that of common/live_load.py, in ranges so narrow that about 53 subscriptions match a
publication, however many there are. Prints one JSON line per figure:

start                seconds until the first commit, of a new deployment (its registry is read and
                     compiled) and of one that goes on
publish to delivery  seconds between two entries of the log, at a rate that publishers set
memory               of all processes of the deployment, what they share counted once: the most at
                     its start, and the most while it runs
goal                 what was wanted, and whether it was met
"""

import argparse
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from common.goals import Goal
from common.latency import latencies_since, publish_at
from common.live_load import SHARE, backlog, subscriptions, wishes
from common.memory import PeakMemory
from common.report import Report

from shortlist.live.registers import committed, has_deployment
from shortlist.log.base import DELIVERIES, INPUT, Log
from shortlist.log.opening import open_log

WARM_UP = 20_000
"""Publications after which most of what is loaded late is there."""
GOALS = (
    Goal("memory: GiB", {"figure": "memory"}, "running_gib", 16, True),
    Goal("at its start: GiB", {"figure": "memory"}, "start_gib", 16, True),
    Goal("of the rate: kept up with", {"figure": "publish to delivery"}, "kept_up", 0.99),
)


def main() -> None:
    asked = arguments()
    report = Report(subscriptions=asked.subscriptions, on=asked.on)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "registry").mkdir()
        write(folder / "registry" / "subscriptions.jsonl", asked.subscriptions)
        url = f"sqlite:{folder / 'city.log'}"
        log = open_log(url)
        command = ["up", str(folder / "registry"), "--log", url, "--on", asked.on]
        with running(command) as up, PeakMemory(up.pid) as starting:
            report.add("start", kind="new", seconds=seconds_until(lambda: has_committed(log), up))
        with running(command) as up, PeakMemory(up.pid) as peak:
            before = committed(log)[1].number
            again = seconds_until(lambda: committed(log)[1].number > before, up)
            report.add("start", kind="again", seconds=again)
            backlog(log, WARM_UP, seed=2)
            wait_for_all(log, up)
            measure_latency(report, log, url, up, asked)
        report.add("memory", start_gib=starting.bytes / 2**30, running_gib=peak.bytes / 2**30)
    report.judge(GOALS)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--subscriptions", type=int, default=1_000_000)
    parser.add_argument("--on", choices=("spark", "process"), default="process")
    parser.add_argument("--rate", type=float, default=1_000)
    parser.add_argument("--seconds", type=float, default=60)
    return parser.parse_args()


def write(file: Path, count: int) -> None:
    """A registry as lines; its ranges allow as many matches as those of 100,000 do."""
    share = SHARE * (100_000 / count) ** (1 / 3)
    with file.open("w") as lines:
        for entry in subscriptions(wishes(count, share=share)):
            lines.write(json.dumps(entry) + "\n")


@contextmanager
def running(words: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A command of its own process, which is asked to stop in the end."""
    command = [sys.executable, "-m", "shortlist", *words, "--metrics", "off"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def has_committed(log: Log) -> bool:
    return has_deployment(log) and committed(log)[1].number > 0


def wait_for_all(log: Log, up: subprocess.Popen[bytes]) -> None:
    """Until all that is in the log now is read, and what came of it is put out."""
    end = log.end(INPUT)
    seconds_until(lambda: committed(log)[1].position >= end, up)
    number = committed(log)[1].number
    seconds_until(lambda: committed(log)[1].number > number + 1, up)


def seconds_until(is_so: Callable[[], bool], up: subprocess.Popen[bytes]) -> float:
    began = time.monotonic()
    while not is_so():
        if up.poll() is not None:
            raise RuntimeError(f"`shortlist up` has ended with {up.returncode}")
        time.sleep(0.05)
    return time.monotonic() - began


def measure_latency(
    report: Report, log: Log, url: str, up: subprocess.Popen[bytes], asked: argparse.Namespace
) -> None:
    taken, delivered, began = log.end(INPUT), log.end(DELIVERIES), time.monotonic()
    made = publish_at(url, asked.rate, asked.seconds, 200 if asked.on == "process" else 20)
    published = time.monotonic()
    seconds_until(lambda: committed(log)[1].position >= taken + made, up)
    behind = time.monotonic() - published
    wait_for_all(log, up)
    found = latencies_since(log, taken, delivered)
    cuts = statistics.quantiles(found, n=100)
    report.add(
        "publish to delivery",
        publications=made,
        rate=asked.rate,
        deliveries=len(found),
        p50_seconds=cuts[49],
        p99_seconds=cuts[98],
        seconds_behind_in_the_end=behind,
        kept_up=(published - began) / (published - began + max(behind - 1, 0)),
    )


if __name__ == "__main__":
    main()
