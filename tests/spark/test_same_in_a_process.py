"""A job writes the same on Spark and in a process: the same bytes, and the same rows in folders."""

import json
import random
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shortlist.intake.files import read_registry, registry_from_documents
from shortlist.jobs.compiling import compile_registry
from shortlist.jobs.job import Streamed
from shortlist.jobs.process import InProcess
from shortlist.model.settings import Settings
from shortlist.spark.job import OnSpark
from tests.jobs.running import ran
from tests.strategies import SECOND, registry, seeded, timeline

pytestmark = pytest.mark.spark

CASES = sorted(path.parent for path in Path(__file__).parents[1].glob("cases/*/expected.jsonl"))
SOAK = pytest.mark.soak
"""Every job on Spark takes seconds."""


def both(tmp_path, *job, **more):
    """What the two grounds reported and wrote."""
    here = ran(InProcess(), tmp_path / "process", *job, **more)
    there = ran(OnSpark(), tmp_path / "spark", *job, **more)
    return here, there


def all_ways(tmp_path, *job, **more):
    """The same also through DataFrames, here and as on a cluster."""
    here, there = both(tmp_path, *job, **more)
    frames = ran(OnSpark(most_at_hand=0), tmp_path / "frames", *job, **more)
    assert _without_tables(frames) == _without_tables(there)
    with patch("shortlist.spark.job.is_local", return_value=False):
        cluster = ran(OnSpark(), tmp_path / "cluster", *job, **more)
    assert _without_tables(cluster) == _without_tables(there)
    return here, there


def _without_tables(ran):
    report, files = ran
    return report, {name: files[name] for name in files if not name.endswith(".parquet")}


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=[] if case.name == "audience" else SOAK, id=case.name)
        for case in CASES
    ],
)
def test_a_worked_case(spark, tmp_path, case):
    commands = (case / "timeline.jsonl").exists()
    source = case / ("timeline.jsonl" if commands else "publications.jsonl")
    known = read_registry(case / "registry.json")
    job = {"commands": commands, "with_data": True, "shards": 2}
    here, there = all_ways(tmp_path, known, source, **job)
    assert here == there
    assert all(here[1][name] for name in ("deliveries.jsonl", "explanations.jsonl"))
    compiled = compile_registry(case / "registry.json", folder=tmp_path / "compiled", shards=2)
    assert ran(OnSpark(most_at_hand=0), tmp_path / "opened", compiled, source, **job) == here


@pytest.mark.parametrize(
    ("seed", "how"),
    [
        (1, Streamed(at_most=20)),
        *(pytest.param(seed, None, marks=SOAK) for seed in range(12)),
        *(pytest.param(seed, Streamed(at_most=9), marks=SOAK) for seed in range(2, 8)),
    ],
)
def test_a_random_timeline(spark, tmp_path, seed, how):
    pick, draw = seeded(seed), random.Random(seed)
    known = registry_from_documents(registry(pick))
    source = tmp_path / "timeline.jsonl"
    source.write_text("\n".join(timeline(pick, 60)), "utf-8")
    settings = Settings(
        lateness="2s" if how else draw.choice([None, 0, "2s"]),
        dedup=draw.choice(["PT0.000001S", "3s", "1d"]),
        advertised=draw.choice(["optional", "required"]),
    )
    ways = both if how else all_ways
    here, there = ways(tmp_path, known, source, settings, how, commands=True)
    assert here == there


