"""`rank` on any DataFrame of the user's own."""

import datetime as dt
import json
import logging
from collections import Counter

import pandas as pd
import pytest

import shortlist
from shortlist.intake.files import registry_from_documents
from shortlist.intake.input_files import NoInput
from shortlist.model.problem import WrongArgument
from shortlist.model.settings import Limits, Settings
from shortlist.spark import dataframes
from shortlist.spark.sources import json_row
from tests.strategies import seeded

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


@pytest.mark.parametrize("position", ["", "ascii(_1) as position"])
def test_of_equal_rows_the_first_is_taken_and_the_others_rejected(spark, position):
    """Also where equal rows have one position."""
    sizes = {"a": 1, "b": 2, "c": 10, "d": 300}
    frame = spark.createDataFrame([(name,) for name, size in sizes.items() for _ in range(size)])
    row = ["_1 id", "'s' source", "'2026-03-01T00:00:00Z' time", "'news' reason", "1 x"]
    frame = frame.selectExpr(*row, *filter(None, [position])).repartition(3)
    batch = shortlist.batch(frame, {"subscriptions": [{"id": "all"}]}, shards=1)
    delivered = {row.publication: row.position for row in batch.deliveries.collect()}
    numbered = {"a": 1, "b": 2, "c": 4, "d": 14}
    assert delivered == ({name: ord(name) for name in sizes} if position else numbered)
    rejects = [(json.loads(each.line), each) for each in batch.rejects.collect()]
    again = {"b": 1, "c": 9, "d": 299}
    assert Counter(line["id"] for line, _ in rejects) == again
    for line, reject in rejects:
        assert line["data"] == {"reason": "news", "x": 1}
        assert reject.reason == "duplicate"
    if not position:
        positions = {*range(1, 314)} - {*numbered.values()}
        assert sorted(reject.position for _, reject in rejects) == sorted(positions)


def test_a_file_that_was_delivered_twice(spark, tmp_path):
    once = spark.range(50).selectExpr(
        "cast(id as string) id", "'s' source", "timestamp_seconds(id % 5) time", "id x"
    )
    once.write.parquet(str(tmp_path / "1.parquet"))
    twice = spark.read.parquet(*[str(tmp_path / "1.parquet")] * 2)
    assert twice.count() == 100
    batch = shortlist.batch(twice, {"subscriptions": [{"id": "all"}]})
    delivered = Counter(row.publication for row in batch.deliveries.collect())
    assert delivered == Counter(map(str, range(50)))
    rejects = batch.rejects.collect()
    assert Counter(json.loads(each.line)["id"] for each in rejects) == delivered
    assert {each.reason for each in rejects} == {"duplicate"}


KINDS_OF_TIME = {
    "string": lambda second: f"2026-03-01T00:00:{second:02}Z",
    "timestamp": moment,
    "timestamp_ntz": lambda second: moment(second).replace(tzinfo=None),
}


def drawn_rows(pick, kind):
    """Few ids and times, so that many rows are repeated, wholly or but for what they say."""
    for _ in range(60):
        time = KINDS_OF_TIME[kind](pick(range(6)))
        if kind == "string" and pick([False] * 9 + [True]):
            time = pick(["tonight", "2026-03-01 00:00:00", None])
        context = pick("abcdefghij"), pick(["s", "s", "t", None]), time, pick([None, "news"])
        yield *context, float(pick(range(4))), pick(["Oslo", None])


@pytest.mark.parametrize(
    ("seed", "kind", "parts", "shards"),
    [
        (1, "string", 3, 2),
        (3, "timestamp_ntz", 1, 1),
        *(
            pytest.param(seed, kind, 1 + seed % 4, 1 + seed % 3, marks=pytest.mark.soak)
            for seed in range(10, 20)
            for kind in KINDS_OF_TIME
        ),
    ],
)
def test_rows_without_a_position_have_those_of_their_order(spark, seed, kind, parts, shards):
    pick = seeded(seed)
    rows = [*drawn_rows(pick, kind)]
    schema = f"id string, source string, time {kind}, type string, x double, city string"
    frame = spark.createDataFrame(rows, schema)
    window = {"kind": "window", "k": 2, "window": "3s"}
    document = {
        "subscriptions": [
            {"id": "best", "score": "x", "policy": window},
            {"id": "Oslo", "where": "city = 'Oslo'", "score": "x - 1", "shortlist": "both"},
            {"id": "all", "shortlist": "both"},
        ],
        "shortlists": [{"id": "both", "subscriber": "u", "policy": {"kind": "top-k", "k": 2}}],
    }
    texts = [row.text for row in frame.select(json_row(frame.columns).alias("text")).collect()]
    lines = sorted(map(line_of, texts), key=line_order)
    expected = shortlist.replay(registry_from_documents(document), [text for text, _ in lines])
    batch = shortlist.batch(frame.repartition(parts), document, shards=shards)
    ordered = batch.deliveries.orderBy("time", "position", "shortlist").collect()
    assert [(each.id, each.position, each.rank, each.cause) for each in ordered] == [
        (made.document()["id"], made.publication.position, made.rank, made.cause)
        for made in expected.deliveries
    ]
    rejects = batch.rejects.orderBy("position").collect()
    assert [(each.position, each.reason) for each in rejects] == [
        (each.position, each.reason) for each in expected.rejects
    ]
    assert [json.loads(each.line)["id"] for each in rejects] == [
        json.loads(lines[each.position - 1][0])["id"] for each in expected.rejects
    ]


