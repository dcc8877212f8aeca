"""Streaming DataFrames of the user's own, ranked: the same deliveries, also over restarts."""

import json

import pytest

import shortlist
from shortlist.engine.replay import replay
from shortlist.intake.files import registry_from_documents
from shortlist.intake.input_files import NoInput
from shortlist.live.driver import Finished
from shortlist.live.locking import AlreadyRunning
from shortlist.model.settings import Settings
from tests.strategies import registry, seeded, timeline

pytestmark = pytest.mark.spark


def text_stream(spark, folder):
    """Spark's own source of text files, with their lines as they are."""
    return spark.readStream.text(str(folder)).withColumnRenamed("value", "line")


def delivered(out):
    return [
        line
        for file in sorted((out / "deliveries").glob("*.jsonl"))
        for line in file.read_text().splitlines()
    ]


def test_another_source_gives_what_the_engine_gives(tmp_path, spark):
    pick = seeded(21)
    made, lines = registry_from_documents(registry(pick)), timeline(pick, 40)
    source, state, out = tmp_path / "in", tmp_path / "state", tmp_path / "out"
    source.mkdir()
    for number, part in enumerate((lines[:15], lines[15:])):
        (source / f"{number}.txt").write_text("\n".join(part))
        ranked = shortlist.rank_stream(text_stream(spark, source), made, state, out, shards=2)
        with pytest.raises(AlreadyRunning):
            shortlist.rank_stream(text_stream(spark, source), made, state, out)
        ranked.process_all_available()
        ranked.stop() if number == 0 else ranked.finish()
    expected = replay(made, lines, Settings(lateness=0)).deliveries
    assert delivered(out) == [json.dumps(each.document(), ensure_ascii=False) for each in expected]


def test_a_table_of_publications_with_positions(tmp_path, spark):
    (tmp_path / "in").mkdir()
    rows = [("f1", 2, 900), ("f2", 1, 800), ("f3", 3, 700)]
    table = spark.createDataFrame(rows, "id string, position long, rent long")
    table = table.selectExpr(
        "id", "position", "rent", "'ads' source", "'2026-03-01T09:00:00Z' time"
    )
    table.write.mode("append").parquet(str(tmp_path / "in"))
    frame = spark.readStream.schema(table.schema).parquet(str(tmp_path / "in"))
    cheapest = {"id": "best", "score": "-rent", "policy": {"kind": "top-k", "k": 1}}
    ranked = shortlist.rank_stream(
        frame, {"subscriptions": [cheapest]}, tmp_path / "state", tmp_path / "out"
    )
    ranked.process_all_available()
    ranked.finish()
    found = [json.loads(line)["publication"] for line in delivered(tmp_path / "out")]
    assert found == ["f2", "f3"]


def test_a_column_can_be_the_arrival(tmp_path, spark):
    """Publications need no time of their own, and whatever they say is an attribute."""
    (tmp_path / "in").mkdir()
    rows = [("f1", 1, 900, 0), ("f2", 2, 950, 1200), ("f3", 3, 990, 1000), ("f4", 4, 980, 5400)]
    table = spark.createDataFrame(rows, "id string, position long, rent long, seconds long")
    table = table.selectExpr(
        "id", "position", "rent", "'ads' source", "timestamp_seconds(seconds) ingested"
    )
    table.coalesce(1).write.mode("append").parquet(str(tmp_path / "in"))
    frame = spark.readStream.schema(table.schema).parquet(str(tmp_path / "in"))
    window = {"kind": "window", "k": 1, "window": "1h"}
    registry = {"subscriptions": [{"id": "best", "score": "-rent", "policy": window}]}
    places = tmp_path / "state", tmp_path / "out"
    settings = Settings(time="arrival")
    with pytest.raises(NoInput, match="expected the name of a column as `arrival`"):
        shortlist.rank_stream(frame, registry, *places, settings)
    with pytest.raises(NoInput, match=r"taken: expected a column of timestamps .* found none in"):
        shortlist.rank_stream(frame, registry, *places, settings, arrival="taken")
    ranked = shortlist.rank_stream(frame, registry, *places, settings, arrival="ingested")
    ranked.process_all_available()
    ranked.finish()
    found = [json.loads(line) for line in delivered(tmp_path / "out")]
    assert [(each["publication"], each["time"]) for each in found] == [
        ("f1", "1970-01-01T00:00:00.000Z"),
        ("f2", "1970-01-01T01:00:00.000Z"),
        ("f4", "1970-01-01T01:30:00.000Z"),
    ]
    with pytest.raises(Finished):
        shortlist.rank_stream(frame, registry, *places, settings, arrival="ingested")
