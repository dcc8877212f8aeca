"""Registries that Spark's tasks read, check and compile."""

import json
from contextlib import closing

import pytest

from shortlist.intake.files import read_registry
from shortlist.jobs.compiling import compile_registry
from shortlist.live.slots import cut_registry
from shortlist.model.problem import InvalidRegistry
from shortlist.spark.tasks import Lanes


def compiled(spark, path):
    with closing(Lanes(spark)) as lanes:
        return compile_registry(path, shards=2, run=lanes, lanes=2)


def test_tasks_compile_what_one_process_reads(spark, tmp_path):
    path = tmp_path / "registry"
    path.mkdir()
    given = [
        {"id": f"s{number}", "where": f"rent < {number % 90}", "policy": {"kind": "top-k", "k": 1}}
        for number in range(40_000)
    ]
    lines = [json.dumps(each) for each in given]
    (path / "subscriptions.jsonl").write_text("\n".join(lines))
    made = compiled(spark, path)
    parts = cut_registry(read_registry(path), 2)
    assert [made.shard(n).matching.roster.registry() for n in range(2)] == parts
    (path / "subscriptions.jsonl").write_text("\n".join([*lines, lines[3], '{"id": "x", "k": 1}']))
    with pytest.raises(InvalidRegistry) as named:
        compiled(spark, path)
    with pytest.raises(InvalidRegistry) as expected:
        read_registry(path)
    assert named.value.problems == expected.value.problems