def line_of(row):
    """The line that a row stands for, and the row's text."""
    columns = json.loads(row)
    data = {name: columns.pop(name) for name in ("x", "city") if name in columns}
    return json.dumps({**columns, "data": data}), row


def line_order(line):
    """Time, source, id, text; each time that is readable here ends in Z."""
    columns = json.loads(line[1])
    time, source = columns.get("time", ""), columns.get("source")
    return (
        not time.endswith("Z"),
        time * time.endswith("Z"),
        source is None,
        source or "",
        columns["id"],
        line[1],
    )


GOOD = {
    "id": "cast(id as string)",
    "source": "'s'",
    "time": "timestamp_seconds(id)",
    "x": "cast(id as double)",
}
BAD_COLUMNS = [
    ("id", "id", "id: expected string, found bigint; try cast(id as string)"),
    ("id", "cast('a' as binary)", "id: expected string, found binary; try cast(id as string)"),
    ("id", "array('a')", "id: expected string, found array<string>"),
    ("source", "null", "source: expected string, found void, which has no values"),
    ("time", "id", "found bigint; try timestamp_seconds(time) or timestamp_millis(time) or"),
    ("time", "id / 2", "found double; try timestamp_seconds(time)"),
    ("time", "date '2026-03-01'", "found date; try cast(time as timestamp)"),
    ("time", "true", "timestamp_ntz (taken for UTC) or string (RFC 3339), found boolean"),
    ("expirytime", "id", "expirytime: expected timestamp, timestamp_ntz (taken for UTC) or string"),
    ("type", "id", "type: expected string, found bigint; try cast(type as string)"),
    (
        "specversion",
        "1",
        "specversion: expected string, found int; try cast(specversion as string)",
    ),
    ("replaces", "id", "replaces: expected string, found bigint; try cast(replaces as string)"),
    (
        "audience",
        "1.5",
        "audience: expected an integer type, found decimal(2,1); try cast(audience",
    ),
    ("data", "array(1)", "data: expected struct, map or string (JSON), found array<int>"),
    (
        "data",
        "parse_json('{}')",
        "data: expected struct, map or string (JSON), found variant; try to_j",
    ),
    (
        "position",
        "'1'",
        "position: expected an integer type, found string; try cast(position as bigint)",
    ),
]


@pytest.fixture(scope="module")
def ids(spark):
    return spark.range(1, 4)


def typed(ids, **columns):
    return ids.selectExpr(*(f"{text} as {name}" for name, text in {**GOOD, **columns}.items()))


@pytest.mark.parametrize(("name", "expression", "problem"), BAD_COLUMNS)
def test_a_column_of_another_type_is_found_before_anything_runs(ids, name, expression, problem):
    frame = typed(ids, **{name: expression})
    for ranked in (shortlist.rank, shortlist.batch):
        with pytest.raises(NoInput) as raised:
            ranked(frame, REGISTRY)
        assert problem in str(raised.value)
        assert len(str(raised.value).splitlines()) == 1


def test_all_columns_are_found_at_once(ids):
    frame = typed(ids, id="id", time="id", data="1").drop("source")
    with pytest.raises(NoInput) as raised:
        shortlist.rank(frame, REGISTRY)
    problems = str(raised.value).splitlines()
    assert [problem.partition(":")[0] for problem in problems[1:]] == ["id", "time", "data"]
    assert problems[0] == "expected a column source of publications, found id, time, x, data"
    twice = frame.selectExpr("*", "'s' as source").selectExpr("*", "'t' as source")
    with pytest.raises(NoInput, match="expected one column source of publications, found 2"):
        shortlist.rank(twice, REGISTRY)


@pytest.mark.parametrize(
    "columns",
    [
        {
            "time": "cast(timestamp_seconds(id) as timestamp_ntz)",
            "expirytime": "timestamp '2027-01-01 00:00:00'",
            "audience": "cast(1 as tinyint)",
            "data": "map('city', 'Bern')",
            "specversion": "1.0",
        },
        {
            "id": "cast(cast(id as string) as varchar(9))",
            "time": "'2026-03-01T00:00:00+01:00'",
            "data": "named_struct('city', 'Bern')",
            "position": "cast(id as smallint)",
            **dict.fromkeys(["expirytime", "type", "audience", "replaces"], "null"),
        },
    ],
)
def test_columns_that_are_taken(ids, columns):
    batch = shortlist.batch(typed(ids, **columns), {"subscriptions": [{"id": "all"}]}, shards=1)
    assert batch.deliveries.count() == 3


