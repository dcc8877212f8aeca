"""A whole batch job, Parquet to Parquet: the subscriptions of the live load and their policies."""

from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from rich.console import Console

import shortlist
from shortlist.jobs.job import Job, Outputs
from shortlist.model.settings import Settings
from shortlist.progress import Steps
from shortlist.spark.job import OnSpark

from .duckdb_loop import match_query
from .goals import Goal
from .grid import CUBE
from .live_load import ATTRIBUTES, RANGE, SOURCE, Wish, subscriptions, wishes
from .report import Report
from .timing import timed

FEW = 2_000
"""Publications of a job that takes as long as all that is not about publications."""
START = 1_700_000_000_000_000
APART = 1_000
"""Microseconds of event time between two publications."""
FIGURE = "Parquet to Parquet"
GOALS = (Goal(FIGURE, {"figure": FIGURE}, "publications_per_second", 30_000),)


def parquet_job(report: Report, count: int, publications: int, folder: Path) -> None:
    """Adds its speed; how many matches it counts is compared with a join in DuckDB."""
    found = wishes(count)
    few, many = (write_flats(folder, each) for each in (FEW, publications))
    read = partial(shortlist.registry_from_documents, {"subscriptions": subscriptions(found)})
    registry, registry_seconds = timed(read)
    steps = Steps(Console(stderr=True), quiet=True)

    def job(source: Path) -> dict[str, Any]:
        outputs = Outputs(deliveries=folder / "out.parquet", rejects=folder / "rejects.jsonl")
        return Job(registry, source, outputs, Settings(), steps).run(OnSpark())

    job(few)  # compiles kernels and starts processes
    _, small_seconds = timed(partial(job, few))
    counts, seconds = timed(partial(job, many))
    same = counts["matched"] == count_matches(many, found)
    facts = {"subscriptions": count, "publications": publications}
    report.compared(same, FIGURE, to="duckdb", **facts)
    report.add(
        FIGURE,
        **facts,
        publications_per_second=(publications - FEW) / (seconds - small_seconds),
        publications_per_second_of_all=publications / seconds,
        seconds=seconds,
        small_job_seconds=small_seconds,
        registry_seconds=registry_seconds,
        matches_per_publication=counts["matched"] / publications,
        deliveries=counts["deliveries"],
    )


def write_flats(folder: Path, count: int) -> Path:
    """Writes so many publications to a file."""
    file = folder / f"flats-{count}.parquet"
    pq.write_table(flats_table(count), file)
    return file


def flats_table(count: int, seed: int = 0) -> pa.Table:
    """Publications with a column for each attribute.

    >>> flats_table(3).column("id").to_pylist()
    ['f0', 'f1', 'f2']
    """
    drawn = np.random.default_rng(seed).integers(0, RANGE, (len(ATTRIBUTES), count), np.int32)
    numbers = np.arange(count)
    ids = pc.binary_join_element_wise("f", pa.array(numbers).cast(pa.string()), "")
    times = pa.array(START + APART * numbers).cast(pa.timestamp("us", "UTC"))
    attributes = dict(zip(ATTRIBUTES, drawn, strict=True))
    return pa.table({"id": ids, "source": pa.repeat(SOURCE, count), "time": times, **attributes})


def count_matches(file: Path, found: list[Wish]) -> int:
    """How many pairs of a publication of a file and a wish match, by a join of cells."""
    with duckdb.connect() as database:
        database.register("cells", CUBE.cut(found))
        database.execute(f"create view flats as select *, 0 as position from '{file}'")
        counted = database.execute(f"select count(*) from ({match_query(CUBE)})").fetchall()
    return int(counted[0][0])
