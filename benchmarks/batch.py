"""Batches: the engine, alone and on Spark, beside DuckDB, which only matches; and a large job.

Run: python benchmarks/batch.py [--subscriptions 1000] [--publications 20000]
     [--large-subscriptions 100000] [--large-publications 300000] [--skip films,parquet] [--save]

Prints one JSON line per figure; --save keeps them in benchmarks/results. The figures:

duckdb                the conditions as SQL, one query per subscription, on one core: matches only
engine, one core      publications a second of the engine in this process, on the same films
memory of the engine  bytes a subscription, and of its snapshot
spark batch           `Job`, JSON lines to JSON lines, four policies, the registry compiled within
                      it; warm: after the same with few publications
Parquet to Parquet    `Job` on two cores with the subscriptions of the live load, of five
                      policies, 53 of 100,000 matching a publication. `publications_per_second` is
                      without all that does not depend on publications (compiling the registry,
                      planning): the seconds of a small job on the same registry, warm, are taken
                      off, and its publications; `publications_per_second_of_all` is with it.
                      Reading the registry is timed apart. Matches are compared with DuckDB's
goal                  what was wanted, and whether it was met
"""

import argparse
import json
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
from common.arguments import RESULTS, names
from common.memory import PeakMemory
from common.parquet_job import GOALS, parquet_job
from common.report import Report
from common.workloads import film_registry, films
from rich.console import Console

import shortlist
from shortlist.jobs.job import Job, Outputs
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.progress import Steps
from shortlist.spark.job import OnSpark

CORES = 2
SKIPPABLE = ("films", "parquet")
SAMPLE = 1_000
"""Publications that the engine alone is timed on; its speed does not depend on their number."""


def main() -> None:
    asked = arguments()
    report = Report()
    if "films" not in asked.skip:
        films_of(report, asked.subscriptions, asked.publications)
    if "parquet" not in asked.skip:
        shortlist.local_session(cores=CORES)
        with tempfile.TemporaryDirectory() as folder:
            sizes = asked.large_subscriptions, asked.large_publications
            parquet_job(report, *sizes, Path(folder))
        report.judge(GOALS)
    if asked.save:
        RESULTS.mkdir(exist_ok=True)
        report.write(RESULTS / "batch.jsonl")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--subscriptions", type=int, default=1_000)
    parser.add_argument("--publications", type=int, default=20_000)
    parser.add_argument("--large-subscriptions", type=int, default=100_000)
    parser.add_argument("--large-publications", type=int, default=300_000)
    parser.add_argument("--skip", type=names(SKIPPABLE), default=[], help=", ".join(SKIPPABLE))
    parser.add_argument("--save", action="store_true")
    asked = parser.parse_args()
    if asked.save and asked.skip:
        parser.error("--save: expected nothing to be skipped")
    return asked


def films_of(report: Report, subscriptions: int, publications: int) -> None:
    """Adds what films of a few policies take."""
    document = film_registry(subscriptions)
    registry = shortlist.registry_from_documents(document)
    lines = list(films(publications))
    size = {"subscriptions": subscriptions, "publications": publications}

    joined, seconds = duckdb_queries(document, lines)
    add_speed(
        report,
        "duckdb, one query per subscription, matches only",
        seconds,
        matches=joined,
        **size,
    )
    baseline = publications / seconds
    sample = lines[:SAMPLE]
    seconds = engine_alone(registry, sample)
    add_speed(
        report,
        "engine, one core",
        seconds,
        subscriptions=subscriptions,
        publications=len(sample),
        ratio_to_duckdb=len(sample) / seconds / baseline,
    )
    add_memory(report, registry)
    with tempfile.TemporaryDirectory() as folder:
        few, source = Path(folder, "few.jsonl"), Path(folder, "films.jsonl")
        few.write_text("\n".join(sample))
        source.write_text("\n".join(lines))
        shortlist.local_session(cores=CORES)
        for shards in (1, 2):
            on_spark(registry, few, shards)
            with PeakMemory() as peak:
                found = on_spark(registry, source, shards)
            seconds = found["seconds"]
            add_speed(
                report,
                f"spark batch, {shards} shards",
                seconds,
                matches=found["matched"],
                deliveries=found["deliveries"],
                peak_gib=peak.bytes / 2**30,
                ratio_to_duckdb=publications / seconds / baseline,
                **size,
            )


def add_speed(report: Report, figure: str, seconds: float, **facts: Any) -> None:
    speed = facts["publications"] / seconds
    report.add(
        figure,
        publications_per_second=speed,
        pairs_per_second=speed * facts["subscriptions"],
        seconds=seconds,
        **facts,
    )


def add_memory(report: Report, registry: Registry) -> None:
    tracemalloc.start()
    engine = shortlist.Engine(registry)
    per_subscription = tracemalloc.get_traced_memory()[0] / len(registry.subscriptions)
    tracemalloc.stop()
    state = len(engine.snapshot()) / len(registry.subscriptions)
    report.add(
        "memory of the engine",
        bytes_per_subscription=per_subscription,
        snapshot_bytes_per_subscription=state,
    )


def engine_alone(registry: Registry, lines: list[str]) -> float:
    started = time.perf_counter()
    shortlist.replay(registry, lines)
    return time.perf_counter() - started


def on_spark(registry: Registry, source: Path, shards: int) -> dict[str, Any]:
    """What a whole job reports, and its seconds."""
    outputs = Outputs(
        deliveries=source.with_name("deliveries.jsonl"), rejects=source.with_name("rejects.jsonl")
    )
    steps = Steps(Console(stderr=True), quiet=True)
    return Job(registry, source, outputs, Settings(), steps, shards=shards).run(OnSpark())


def duckdb_queries(document: dict[str, Any], lines: list[str]) -> tuple[int, float]:
    """How long the same conditions take as SQL, one query each, over a table in memory."""
    database = duckdb.connect(config={"threads": 1})
    rows = [tuple(json.loads(line)["data"].values()) for line in lines]
    frame = pd.DataFrame(rows, columns=["year", "length", "rating", "votes", "genre", "budget"])
    database.register("frame", frame)
    database.execute("create table films as select * from frame")
    started = time.perf_counter()
    matches = 0
    for subscription in document["subscriptions"]:
        query = f"select rowid from films where {subscription['where']}"
        matches += len(database.execute(query).fetchnumpy()["rowid"])
    return matches, time.perf_counter() - started


if __name__ == "__main__":
    main()
