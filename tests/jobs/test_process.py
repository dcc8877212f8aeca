"""Jobs in a process give what one engine gives, whatever the form of the input."""

import bz2
import gzip
import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shortlist.engine.replay import replay
from shortlist.intake.files import registry_from_documents
from shortlist.intake.finite_input import FiniteInput
from shortlist.intake.input_files import NoInput
from shortlist.jobs.job import Streamed
from shortlist.jobs.process import InProcess
from shortlist.model.settings import Settings
from tests.jobs.running import ran
from tests.strategies import registry, seeded, timeline

EVERYBODY = registry_from_documents({"subscriptions": [{"id": "all", "score": "x"}]})


def published(name, second=0, **data):
    time = f"2026-03-01T00:00:{second:02}Z"
    return json.dumps({"id": name, "source": "s", "time": time, "data": data})


def names(written):
    return [json.loads(line)["publication"] for line in written["deliveries.jsonl"].splitlines()]


@pytest.mark.parametrize("how", [None, Streamed(at_most=7), Streamed(plan="rendezvous")])
@pytest.mark.parametrize(
    "seed",
    [*range(7), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(7, 100))],
)
def test_a_timeline_gives_what_one_engine_gives(tmp_path, seed, how):
    pick, draw = seeded(seed), random.Random(seed)
    known, lines = registry_from_documents(registry(pick)), timeline(pick, 60)
    settings = Settings(
        lateness=draw.choice([0, "2s"] + [None] * (how is None)),
        dedup=draw.choice(["PT0.000001S", "3s", "1d"]),
        advertised=draw.choice(["optional", "required"]),
    )
    source = tmp_path / "timeline.jsonl"
    source.write_text("\n".join(lines))
    report, written = ran(
        InProcess(), tmp_path / "out", known, source, settings, how, commands=True, shards=how and 3
    )
    expected = replay(known, lines, settings)
    deliveries = written["deliveries.jsonl"].decode().splitlines()
    assert deliveries == [
        json.dumps(each.document(), ensure_ascii=False) for each in expected.deliveries
    ]
    assert [json.loads(line) for line in written["rejects.jsonl"].splitlines()] == [
        {
            "line": lines[each.position - 1],
            "position": f"timeline.jsonl:{each.position}",
            "reason": each.reason,
        }
        for each in expected.rejects
    ]
    assert report["deliveries"] == len(expected.deliveries)
    assert report["rejects"] == len(expected.rejects)


