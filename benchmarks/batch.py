"""The engine, alone and on Spark, beside DuckDB, which only matches.

Run: python benchmarks/batch.py [--subscriptions 1000] [--publications 20000]
Prints one JSON line per figure.
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
from common.memory import PeakMemory
from common.workloads import film_registry, films

import shortlist
from shortlist.model.registry import Registry
from shortlist.spark.batch import Batch
from shortlist.spark.sinks import write_deliveries
from shortlist.spark.sources import read_files

SAMPLE = 1_000
"""Publications that the engine alone is timed on; its speed does not depend on their number."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--subscriptions", type=int, default=1_000)
    arguments.add_argument("--publications", type=int, default=20_000)
    asked = arguments.parse_args()
    document = film_registry(asked.subscriptions)
    registry = shortlist.registry_from_documents(document)
    lines = list(films(asked.publications))
    size = {"subscriptions": asked.subscriptions, "publications": asked.publications}

    joined, seconds = duckdb_queries(document, lines)
    report("duckdb, one query per subscription, matches only", seconds, matches=joined, **size)
    baseline = asked.publications / seconds
    sample = lines[:SAMPLE]
    seconds = engine_alone(registry, sample)
    report(
        "engine, one core",
        seconds,
        subscriptions=asked.subscriptions,
        publications=len(sample),
        ratio_to_duckdb=len(sample) / seconds / baseline,
    )
    report_memory(registry)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "films.jsonl")
        source.write_text("\n".join(lines))
        shortlist.local_session()
        for shards in (1, 2):
            with PeakMemory() as peak:
                counts, seconds = on_spark(registry, source, shards, Path(folder))
            report(
                f"spark batch, {shards} shards",
                seconds,
                matches=counts["matched"],
                deliveries=counts["arrival"] + counts["promotion"],
                peak_gib=peak.bytes / 2**30,
                ratio_to_duckdb=asked.publications / seconds / baseline,
                **size,
            )


def report(figure: str, seconds: float, **facts: Any) -> None:
    speed = facts["publications"] / seconds
    pairs = speed * facts["subscriptions"]
    rounded = {
        name: round(value, 3) if isinstance(value, float) else value
        for name, value in facts.items()
    }
    print(
        json.dumps(
            {
                "figure": figure,
                "publications_per_second": round(speed, 1),
                "pairs_per_second": round(pairs),
                "seconds": round(seconds, 2),
                **rounded,
            }
        ),
        flush=True,
    )


def report_memory(registry: Registry) -> None:
    tracemalloc.start()
    engine = shortlist.Engine(registry)
    per_subscription = tracemalloc.get_traced_memory()[0] / len(registry.subscriptions)
    tracemalloc.stop()
    state = len(engine.snapshot()) / len(registry.subscriptions)
    print(
        json.dumps(
            {
                "figure": "memory of the engine",
                "bytes_per_subscription": round(per_subscription),
                "snapshot_bytes_per_subscription": round(state),
            }
        ),
        flush=True,
    )


def engine_alone(registry: Registry, lines: list[str]) -> float:
    started = time.perf_counter()
    shortlist.replay(registry, lines)
    return time.perf_counter() - started


def on_spark(
    registry: Registry, source: Path, shards: int, folder: Path
) -> tuple[dict[str, Any], float]:
    started = time.perf_counter()
    batch = Batch(read_files(shortlist.local_session(), source), registry, shards=shards, keep=True)
    write_deliveries(batch.deliveries, folder / "deliveries.jsonl")
    counts = batch.counts()
    batch.release()
    return counts, time.perf_counter() - started


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