def test_columns_of_a_registry_are_checked_before_anything_runs(spark, flats):
    failing = spark.range(1).selectExpr("raise_error('it ran') as id")
    subscriptions = failing.selectExpr("cast(id as int) id", "1 as where", "array(1) as profile")
    shortlists = failing.selectExpr("id", "true as policy")
    advertisements = failing.selectExpr("cast(id as string) id", "'s' as source", "1.5D as k")
    known = {
        "subscriptions": subscriptions,
        "shortlists": shortlists,
        "advertisements": advertisements,
    }
    with pytest.raises(NoInput) as raised:
        shortlist.rank(flats, known)
    assert str(raised.value).splitlines() == [
        "subscriptions: id: expected string, found int; try cast(id as string)",
        "subscriptions: where: expected string, found int; try cast(where as string)",
        "subscriptions: profile: expected struct, map or string (JSON), found array<int>",
        "shortlists: expected a column subscriber, found id, policy",
        "shortlists: id: expected string, found void, which has no values",
        "shortlists: policy: expected struct, array, map or string (JSON), found boolean",
        "advertisements: k: expected an integer type, found double; try cast(k as int)",
    ]


def test_every_type_of_a_registry_that_is_taken(spark, flats):
    subscriptions = spark.range(1).selectExpr(
        "'a' id",
        "cast(0.5 as decimal(3,1)) score",
        "cast(2 as tinyint) weight",
        "named_struct('possibility', 0.5D) at_least",
        "map('age', 30) profile",
        "'min' norm",
        "array(named_struct('kind', 'cap', 'most', 2, 'per', '1h')) policy",
        "null combine",
    )
    advertisements = spark.range(1).selectExpr("'x' id", "'ads' source", "cast(1 as decimal(9)) k")
    known = {"subscriptions": subscriptions, "advertisements": advertisements}
    assert [name for name, _ in found(shortlist.rank(flats, known))] == ["a", "b"]


def test_a_stream_with_a_column_of_another_type_does_not_start(spark, tmp_path):
    rate = spark.readStream.format("rate").load()
    frame = rate.selectExpr("value as id", "'s' as source", "unix_micros(timestamp) as time")
    with pytest.raises(NoInput) as raised:
        shortlist.rank_stream(frame, REGISTRY, tmp_path / "state", tmp_path / "out")
    assert [line[:20] for line in str(raised.value).splitlines()] == [
        "id: expected string,",
        "time: expected times",
    ]
    arrival = Settings(time="arrival")
    with pytest.raises(NoInput, match=r"^id: expected string, found bigint; [^\n]*$"):
        shortlist.rank_stream(
            frame, REGISTRY, tmp_path / "state", tmp_path / "out", arrival, arrival="time"
        )
    assert not (tmp_path / "state").exists()


def test_a_batch_that_rejects_more_than_it_takes_says_so(spark, caplog):
    rows = [("a", "2026-03-01T00:00:00Z", 1)] * 4 + [("b", "2026-03-01 00:00:00", 2)]
    frame = spark.createDataFrame(rows, "id string, time string, x int")
    frame = frame.selectExpr("id", "'s' as source", "time", "x").repartition(3)
    known = {"subscriptions": [{"id": "all"}, {"id": "others"}, {"id": "more"}]}
    with caplog.at_level(logging.WARNING, logger="shortlist"):
        assert shortlist.rank(frame.where("id = 'a'").limit(2), known).count() == 3
        assert not caplog.messages
        assert shortlist.rank(frame, known, shards=3).count() == 3
    [message] = caplog.messages
    assert message.startswith(
        "4 of 5 rows were rejected: 3 duplicate, 1 time; one of them: time: '2026-03-01 00:00:00'"
    )
    assert "`shortlist.batch` has all in `rejects`" in message


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (lambda flats: (flats, flats), "registry: expected a Registry, a path, or a mapping"),
        (lambda flats: (flats, [REGISTRY]), "registry: expected a Registry, a path, or a mapping"),
        (
            lambda flats: (pd.DataFrame(), REGISTRY),
            "publications: expected a Spark DataFrame, found",
        ),
        (lambda flats: (flats, REGISTRY, 10), r"settings: expected Settings\(...\), found 10"),
    ],
)
def test_an_argument_of_another_type(flats, tmp_path, wrong, problem):
    for ranked in (shortlist.rank, shortlist.batch):
        with pytest.raises(WrongArgument, match=problem):
            ranked(*wrong(flats))
