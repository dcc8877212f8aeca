"""Batch on Spark equals one engine, whatever the partitions and the number of shards."""

import json
import random
import re
from pathlib import Path

import pytest

from shortlist.engine.replay import replay
from shortlist.intake.files import read_registry, registry_from_documents
from shortlist.intake.finite_input import FiniteInput
from shortlist.jobs.walk import Walk
from shortlist.live.here import run_here
from shortlist.model.settings import Settings
from shortlist.spark.batch import MAY_BE_COMMAND, Batch
from shortlist.spark.sources import Lines, read_files
from tests.defining import defining_documents, defining_registry, lines_of
from tests.strategies import registry, seeded, timeline

pytestmark = pytest.mark.spark

CASES = sorted(path.parent for path in Path(__file__).parents[1].glob("cases/*/expected.jsonl"))
USUAL = (("all", 3), ("fuzzy", 1))
"""The stages alone are walked over all cases in `tests/engine/test_stages.py`."""
SOAK = pytest.mark.soak


def documents(batch: Batch) -> list[dict]:
    rows = batch.deliveries.orderBy("time", "position", "shortlist").collect()
    return [row.asDict() for row in rows]


def comparable(delivery: dict) -> tuple:
    names = ("shortlist", "subscriber", "source", "publication", "subscription", "rank", "cause")
    degrees = (delivery["score"], delivery["possibility"], delivery["necessity"])
    return delivery["id"], *(delivery[name] for name in names), *degrees


def write_lines(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.mark.parametrize(
    ("case", "shards"),
    [
        pytest.param(
            case,
            shards,
            marks=[] if (case.name, shards) in USUAL else SOAK,
            id=f"{case.name}-{shards}",
        )
        for case in CASES
        for shards in (1, 3)
    ],
)
def test_a_worked_case(spark, case, shards):
    commands = (case / "timeline.jsonl").exists()
    source = case / ("timeline.jsonl" if commands else "publications.jsonl")
    batch = Batch(
        read_files(spark, source),
        read_registry(case / "registry.json"),
        commands=commands,
        shards=shards,
    )
    expected = [json.loads(line) for line in (case / "expected.jsonl").open()]
    got = documents(batch)
    assert [comparable(row)[:8] for row in got] == [comparable(row)[:8] for row in expected]
    for row, wanted in zip(got, expected, strict=True):
        assert comparable(row)[8:] == pytest.approx(comparable(wanted)[8:], abs=1e-6)


@pytest.mark.parametrize(
    "line",
    ['{"time": "t", "retract": {}}', r'{"time": "t", "\u0072etract": {}}', r'{"re\u0074ract": 1}'],
)
def test_lines_that_may_be_commands(line):
    assert re.search(MAY_BE_COMMAND, line)
    assert not re.search(MAY_BE_COMMAND, line.replace("ract", "rac").replace("\\u00", ""))


@pytest.mark.parametrize(
    "seed",
    [*range(2), *(pytest.param(seed, marks=SOAK) for seed in range(2, 40))],
)
def test_a_random_timeline_equals_one_engine(spark, tmp_path, seed):
    pick = seeded(seed)
    known = registry_from_documents(registry(pick))
    check_batch(spark, tmp_path, seed, known, timeline(pick, 60))


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=SOAK) for seed in range(1, 20))])
def test_terms_that_are_defined_on_the_way(spark, tmp_path, seed):
    pick = seeded(seed)
    known = registry_from_documents(defining_registry(pick))
    check_batch(spark, tmp_path, seed, known, lines_of(defining_documents(pick, 60)))


def check_batch(spark, tmp_path, seed, known, lines):
    draw = random.Random(seed)
    settings = Settings(
        lateness=draw.choice([None, 0, "2s"]),
        dedup=draw.choice(["PT0.000001S", "3s", "1d"]),
        advertised=draw.choice(["optional", "required"]),
    )
    source = write_lines(tmp_path / "timeline.jsonl", lines)
    read = read_files(spark, source)
    scattered = Lines(read.frame.repartition(draw.choice([1, 3])), read.tabular, read.places)
    batch = Batch(
        scattered, known, settings, commands=True, shards=draw.choice([1, 2, 5, 8]), keep=True
    )
    expected = replay(known, lines, settings)
    wanted = [comparable(delivery.document()) for delivery in expected.deliveries]
    assert [comparable(row) for row in documents(batch)] == wanted
    rejects = batch.rejects.orderBy("position").collect()
    found = [(reject.position, reject.reason) for reject in rejects]
    assert found == [(reject.position, reject.reason) for reject in expected.rejects]
    assert [reject.line for reject in rejects] == [lines[place - 1] for place, _ in found]
    arriving = FiniteInput.at(source).batches()
    walk = Walk(
        arriving=arriving,
        registry=known,
        settings=settings,
        commands=True,
        run=run_here,
        shards=draw.choice([1, 2, 5]),
        folder=str(tmp_path),
    )
    assert batch.counts() == walk.counts(walk.select())
    batch.release()


