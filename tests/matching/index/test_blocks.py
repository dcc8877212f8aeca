"""Columns say what readers say, whatever they are made of."""

import json

import numpy as np
import pyarrow as pa
import pytest

from shortlist.intake.lines import ItemReader
from shortlist.matching.blocks import Block
from shortlist.matching.index.index import Index
from shortlist.matching.values import Values
from tests.matching.index.drawn import by_publication, readers, subscriptions, vocabulary

PATHS = [
    ("price",),
    ("size",),
    ("mood",),
    ("genre",),
    ("scores",),
    ("released",),
    ("embedding",),
    ("title",),
    ("open",),
    ("address", "city"),
    ("event", "time"),
    ("event", "type"),
    ("nowhere",),
]


@pytest.mark.parametrize("path", PATHS, ids=".".join)
def test_a_column_has_every_value(path):
    reads = readers(4, 300)
    column = Block.of_readers(reads).column(path)
    assert [column.value(place) for place in range(300)] == [read(path) for read in reads]
    assert column.present.tolist() == [read(path) is not None for read in reads]


@pytest.mark.parametrize("path", PATHS, ids=".".join)
def test_some_of_a_column(path):
    reads = readers(5, 120)
    places = np.random.default_rng(0).permutation(120)[:50]
    column = Block.of_readers(reads).taken(places).column(path)
    assert [column.value(n) for n in range(50)] == [reads[place](path) for place in places]


def test_arrow_rows_match_as_publications_do():
    rows = [
        {"price": 1.5, "size": 3, "title": "red car", "genre": ["drama", "war"], "open": True},
        {"price": None, "size": None, "title": None, "genre": None, "open": None},
        {"price": 4.0, "size": 2**60, "title": "", "genre": [], "open": False},
        {"price": float("nan"), "size": 1, "title": "blue car", "genre": ["war"], "open": None},
    ]
    context = {"id": ["a", "b", "c", "d"], "source": ["a", "b", "a", "b"]}
    times = pa.array([0, 10**6, 10**12, 10**15], pa.timestamp("us", tz="UTC"))
    flat = pa.Table.from_pylist(rows).to_pydict()
    batch = pa.RecordBatch.from_pydict({**context, "time": times, **flat})
    nested = pa.RecordBatch.from_pydict({**context, "time": times, "data": rows})
    values, read = Values(vocabulary()), ItemReader(vocabulary())
    reads = []
    for name, source, time, row in zip(*context.values(), times, rows, strict=True):
        stamp = time.as_py().isoformat()
        given = {key: value for key, value in row.items() if value == value}
        document = {"id": name, "source": source, "time": stamp, "data": given}
        reads.append(values.of(read.document(json.loads(json.dumps(document)), 0)))
    index = Index(vocabulary(), few=0)
    for made in subscriptions(8, 200):
        index.add(made)
    expected = [index.match(one) for one in reads]
    for some in (batch, nested):
        found = index.match_block(Block.of_arrow(some, values))
        assert by_publication(index, found, 4) == expected
