"""Columns say what readers say, whatever they are made of."""

from dataclasses import replace

import numpy as np
import pytest

from shortlist.intake.reading import items_of
from shortlist.matching.blocks import Block
from shortlist.matching.index.index import Index
from shortlist.matching.values import Values
from shortlist.model.items import Wanted
from shortlist.model.paths import CONTEXT
from shortlist.model.publication import Publication
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
    ("address", "floor"),
    ("offer",),
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


def test_items_match_as_publications_do():
    reads = readers(6, 80)
    some = [replace(read.publication, position=n) for n, read in enumerate(reads)]
    items, _ = items_of(some, Wanted(frozenset(PATHS) - CONTEXT))
    index = Index(vocabulary(), few=0)
    for made in subscriptions(8, 200):
        index.add(made)
    found = index.match_block(Block.of_items(items, Values(vocabulary())))
    assert by_publication(index, found, 80) == [index.match(one) for one in reads]


@pytest.mark.parametrize("path", PATHS, ids=".".join)
def test_a_column_of_items_has_every_value(path):
    reads = readers(7, 300)
    some = [replace(read.publication, position=n) for n, read in enumerate(reads)]
    items, _ = items_of(some, Wanted(frozenset(PATHS) - CONTEXT))
    column = Block.of_items(items, Values(vocabulary())).column(path)
    assert [column.value(place) for place in range(300)] == [read(path) for read in reads]


HUGE = 10**400


@pytest.mark.parametrize(
    "values",
    [
        [900, {"between": [800, 1000]}, None, 1.5],
        [900, {"between": [HUGE, HUGE]}, 7],
        [900, {"between": [10**30, 2**70]}, 7],
        [True, 900, "900", {"between": [1, 2]}, [1, 2]],
        [{"term": "cheap"}, {"trapezoid": [1, 2, 3, 4], "shape": "gauss"}, 5],
    ],
    ids=["fuzzy", "beyond all doubles", "long", "of all kinds", "terms"],
)
def test_unusual_numbers_of_items_are_those_of_publications(values):
    publications = [
        Publication(id=str(n), source="s", time=n, position=n, data={"price": value})
        for n, value in enumerate(values)
    ]
    items, _ = items_of(publications, Wanted(frozenset([("price",)])))
    read = Values(vocabulary())
    column = Block.of_items(items, read).column(("price",))
    expected = [read.of(each)(("price",)) for each in publications]
    assert [column.value(place) for place in range(len(values))] == expected
