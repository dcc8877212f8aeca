"""What others do with the load of a live deployment, and what the deployment was to show."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from shortlist.log.base import INPUT
from shortlist.log.opening import open_log
from shortlist.spark.streaming import stream_log

from .duckdb_loop import DuckDbLoop, best_by_scan
from .goals import Goal
from .grid import CUBE, SQUARE, Grid
from .live_baseline import JOINS, measure
from .live_load import Wish, backlog
from .report import Report

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WARM_UP = 80_000
"""Publications that the loop in DuckDB reads first, about as many as the deployment does: the
fuller shortlists are, the less is delivered."""
TIMED = 120_000
BATCHES = (2_000, 4_000, 8_000)
"""Publications in a micro-batch of the loop: the best of these counts."""
JUDGED = 500
"""Subscriptions whose best are compared with a scan."""
EMPTY = 12
"""Micro-batches with nothing to do that are timed; the first third warms up."""


class Loop(NamedTuple):
    """A loop in DuckDB."""

    name: str
    grid: Grid
    floors: bool = False
    puts_out: bool = True


LOOPS = (
    Loop("DuckDB loop", SQUARE),
    Loop("DuckDB loop, nothing put out", SQUARE, puts_out=False),
    Loop("DuckDB loop, tuned further", CUBE, floors=True),
)
"""As a strong engineer writes it; with deliveries that stay in its tables; with another grid, and
what cannot count left out early."""

GOALS = (
    Goal("publications/s", {"figure": "sustained"}, "publications_per_second", 20_000),
    Goal("times the DuckDB loop", {"figure": LOOPS[0].name, "is_best": True}, "ratio", 1.5),
    Goal("times the grid join of Spark", {"figure": "Spark, grid join"}, "ratio", 8),
    Goal("p50 by an empty micro-batch", {"figure": "latency"}, "p50_by_empty", 2.5, at_most=True),
    Goal("p99 by an empty micro-batch", {"figure": "latency"}, "p99_by_empty", 5, at_most=True),
)

_DELIVERY = {"figure": "publish to delivery"}
GOALS_IN_PROCESSES = (
    Goal("seconds to the first commit", {"figure": "start to first commit"}, "seconds", 2, True),
    Goal("p50, durable to durable", _DELIVERY, "p50_seconds", 0.05, True),
    Goal("p99, durable to durable", _DELIVERY, "p99_seconds", 0.25, True),
)


def duckdb_loops(report: Report, found: Sequence[Wish], folder: Path, ours: float) -> None:
    """Adds each loop with micro-batches of several sizes, then the best of each once more."""
    log = open_log(f"sqlite:{folder / 'loops.log'}")
    backlog(log, WARM_UP + TIMED)
    some = range(min(JUDGED, len(found)))
    expected = best_by_scan(log, found, some)
    for name, grid, floors, puts_out in LOOPS:
        rows = []
        for at_most in BATCHES:
            file = folder / f"{name} {at_most}"
            outlet = open_log(f"sqlite:{file}.log") if puts_out else None
            loop = DuckDbLoop(file, found, grid, floors=floors, outlet=outlet)
            speed = loop.run(log, at_most, WARM_UP)
            report.compared(loop.best_of(some) == expected, name, to="scan", at_most=at_most)
            loop.close()
            if outlet is not None:
                outlet.close()
            facts = {"grid": grid.name, "at_most": at_most, **speed._asdict()}
            rows.append(facts | {"ratio": ours / speed.publications_per_second})
            report.add(name, **rows[-1])
        report.add(name, **min(rows, key=lambda row: row["ratio"]), is_best=True)
    log.close()


def spark_join(report: Report, join: str, subscriptions: int, folder: Path, ours: float) -> None:
    """Adds a join in plain Structured Streaming."""
    own = folder / f"{join} join"
    own.mkdir()
    url = f"sqlite:{own / 'flats.log'}"
    backlog(open_log(url), JOINS[join].publications)
    facts = measure(join, url, subscriptions, own)
    report.add(f"Spark, {join} join", **facts, ratio=ours / facts["publications_per_second"])


def empty_batch(report: Report, spark: SparkSession, folder: Path) -> float:
    """Adds the seconds of a micro-batch of plain Structured Streaming over a log that does nothing
    with the one line that comes: less is no latency to hope for."""
    url = f"sqlite:{folder / 'empty.log'}"
    log = open_log(url)
    log.append(INPUT, [b"{}"])

    def look(batch: DataFrame, _: int) -> None:
        batch.collect()

    query = (
        stream_log(spark, url)
        .frame.writeStream.foreachBatch(look)
        .option("checkpointLocation", str(folder / "empty"))
        .start()
    )
    while len(done := [each for each in query.recentProgress if each["numInputRows"]]) < EMPTY:
        if problem := query.exception():
            raise problem
        log.append(INPUT, [b"{}"])
        time.sleep(0.5)
    query.stop()
    took = [each["durationMs"]["triggerExecution"] / 1000 for each in done[EMPTY // 3 :]]
    seconds = statistics.median(took)
    report.add("empty micro-batch", batches=len(took), seconds=seconds)
    return seconds