def test_more_deliveries_than_this_process_sorts(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("shortlist.spark.sinks.MOST_AT_ONCE", 0)
    monkeypatch.setattr("shortlist.jobs.parts.MOST_AT_ONCE", 1)
    (case,) = (case for case in CASES if case.name == "churn")
    known = read_registry(case / "registry.json")
    here, there = all_ways(tmp_path, known, case / "timeline.jsonl", commands=True, with_data=True)
    assert here == there
    assert here[1]["deliveries.jsonl"]


def test_nothing_is_delivered(spark, tmp_path):
    some = {"id": "s", "where": "rare = 1", "policy": {"kind": "top-k", "k": 1}}
    known = registry_from_documents({"subscriptions": [some]})
    source = tmp_path / "flats.jsonl"
    source.write_text('{"id": "f1", "source": "ads", "time": "2026-03-01T09:00:00Z"}\n')
    here, there = all_ways(tmp_path, known, source)
    assert here == there
    assert here[1]["deliveries.jsonl"] == b""


def test_tables_in_and_out(spark, tmp_path):
    """Of every type that a column may have; the stream of a file has texts of its own."""
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    size = 40
    table = pa.table(
        {
            "id": [f"p{n}" if n % 7 else None for n in range(size)],
            "source": ["s"] * size,
            "time": pa.array([moment] * size, pa.timestamp("us", tz="UTC")),
            "x": [n / 4 if n % 5 else None for n in range(size)],
            "whole": pa.array(range(size), pa.int32()),
            "flag": [n % 2 == 0 for n in range(size)],
            "name": [f"n{n % 3}" for n in range(size)],
            "exact": pa.array([Decimal("1.50")] * size, pa.decimal128(10, 2)),
            "tags": [["a", "b"][: n % 3] for n in range(size)],
            "inner": [{"deep": n} for n in range(size)],
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    known = registry_from_documents(
        {
            "subscriptions": [
                {"id": "some", "where": "x < 5 and flag = true", "score": "x"},
                {"id": "few", "where": "name = 'n1' and inner.deep > 3 and exact > 1"},
                {"id": "best", "score": "whole", "policy": {"kind": "top-k", "k": 3}},
            ]
        }
    )
    here, there = all_ways(tmp_path, known, tmp_path / "in.parquet", suffix=".parquet")
    assert here[0] == there[0]
    texts = ("rejects.jsonl", "explanations.jsonl")
    assert [here[1][name] for name in texts] == [there[1][name] for name in texts]
    grounds = ("process", "spark", "frames", "cluster")
    first, *others = (pq.read_table(tmp_path / one / "deliveries.parquet") for one in grounds)
    assert first.num_rows
    assert all(first.to_pylist() == other.to_pylist() for other in others)
    assert len(here[1]["rejects.jsonl"].splitlines()) == 6


@pytest.mark.parametrize("seconds", [pytest.param(1, marks=SOAK), 1000])
def test_every_match_is_a_delivery(spark, tmp_path, monkeypatch, seconds):
    """A registry without state; many publications may be of one time."""
    monkeypatch.setattr("shortlist.jobs.walk.AT_ONCE", 500)
    monkeypatch.setattr("shortlist.jobs.parts.MOST_AT_ONCE", 4000)
    moment, size = 1_772_323_200, 6000
    times = [(moment + n * 7 % seconds) * SECOND for n in range(size)]
    table = pa.table(
        {
            "id": [f"p{n // 2}" for n in range(size)],
            "source": ["s"] * size,
            "time": pa.array(times, pa.timestamp("us", tz="UTC")),
            "x": [n % 10 for n in range(size)],
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    some = [{"id": f"s{n}", "where": f"x > {n % 10}", "score": "-x"} for n in range(7)]
    known = registry_from_documents({"subscriptions": [*some, {"id": "all"}]})
    here, there = all_ways(tmp_path, known, tmp_path / "in.parquet", suffix=".parquet")
    assert here[0] == there[0]
    assert here[1]["rejects.jsonl"] == there[1]["rejects.jsonl"]
    folders = [
        tmp_path / one / "deliveries.parquet" for one in ("process", "spark", "frames", "cluster")
    ]
    first, *others = map(pq.read_table, folders)
    assert first.num_rows == here[0]["deliveries"] > 10_000
    assert all(first.to_pylist() == other.to_pylist() for other in others)
    assert len([*folders[1].glob("part-*.parquet")]) > 2


def test_a_folder_of_lines(spark, tmp_path):
    source = tmp_path / "in put [1]"
    source.mkdir()
    (source / "_ignored.jsonl").write_text("broken")
    for name in ("b é.jsonl", "a.jsonl"):
        line = json.dumps({"id": name, "source": "s", "time": "2026-03-01T00:00:00Z"})
        (source / name).write_bytes(f"\ufeff{line}\n\nbroken \x7f\r\n{line}".encode())
    known = registry_from_documents({"subscriptions": [{"id": "all"}]})
    here, there = all_ways(tmp_path, known, source)
    assert here == there
    delivered, refused = (
        [json.loads(line) for line in here[1][name].splitlines()]
        for name in ("deliveries.jsonl", "rejects.jsonl")
    )
    assert [each["publication"] for each in delivered] == ["a.jsonl", "b é.jsonl"]
    places = [f"{name}:{line}" for name in ("a.jsonl", "b é.jsonl") for line in (3, 4)]
    assert [each["position"] for each in refused] == places