@pytest.mark.parametrize("shards", [2])
def test_updates_retractions_and_replacements_reach_every_shard(spark, tmp_path, shards):
    policy = {"kind": "window", "k": 1, "window": "1h"}
    known = registry_from_documents(
        {
            "vocabulary": {"x": {"terms": {"high": {"trapezoid": [5, 7, None, None]}}}},
            "shortlists": [
                {"id": f"L{number}", "subscriber": "u", "policy": policy} for number in range(4)
            ],
            "subscriptions": [
                {"id": f"s{number}", "shortlist": f"L{number}", "score": "x"} for number in range(4)
            ],
        }
    )

    def published(name, second, x, **context):
        time = f"2026-03-01T00:00:{second:02}Z"
        return {"id": name, "source": "s", "time": time, "data": {"x": x}, **context}

    def commanded(second, **verb):
        return {"time": f"2026-03-01T00:00:{second:02}Z", **verb}

    story = [
        published("a", 0, 9),
        published("b", 1, 8),
        published("c", 2, 7),
        commanded(3, retract={"source": "s", "id": "a"}),
        commanded(4, update={"subscription": "s1", "where": "x is high"}),
        commanded(5, update={"shortlist": "L2", "policy": {"kind": "top-k", "k": 1}}),
        published("d", 6, 6, replaces="b"),
        published("e", 7, 1, expirytime="2026-03-01T00:00:07Z", replaces="d"),
        published("f", 8, 5),
        commanded(9, update={"subscription": "s1", "where": "x is nothing"}),
    ]
    lines = [json.dumps(document) for document in story]
    source = write_lines(tmp_path / "timeline.jsonl", lines)
    batch = Batch(read_files(spark, source), known, commands=True, shards=shards)
    expected = replay(known, lines)
    found = [comparable(row) for row in documents(batch)]
    assert found == [comparable(delivery.document()) for delivery in expected.deliveries]
    delivered = {(made.shortlist, made.publication.id) for made in expected.deliveries}
    assert {("L0", "b"), ("L0", "c"), ("L2", "d"), ("L2", "f")} <= delivered
    assert not {("L1", "f"), ("L0", "e")} & delivered
    assert [row.position for row in batch.rejects.collect()] == [10]


def test_line_numbers_survive_splitting_a_file(spark, tmp_path):
    lines = [
        json.dumps({"id": str(n), "source": "s", "time": "2026-03-01T00:00:00Z"})
        for n in range(3000)
    ]
    lines[1234] = "broken"
    source = write_lines(tmp_path / "many.jsonl", lines)
    previous = spark.conf.get("spark.sql.files.maxPartitionBytes")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "20000")
    try:
        read = read_files(spark, source)
        batch = Batch(read, registry_from_documents({"subscriptions": [{"id": "all"}]}))
        assert read.frame.rdd.getNumPartitions() > 3
        assert [row["publication"] for row in documents(batch)] == [
            str(n) for n in range(3000) if n != 1234
        ]
        (reject,) = batch.rejects.collect()
        assert read.places.name(reject.position) == "many.jsonl:1235"
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", previous)


def test_explanations_cover_every_match_and_promotion(spark, tmp_path):
    known = registry_from_documents(
        {
            "subscriptions": [
                {"id": "w", "score": "x", "policy": {"kind": "window", "k": 1, "window": "5s"}}
            ]
        }
    )
    scores = [(0, 9), (1, 5), (2, 7), (9, 1)]
    lines = [
        json.dumps(
            {
                "id": f"p{second}",
                "source": "s",
                "time": f"2026-03-01T00:00:0{second}Z",
                "data": {"x": x},
            }
        )
        for second, x in scores
    ]
    batch = Batch(read_files(spark, write_lines(tmp_path / "p.jsonl", lines)), known)
    found = [json.loads(row.explanation) for row in batch.explanations.collect()]
    delivered = {(row["publication"], row["delivered"]) for row in found}
    assert delivered == {("p0", True), ("p1", False), ("p2", False), ("p2", True), ("p9", True)}
