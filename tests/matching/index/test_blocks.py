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
