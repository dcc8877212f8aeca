"""`shortlist up` on Spark, as its user sees it: to its first commit, and after a worker's death."""

import os
import signal
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from shortlist.cli.running import SPARK_RUNS
from shortlist.live.registers import committed, has_deployment
from shortlist.log.base import INPUT, Log
from shortlist.log.opening import open_log

from .live_load import backlog, subscriptions, wishes
from .report import Report
from .starts import written

FEW = 1_000
"""Subscriptions whose recovery takes what Spark takes."""
KILLS = 5
SHARD = b"SHORTLIST_SHARD="
MARK = "SHORTLIST_BENCHMARK"
"""In the environment of what is started here: nobody else's processes may be killed."""
LIMIT = 600.0


def report_ups(report: Report, many: int, folder: Path, bare: float) -> None:
    """To the first commit, new and again, and beyond a bare session; then what it takes until what
    was published after a worker was killed is committed, beyond the same with few subscriptions."""
    recovered: dict[int, float] = {}
    for size in (FEW, many):
        place = folder / str(size)
        written(place, subscriptions(wishes(size)))
        for start in ("new", "again"):
            with up(place) as (log, mark, seconds):
                if size == many:
                    beyond = seconds - bare
                    report.add("up", start=start, seconds=seconds, beyond_bare_seconds=beyond)
                if start == "again":
                    wait(lambda place=place: SPARK_RUNS in said_in(place).read_text())
                    recovered[size] = statistics.median(recoveries(log, mark))
    report.add(
        "recovery",
        seconds=recovered[many],
        with_few_seconds=recovered[FEW],
        beyond_seconds=recovered[many] - recovered[FEW],
    )


@contextmanager
def up(folder: Path) -> Iterator[tuple[Log, str, float]]:
    """A deployment that has committed something since it began, the mark of its processes, and how
    long that took."""
    mark = uuid.uuid4().hex
    url = f"sqlite:{folder / 'live.log'}"
    log = open_log(url)
    backlog(log, 10, seed=time.time_ns())
    before = committed(log)[1].number if has_deployment(log) else 0
    words = ["up", str(folder / "registry"), "--log", url, "--metrics", "off"]
    began = time.monotonic()
    with said_in(folder).open("wb") as said:
        program = subprocess.Popen(
            [sys.executable, "-m", "shortlist", *words],
            stderr=said,
            env={**os.environ, MARK: mark},
        )
    try:
        wait(lambda: has_deployment(log) and committed(log)[1].number > before)
        yield log, mark, time.monotonic() - began
    finally:
        program.terminate()
        program.wait()
        log.close()


def said_in(folder: Path) -> Path:
    """The file with what the last deployment there has said."""
    return folder / "up.txt"


def recoveries(log: Log, mark: str) -> list[float]:
    """Seconds from the death of a worker that has a shard until what came then is committed."""
    seeds, found = count(time.time_ns()), []
    settle(log, next(seeds))
    for _ in range(KILLS):
        os.kill(shard_workers(mark)[0], signal.SIGKILL)
        began = time.monotonic()
        settle(log, next(seeds))
        found.append(time.monotonic() - began)
        time.sleep(1)
    return found


def settle(log: Log, seed: int) -> None:
    """Publishes something, and returns when it is committed."""
    backlog(log, 10, seed)
    end = log.end(INPUT)
    wait(lambda: committed(log)[1].position >= end)


def shard_workers(mark: str) -> list[int]:
    """Python processes of Spark's with this mark that hold a shard: each is forked by a daemon of
    its own, which leads its group."""
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [pid for pid in pids if _is_of_shard(pid, mark) and _group(pid) != pid]


def _is_of_shard(pid: int, mark: str) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
    is_ours = f"{MARK}={mark}".encode() in environment
    is_pinned = any(each.startswith(SHARD) for each in environment)
    return is_ours and is_pinned and b"shortlist.spark.daemon" in command


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return pid


def wait(until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT
    while not until():
        if time.monotonic() > deadline:
            raise TimeoutError("the deployment has not come to it")
        time.sleep(0.005)
