"""How large a deployment has to be: what one shard takes, and the model that extrapolates it.

Run: python benchmarks/sizing.py [--save]
Prints one JSON line per figure: a shard alone, in one process without Spark, with more and less
subscriptions and matches, and the least-squares fit of what they took. docs/sizing.md uses it.
"""

import argparse
import gc
import json
import os
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from common.goals import Goal
from common.live_load import flats, subscriptions, wishes
from common.memory import tree_memory
from common.one_shard import OneShard
from common.report import Report

import shortlist
from shortlist.log.base import INPUT
from shortlist.log.sqlite import SqliteLog
from shortlist.model.times import format_time

RESULTS = Path(__file__).parent / "results"
SIZES = (5_000, 20_000, 50_000)
SHARES = (0.05, 0.08, 0.12)
"""Of its range that each of three conditions allows: 1 to 17 matches per 10,000 subscriptions."""
BATCH = 2_000
REMEMBERED = 100_000
UNSETTLED, BATCHES = 8, 40
"""The first batches of a process load kernels, touch memory and fill shortlists; of the others, one
in some writes a snapshot."""
START = 1_700_000_000_000_000
PRICES = 3, 0.2, 1
"""Microseconds that a publication, a match and a delivery may take."""
GOALS = (
    Goal(
        "a shard: times its price",
        {"figure": "by its price", "of": "microseconds"},
        "most",
        1,
        True,
    ),
)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--save", action="store_true")
    asked = arguments.parse_args()
    report = Report()
    one_shard(1_000, 0.08)  # compiles the kernels
    # each in a process of its own, so that memory is its own, too
    with get_context("spawn").Pool(1, maxtasksperchild=1) as processes:
        for share in SHARES:
            for size in SIZES:
                report.add("one shard", **processes.apply(one_shard, (size, share)))
    fit(report)
    judge(report)
    remembered(report)
    logged(report)
    if asked.save:
        RESULTS.mkdir(exist_ok=True)
        lines = "".join(f"{json.dumps(row)}\n" for row in report.rows)
        (RESULTS / "sizing.jsonl").write_text(lines)


def one_shard(size: int, share: float) -> dict[str, float]:
    """A deployment of one shard in this process, fed with batches: what the one in the middle took
    for a publication, and what all of them did, some of which write a snapshot."""
    before = tree_memory(os.getpid())
    registry = shortlist.registry_from_documents(
        {"subscriptions": subscriptions(wishes(size, share=share))}
    )
    with tempfile.TemporaryDirectory() as name:
        shard = OneShard(registry, Path(name))
        began = time.perf_counter()
        shard.run([])
        restored = time.perf_counter() - began
        every = enumerate(flats())
        reports = [shard.run(_lines(every, BATCH)) for _ in range(BATCHES)]
        state = shard.state_bytes
        memory = tree_memory(os.getpid()) - before
    settled = reports[UNSETTLED:]
    published = sum(each.counts["published"] for each in settled)
    admissions, shards = (
        [1e6 * each.seconds[step] / BATCH for each in settled] for step in ("admission", "shards")
    )
    return {
        "subscriptions": size,
        "matches": sum(each.counts["matched"] for each in settled) / published,
        "deliveries": sum(each.deliveries.num_rows for each in settled) / published,
        "microseconds": statistics.median(shards),
        "microseconds_with_snapshots": statistics.mean(shards),
        "admission_microseconds": statistics.median(admissions),
        "restore_microseconds_per_subscription": 1e6 * restored / size,
        "memory_bytes": memory,
        "state_bytes_per_subscription": state / size,
        "written_bytes_per_publication": sum(each.bytes_written for each in settled) / published,
    }


