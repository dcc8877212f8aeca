"""The stages equal one engine, whatever the cut into batches, the partitions and the shards."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.engine.replay import replay
from shortlist.intake.files import read_registry, registry_from_documents
from shortlist.intake.table_reading import POSITION
from shortlist.intake.tables import row_publication
from shortlist.model.settings import Settings
from shortlist.model.times import format_time
from tests.engine.walks import Walk, lines_table
from tests.strategies import (
    NUMBERS,
    START,
    drawn,
    examples,
    instants,
    publication,
    registry,
    seeded,
    timeline,
)

CASES = sorted(path for path in Path(__file__).parents[1].glob("cases/*/"))


def drawn_walk(pick, arriving, **options):
    """A walk over some input, and what it knows."""
    return Walk(
        pick=pick,
        registry=registry_from_documents(registry(pick)),
        settings=Settings(
            lateness=pick([None, 0, "1s", "2s"]),
            dedup=pick(["PT0.000001S", "3s", "1d"]),
            advertised=pick(["optional", "optional", "required"]),
        ),
        arriving=arriving,
        shards=pick([1, 2, 3, 5, 8]),
        with_data=pick([True, False]),
        bucket_bits=pick([0, 1, 2, 4]),
        **options,
    )


def expected(walk, lines):
    """Delivery lines and rejects of the same lines through one engine."""
    result = replay(walk.registry, lines, walk.settings, commands=walk.commands)
    documents = [delivery.document(walk.with_data) for delivery in result.deliveries]
    deliveries = [json.dumps(document, ensure_ascii=False) for document in documents]
    places = [reject.position for reject in result.rejects]
    reasons = [reject.reason for reject in result.rejects]
    return deliveries, [*zip(places, reasons, (lines[at - 1] for at in places), strict=True)]


def check_timeline(pick, seed=None):
    lines = timeline(pick, 30)
    walk = drawn_walk(pick, lines_table(lines), commands=pick([True, True, True, False]))
    deliveries, rejects = expected(walk, lines)
    assert walk.deliveries == deliveries, seed
    assert walk.rejects == rejects, seed


COLUMNS = {
    "price": (pa.float64(), [*NUMBERS, None]),
    "size": (pa.int64(), [0, 1, 2, 3, 6, None]),
    "mood": (pa.string(), ["happy", "calm", "sad", None]),
    "title": (pa.string(), ["red car", "Red RED bus", "", None]),
    "genre": (pa.list_(pa.string()), [["drama"], ["war", "drama"], [], None]),
    "embedding": (pa.list_(pa.float64()), [[1, 0], [0.5, 1], None]),
    "address": (pa.struct({"city": pa.string(), "floor": pa.int64()}), [{"city": "Oslo"}, None]),
    "open": (pa.bool_(), [True, False, None]),
}


def check_table(pick, seed=None):
    """Publications as rows, with typed columns for data."""
    columns = {name: COLUMNS[name] for name in COLUMNS if pick([True, True, False])}
    rows = []
    for number, micros in enumerate(instants(pick, pick(range(25)))):
        context = {**publication(pick, micros, number), "data": None}
        rows.append(context | {name: pick(values) for name, (_, values) in columns.items()})
    kinds = dict.fromkeys(("id", "source", "time", "type", "expirytime"), pa.string())
    kinds |= {"audience": pa.int64()} | {name: kind for name, (kind, _) in columns.items()}
    positions = pa.array(range(1, len(rows) + 1), pa.int64())
    table = pa.Table.from_pylist(rows, pa.schema(kinds)).append_column(POSITION, positions)
    walk = drawn_walk(pick, table, tabular=True, commands=False)
    documents = [
        row_publication({name: value for name, value in row.items() if value is not None})
        for row in table.drop_columns([POSITION]).to_pylist()
    ]
    for document in documents:
        nested = document["data"].get("address")
        if nested is not None:
            document["data"]["address"] = {
                key: nested[key] for key in nested if nested[key] is not None
            }
    lines = [json.dumps(document, ensure_ascii=False) for document in documents]
    deliveries, rejects = expected(walk, lines)
    assert walk.deliveries == deliveries, seed
    assert [each[:2] for each in walk.rejects] == [each[:2] for each in rejects], seed


def check_seeds(check, seeds):
    for seed in seeds:
        check(seeded(seed), seed)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_worked_case(case):
    (source,) = case.glob("[pt]*.jsonl")
    lines, known = source.read_text("utf-8").splitlines(), read_registry(case / "registry.json")
    for shards in (1, 2, 5):
        walk = Walk(
            pick=seeded(shards),
            registry=known,
            settings=Settings(),
            arriving=lines_table(lines),
            commands=source.stem == "timeline",
            shards=shards,
        )
        assert (walk.deliveries, walk.rejects) == expected(walk, lines)
        assert walk.deliveries


@pytest.mark.parametrize("part", range(4))
def test_a_timeline_equals_one_engine(part):
    check_seeds(check_timeline, range(15 * part, 15 * (part + 1)))


@pytest.mark.parametrize(
    "changes",
    [
        {"where": "size > 1"},
        {"score": "size"},
        {"policy": {"kind": "diverse", "k": 1, "window": 3, "over": {"size": 1}}},
        {"policy": [{"kind": "diverse", "k": 1, "window": 3, "over": {"size": 1}}]},
        {"where": "size >", "score": "size"},
        {"where": 7},
    ],
    ids=json.dumps,
)
def test_what_only_an_update_mentions_is_read(changes):
    policy = {"kind": "window", "k": 2, "window": 3}
    made = registry_from_documents({"subscriptions": [{"id": "y", "policy": policy}]})
    update = {"time": format_time(START), "update": {"subscription": "y", **changes}}
    published = [
        {"id": f"p{n}", "source": "a", "time": format_time(START + n), "data": {"size": n % 4}}
        for n in range(1, 9)
    ]
    lines = [json.dumps(document) for document in (update, *published)]
    walk = Walk(
        pick=seeded(1),
        registry=made,
        settings=Settings(lateness=0),
        arriving=lines_table(lines),
        with_data=False,
    )
    assert (walk.deliveries, walk.rejects) == expected(walk, lines)


def test_a_table_equals_one_engine():
    check_seeds(check_table, range(30))


@examples(20)
@given(st.data())
def test_drawn_ones_shrink(data):
    """Slower than seeds, but what it finds is small."""
    data.draw(drawn(check_timeline)())


@pytest.mark.soak
@pytest.mark.parametrize("check", [check_timeline, check_table])
@pytest.mark.parametrize("part", range(8))
def test_many(check, part):
    check_seeds(check, range(2_000 * (part + 1), 2_000 * (part + 2)))
