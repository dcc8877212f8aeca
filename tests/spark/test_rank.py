"""`rank` on any DataFrame of the user's own."""

import datetime as dt
import json

import pytest

import shortlist
from shortlist.intake.input_files import NoInput
from shortlist.model.settings import Limits, Settings
from shortlist.spark import dataframes

pytestmark = pytest.mark.spark

REGISTRY = {
    "subscriptions": [
        {
            "id": "cheapest",
            "where": "city = 'Bern' and rent < 1500",
            "score": "-rent",
            "policy": {"kind": "top-k", "k": 1},
        }
    ]
}


def moment(second: int) -> dt.datetime:
    return dt.datetime(2026, 3, 1, 0, 0, second, tzinfo=dt.UTC)


@pytest.fixture
def flats(spark):
    rows = [
        ("a", "ads", moment(0), 1200.0, "Bern"),
        ("b", "ads", moment(1), 1300.0, "Bern"),
        ("c", "ads", moment(2), 900.0, "Thun"),
        ("d", "ads", moment(3), 1100.0, "Bern"),
    ]
    return spark.createDataFrame(
        rows, "id string, source string, time timestamp, rent double, city string"
    )


def found(deliveries):
    return [(row.publication, row.score) for row in deliveries.orderBy("time").collect()]


def test_columns_that_are_no_context_attribute_are_data(flats):
    deliveries = shortlist.rank(flats, REGISTRY, with_data=True)
    assert found(deliveries) == [("a", -1200.0), ("d", -1100.0)]
    data = deliveries.orderBy("time").first().data
    assert json.loads(data) == {"rent": 1200.0, "city": "Bern"}
    assert deliveries.orderBy("time").first().time.replace(tzinfo=dt.UTC) == moment(0)


def test_data_may_be_json_text_or_a_struct(spark, flats):
    from pyspark.sql import functions as F  # noqa: N812

    context = ["id", "source", F.date_format("time", "yyyy-MM-dd'T'HH:mm:ssXXX").alias("time")]
    struct = F.struct("rent", "city")
    as_text = flats.select(*context, F.to_json(struct).alias("data"))
    as_struct = flats.select(*context, struct.alias("data"))
    expected = found(shortlist.rank(flats, REGISTRY))
    assert found(shortlist.rank(as_text, REGISTRY)) == expected
    assert found(shortlist.rank(as_struct, REGISTRY)) == expected


def test_a_registry_may_be_dataframes(spark, flats):
    policy = '{"kind": "top-k", "k": 1}'
    row = [("cheapest", "city = 'Bern' and rent < 1500", "-rent", policy)]
    subscriptions = spark.createDataFrame(
        row, "id string, where string, score string, policy string"
    )
    deliveries = shortlist.rank(flats, {"subscriptions": subscriptions})
    assert found(deliveries) == found(shortlist.rank(flats, REGISTRY))


def test_a_registry_may_be_compiled(flats, tmp_path, monkeypatch):
    path = tmp_path / "registry.json"
    path.write_text(json.dumps(REGISTRY))
    expected = found(shortlist.rank(flats, path))
    made = shortlist.compile_registry(path, shards=2)
    monkeypatch.setattr(dataframes, "read_registry", None)  # nobody reads it any more
    assert found(shortlist.rank(flats, made)) == expected
    assert found(shortlist.rank(flats, path)) == expected
    with pytest.raises(NoInput, match="for 3 shards, found one for 2"):
        shortlist.rank(flats, made, shards=3)
    with pytest.raises(NoInput, match="compiled with the degree_bits of these settings"):
        shortlist.rank(flats, made, Settings(limits=Limits(degree_bits=3)))


def test_a_registry_that_has_changed_since_it_was_compiled_is_read(flats, tmp_path):
    path = tmp_path / "registry.json"
    path.write_text(json.dumps(REGISTRY))
    shortlist.compile_registry(path, shards=2)
    everything = {"subscriptions": [{"id": "everything"}]}
    path.write_text(json.dumps(everything))
    expected = found(shortlist.rank(flats, everything))
    assert found(shortlist.rank(flats, path)) == expected


def test_partitions_do_not_matter_without_a_position(spark):
    rows = [(str(n), "s", moment(n // 10), float(n * 7 % 5)) for n in range(60)]
    frame = spark.createDataFrame(rows, "id string, source string, time timestamp, x double")
    registry = {
        "subscriptions": [
            {"id": "w", "score": "x", "policy": {"kind": "window", "k": 2, "window": 3}}
        ]
    }
    names = {
        tuple(
            (row.publication, row.rank, row.cause)
            for row in shortlist.rank(frame.repartition(parts), registry)
            .orderBy("time", "position")
            .collect()
        )
        for parts in (1, 4)
    }
    assert len(names) == 1


def test_bad_rows_are_rejects_and_lose_nothing_else(spark):
    rows = [
        ("a", "s", "2026-03-01T00:00:00Z"),
        ("b", None, "2026-03-01T00:00:00Z"),
        ("c", "s", "x"),
    ]
    frame = spark.createDataFrame(rows, "id string, source string, time string")
    batch = shortlist.batch(frame, {"subscriptions": [{"id": "all"}]})
    assert [row.publication for row in batch.deliveries.collect()] == ["a"]
    reasons = sorted(row.reason for row in batch.rejects.collect())
    assert reasons[0] == "source: is missing"
    assert reasons[1].startswith("time: 'x' is not an RFC 3339 time")


def test_lateness_needs_a_position(flats):
    with pytest.raises(NoInput, match="position"):
        shortlist.rank(flats, REGISTRY, Settings(lateness=0))


def test_a_position_column_orders_equal_times(spark):
    rows = [("a", "s", moment(0), 1.0, 2), ("b", "s", moment(0), 1.0, 1)]
    frame = spark.createDataFrame(
        rows, "id string, source string, time timestamp, x double, position bigint"
    )
    registry = {"subscriptions": [{"id": "t", "score": "x", "policy": {"kind": "top-k", "k": 1}}]}
    ordered = shortlist.rank(frame, registry).orderBy("position").collect()
    assert [(row.publication, row.rank) for row in ordered] == [("b", 1), ("a", 1)]


def test_frames_that_cannot_be_ranked_are_refused(spark, flats):
    with pytest.raises(shortlist.ShortlistError, match="found a streaming one: see rank_stream"):
        shortlist.rank(spark.readStream.format("rate").load(), REGISTRY)
    with pytest.raises(shortlist.ShortlistError, match="expected a column source of publications"):
        shortlist.rank(flats.drop("source"), REGISTRY)