def fit(report: Report) -> None:
    """Microseconds of a shard per publication = base + matches + deliveries, each by its price,
    and memory = base + subscriptions; so that the largest errors in percent are small."""
    rows = report.of({"figure": "one shard"})
    (base, match, delivery), error = _fitted(
        [[1, row["matches"], row["deliveries"]] for row in rows],
        [row["microseconds"] for row in rows],
    )
    (process, subscription), memory_error = _fitted(
        [[1, row["subscriptions"]] for row in rows], [row["memory_bytes"] for row in rows]
    )
    report.add(
        "model of a shard",
        microseconds_per_publication=base,
        microseconds_per_match=match,
        microseconds_per_delivery=delivery,
        largest_error=error,
        memory_bytes_of_a_process=process,
        memory_bytes_per_subscription=subscription,
        largest_memory_error=memory_error,
        state_bytes_per_subscription=_median(rows, "state_bytes_per_subscription"),
        restore_microseconds_per_subscription=_median(
            rows, "restore_microseconds_per_subscription"
        ),
    )


def judge(report: Report) -> None:
    """What a shard took, at most, by what its publications, matches and deliveries may take."""
    for name in ("microseconds", "microseconds_with_snapshots"):
        shares = [
            row[name] / (PRICES[0] + PRICES[1] * row["matches"] + PRICES[2] * row["deliveries"])
            for row in report.of({"figure": "one shard"})
        ]
        report.add("by its price", of=name, most=max(shares))
    report.judge(GOALS)


def remembered(report: Report) -> None:
    """What an id takes in memory for as long as `--dedup` says: what is left of publications that
    nobody wants."""
    nobody = shortlist.registry_from_documents(
        {"subscriptions": [{"id": "s", "where": "rare = 1"}]}
    )
    every = enumerate(flats())
    with tempfile.TemporaryDirectory() as name:
        shard = OneShard(nobody, Path(name))
        shard.run(_lines(every, BATCH))
        tracemalloc.start()
        before = pa.total_allocated_bytes()
        for _ in range(REMEMBERED // BATCH):
            shard.run(_lines(every, BATCH))
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0] + pa.total_allocated_bytes() - before
        tracemalloc.stop()
    report.add("remembered id", bytes=taken / REMEMBERED)


def logged(report: Report) -> None:
    """What an entry takes in a log of one file, beside its own bytes; and a day of heartbeats. And
    what publications take that are appended many at once."""
    beat = json.dumps({"time": format_time(START), "heartbeat": True}).encode()
    each = _logged_bytes([beat] * REMEMBERED, at_once=100)
    published = _lines(enumerate(flats()), REMEMBERED)
    report.add(
        "log entry",
        bytes_beside_its_own=each - len(beat),
        heartbeat_megabytes_a_day=each * 2 * 86_400 / 1e6,
        share_of_its_own_in_a_block=_logged_bytes(published, at_once=BATCH)
        / statistics.mean(map(len, published)),
    )


def _logged_bytes(lines: list[bytes], at_once: int) -> float:
    """Of the file of a log, for each line."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name, "some.log")
        log = SqliteLog(file)
        for first in range(0, len(lines), at_once):
            log.append(INPUT, lines[first : first + at_once])
        log.close()
        return file.stat().st_size / len(lines)


def _fitted(facts: list[list[float]], found: list[float]) -> tuple[list[float], float]:
    """The prices of facts by which what was found is explained best, and the largest error."""
    shares = np.array(facts) / np.array(found)[:, None]
    prices = np.linalg.lstsq(shares, np.ones(len(found)), rcond=None)[0]
    return prices.tolist(), float(np.abs(shares @ prices - 1).max())


def _median(rows: list[dict[str, Any]], name: str) -> float:
    largest = max(row["subscriptions"] for row in rows)
    return statistics.median(row[name] for row in rows if row["subscriptions"] == largest)


def _lines(every: Iterator[tuple[int, dict[str, Any]]], count: int) -> list[bytes]:
    """The next publications, each a millisecond after the one before."""
    return [
        json.dumps(flat | {"time": format_time(START + 1000 * number)}).encode()
        for number, flat in islice(every, count)
    ]


if __name__ == "__main__":
    main()