def test_files_are_read_in_order_of_name_compressed_or_not(tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    (source / "c.jsonl").write_text(f"\n{published('c', x=1)}\nbroken")
    (source / "a.jsonl.gz").write_bytes(gzip.compress(published("a", x=1).encode()))
    (source / "b.jsonl.bz2").write_bytes(bz2.compress(f"\ufeff{published('b', x=1)}\n".encode()))
    (source / "empty.jsonl").write_text("")
    (source / "_SUCCESS").touch()
    _, written = ran(InProcess(), tmp_path / "out", EVERYBODY, source)
    assert names(written) == ["a", "b", "c"]
    (reject,) = map(json.loads, written["rejects.jsonl"].splitlines())
    assert (reject["position"], reject["line"]) == ("c.jsonl:3", "broken")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("in.jsonl.zst", b"", "expected .gz, .bz2 or no compression"),
        ("in.jsonl.gz", b"no gzip", "in.jsonl.gz: Not a gzipped file"),
        ("in.parquet", b"no table", "in.parquet: "),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(Exception, match=words):
        ran(InProcess(), tmp_path / "out", EVERYBODY, tmp_path / name)


def test_tables_may_have_different_columns_but_not_types(tmp_path):
    source, moment = tmp_path / "in", "2026-03-01T00:00:00Z"
    source.mkdir()
    rows = {"id": ["a"], "source": ["s"], "time": [moment]}
    pq.write_table(pa.table({**rows, "x": [4]}), source / "1.parquet")
    pq.write_table(pa.table({**rows, "id": ["b"], "x": [5], "y": ["?"]}), source / "2.parquet")
    pq.write_table(pa.table({**rows, "id": [None]}), source / "3.parquet")
    _, written = ran(InProcess(), tmp_path / "out", EVERYBODY, source)
    assert names(written) == ["a", "b"]
    (reject,) = map(json.loads, written["rejects.jsonl"].splitlines())
    assert reject["position"] == "3.parquet:1"
    pq.write_table(pa.table({**rows, "x": ["four"]}), source / "4.parquet")
    with pytest.raises(NoInput, match="expected columns of the same types in all files"):
        ran(InProcess(), tmp_path / "again", EVERYBODY, source)


def test_rows_that_were_refused_are_shown_as_publications(tmp_path):
    rows = {"id": ["a", "a"], "source": ["s", "s"], "time": ["2026-03-01T00:00:00Z"] * 2}
    pq.write_table(pa.table({**rows, "x": [4, 5]}), tmp_path / "in.parquet")
    for how in (None, Streamed()):
        out = tmp_path / ("streamed" if how else "batch")
        _, written = ran(
            InProcess(), out, EVERYBODY, tmp_path / "in.parquet", Settings(lateness=0), how
        )
        (reject,) = map(json.loads, written["rejects.jsonl"].splitlines())
        assert reject["reason"] == "duplicate"
        assert (reject["position"], "5" in reject["line"]) == ("in.parquet:2", True)


def test_rows_are_judged_in_their_order_however_they_are_read(tmp_path):
    """One with a type is read as a line, the others in columns."""
    rows = {
        "id": ["a", "b", "c"],
        "source": ["s"] * 3,
        "time": [f"2026-03-01T00:00:0{second}Z" for second in (1, 3, 2)],
        "type": [None, "offer", None],
        "x": [1, 2, 3],
    }
    pq.write_table(pa.table(rows), tmp_path / "in.parquet")
    settings = Settings(lateness=0)
    _, written = ran(InProcess(), tmp_path / "out", EVERYBODY, tmp_path / "in.parquet", settings)
    assert names(written) == ["a", "b"]
    (reject,) = map(json.loads, written["rejects.jsonl"].splitlines())
    assert (reject["position"], reject["reason"]) == ("in.parquet:3", "late by 1 s")


def test_nobody_and_nothing(tmp_path):
    (tmp_path / "in.jsonl").write_text("\n")
    report, written = ran(InProcess(), tmp_path / "out", EVERYBODY, tmp_path / "in.jsonl")
    assert (report["publications"], written["deliveries.jsonl"]) == (0, b"")
    (tmp_path / "in.jsonl").write_text(published("a"))
    nobody = registry_from_documents({})
    report, written = ran(InProcess(), tmp_path / "more", nobody, tmp_path / "in.jsonl")
    assert (report["publications"], written["deliveries.jsonl"]) == (1, b"")


def test_an_empty_table_of_deliveries_is_one(tmp_path):
    (tmp_path / "in.jsonl").write_text("\n")
    ran(InProcess(), tmp_path / "out", EVERYBODY, tmp_path / "in.jsonl", suffix=".parquet")
    assert pq.read_table(tmp_path / "out" / "deliveries.parquet").num_rows == 0


def test_what_this_process_may_read(tmp_path):
    lines, table = tmp_path / "in.jsonl", tmp_path / "in.parquet"
    lines.write_text("x" * 100)
    pq.write_table(pa.table({"id": ["a" * 50] * 9}), table)
    assert [FiniteInput.at(lines).fits(most) for most in (99, 100)] == [False, True]
    assert [FiniteInput.at(table).fits(most) for most in (20, 2000)] == [False, True]
    (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress(b"x"))
    assert not FiniteInput.at(tmp_path / "in.jsonl.gz").fits(100)
    (tmp_path / "in.jsonl.zst").write_bytes(b"x")
    assert not FiniteInput.at(tmp_path / "in.jsonl.zst").fits(2**30)
