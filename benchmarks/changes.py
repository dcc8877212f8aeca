"""Subscriptions that come, change and go while a live deployment matches.

Run: python benchmarks/changes.py [--subscriptions 100000] [--publications 4096] [--changes 2048]
     [--batches 20] [--apart]

The deployment runs in processes of this machine, as `up --on process` does, with the load of
common/live_load.py; it has opened its registry, and takes publications and commands from its log.
A third of the changes each subscribes, updates and unsubscribes. They stand between publications,
drawn at random, or with `--apart` before all of a batch. One JSON line per figure:

opened      seconds from the start of a deployment whose registry was compiled before to its first
            commit
quiet       seconds of a batch of so many publications, the median and the most
changing    the same with so many changes among them; `changes_per_second` are those of all batches
            by their seconds, `slowdown` and `worst_slowdown` by the median quiet batch
beside      changes that stand beside the registries of shards in the end
goal        what was wanted, and whether it was met
"""

import argparse
import json
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from common.goals import Goal
from common.live_load import flats, subscriptions, wishes
from common.report import Report

import shortlist
from shortlist.live import driver as live
from shortlist.live.lanes import ProcessGround
from shortlist.live.places import files_in
from shortlist.live.running import Running, Wanted
from shortlist.live.states import read_state
from shortlist.log.base import INPUT, Log
from shortlist.log.opening import open_log
from shortlist.model.registry import Registry
from shortlist.model.times import format_time
from shortlist.unused import collect_seldom

WARM_UP = 5
"""Batches before the first that counts."""
GOALS = (
    Goal("changes/s while matching", {"figure": "changing"}, "changes_per_second", 5_000),
    Goal("slowest batch, by a quiet one", {"figure": "changing"}, "worst_slowdown", 2, True),
)


class Batches:
    """Hears of batches."""

    def __init__(self) -> None:
        self.reports: list[live.Report] = []
        self.driver: live.Driver | None = None
        self.position = 0

    def compiling(self, left: Sequence[str]) -> None: ...

    def started(self, driver: live.Driver, log: Log) -> None:
        self.driver = driver

    def ran(
        self, report: live.Report, driver: live.Driver, log: Log, appended: dict[int, int]
    ) -> None:
        self.reports.append(report)
        self.position = driver.manifest.position

    def failed(self, error: BaseException, pause: float) -> None:
        print(json.dumps({"figure": "failed", "error": repr(error)}), flush=True)

    def stopped(self) -> None: ...


class Load:
    """Lines for a deployment: publications, and changes of who is live."""

    def __init__(self, count: int) -> None:
        self._random = Random(5)
        self._flats = flats(3)
        self._wishes = iter(subscriptions(wishes(10 * count, seed=9)))
        self._live = [f"s{number}" for number in range(count)]
        self._made = 0

    def lines(self, publications: int, changes: int, *, apart: bool) -> list[bytes]:
        """A batch, each line a microsecond after the one before, as of now."""
        is_change = [True] * changes + [False] * publications
        if not apart:
            self._random.shuffle(is_change)
        now = time.time_ns() // 1000
        made = (self._change() if each else next(self._flats) for each in is_change)
        return [
            json.dumps(line | {"time": format_time(now + place)}).encode()
            for place, line in enumerate(made)
        ]

    def _change(self) -> dict[str, Any]:
        kind, place = self._random.choice("sun"), self._random.randrange(len(self._live))
        wish = next(self._wishes)
        if kind == "s":
            self._made += 1
            self._live.append(f"n{self._made}")
            return {"subscribe": wish | {"id": self._live[-1]}}
        if kind == "u":
            return {"update": {"subscription": self._live[place], "where": wish["where"]}}
        self._live[place], self._live[-1] = self._live[-1], self._live[place]
        return {"unsubscribe": self._live.pop()}


def main() -> None:
    asked = arguments()
    collect_seldom()  # as the program does
    report = Report(subscriptions=asked.subscriptions, publications=asked.publications)
    registry = shortlist.registry_from_documents(
        {"subscriptions": subscriptions(wishes(asked.subscriptions))}
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with deployed(folder, registry):
            pass  # it is compiled
        load, began = Load(asked.subscriptions), time.monotonic()
        with deployed(folder, registry) as (log, batches):
            report.add("opened", seconds=time.monotonic() - began)
            measure(report, log, batches, load, asked)
            assert batches.driver is not None
            report.add("beside", changes=beside(batches.driver, folder))
    report.judge(GOALS)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--subscriptions", type=int, default=100_000)
    parser.add_argument("--publications", type=int, default=4_096)
    parser.add_argument("--changes", type=int, default=2_048)
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--apart", action="store_true")
    return parser.parse_args()


@contextmanager
def deployed(folder: Path, registry: Registry) -> Iterator[tuple[Log, Batches]]:
    """A deployment that has committed something since it began."""
    url, batches = f"sqlite:{folder / 'live.log'}", Batches()
    running = Running(
        Wanted(log=url, folder=folder / "state", registry=registry), ProcessGround(), batches
    )
    thread, log = threading.Thread(target=running.run), open_log(url)
    thread.start()
    try:
        wait(lambda: bool(batches.reports))
        yield log, batches
    finally:
        running.stop()
        thread.join()
        log.close()


def measure(
    report: Report, log: Log, batches: Batches, load: Load, asked: argparse.Namespace
) -> None:
    quiet: list[float] = []
    for figure, changes in (("quiet", 0), ("changing", asked.changes)):
        rounds = [
            seconds(log, batches, load.lines(asked.publications, changes, apart=asked.apart))
            for _ in range(WARM_UP + asked.batches)
        ][WARM_UP:]
        took = [sum(each.values()) for each in rounds]
        steps = {
            step: round(statistics.median(each.get(step, 0) for each in rounds), 4)
            for step in rounds[0]
        }
        facts: dict[str, Any] = {"median": statistics.median(took), "most": max(took)}
        if changes:
            usual = statistics.median(quiet)
            facts |= {
                "changes": changes,
                "changes_per_second": changes * len(took) / sum(took),
                "slowdown": statistics.median(took) / usual,
                "worst_slowdown": max(took) / usual,
            }
        report.add(figure, **facts, steps=steps)
        quiet = took


def seconds(log: Log, batches: Batches, lines: list[bytes]) -> dict[str, float]:
    """What the batches took that have these lines, by step."""
    first = len(batches.reports)
    log.append(INPUT, lines)
    end = log.end(INPUT)
    wait(lambda: batches.position >= end)
    found: dict[str, float] = {}
    for each in batches.reports[first:]:
        if each.counts["published"] or each.counts["commands"]:
            for step, took in each.seconds.items():
                found[step] = found.get(step, 0) + took
    return found


def beside(driver: live.Driver, folder: Path) -> int:
    """Changes beside the registries of all shards."""
    files = files_in(folder / "state")
    states = (read_state(chain, files.read) for chain in driver.manifest.shards)
    return sum(len(state.document.get("changes", ())) for state in states)


def wait(until: Any, limit: float = 600) -> None:
    deadline = time.monotonic() + limit
    while not until():
        if time.monotonic() > deadline:
            raise TimeoutError("the deployment has not come to it")
        time.sleep(0.005)


if __name__ == "__main__":
    main()
