"""A job writes the same on Spark and in a process: the same bytes, and the same rows in folders."""

import json
import random
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shortlist.intake.files import read_registry, registry_from_documents
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
    here, there = both(tmp_path, known, source, commands=commands, with_data=True)
    assert here == there
    assert all(here[1][name] for name in ("deliveries.jsonl", "explanations.jsonl"))


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
        lateness=2 * SECOND if how else draw.choice([None, 0, 2 * SECOND]),
        dedup=draw.choice([1, 3 * SECOND, 86_400 * SECOND]),
        advertised=draw.choice(["optional", "required"]),
    )
    here, there = both(tmp_path, known, source, settings, how, commands=True)
    assert here == there


def test_more_deliveries_than_this_process_sorts(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("shortlist.spark.sinks.MOST_AT_ONCE", 0)
    (case,) = (case for case in CASES if case.name == "churn")
    known = read_registry(case / "registry.json")
    here, there = both(tmp_path, known, case / "timeline.jsonl", commands=True, with_data=True)
    assert here == there
    assert here[1]["deliveries.jsonl"]


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
    here, there = both(tmp_path, known, tmp_path / "in.parquet", suffix=".parquet")
    assert here[0] == there[0]
    texts = ("rejects.jsonl", "explanations.jsonl")
    assert [here[1][name] for name in texts] == [there[1][name] for name in texts]
    tables = [pq.read_table(tmp_path / one / "deliveries.parquet") for one in ("process", "spark")]
    assert tables[0].to_pylist() == tables[1].to_pylist() != []
    assert len(here[1]["rejects.jsonl"].splitlines()) == 6


def test_a_folder_of_lines(spark, tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    for name in ("b é.jsonl", "a.jsonl"):
        line = json.dumps({"id": name, "source": "s", "time": "2026-03-01T00:00:00Z"})
        (source / name).write_bytes(f"\ufeff{line}\n\nbroken \x7f\r\n{line}".encode())
    known = registry_from_documents({"subscriptions": [{"id": "all"}]})
    here, there = both(tmp_path, known, source)
    assert here == there
    assert len(here[1]["rejects.jsonl"].splitlines()) == 4
