"""The stages equal one engine, whatever the cut into batches, the partitions and the shards."""

import json

import pytest

from shortlist.engine.replay import replay
from shortlist.intake.files import registry_from_documents
from shortlist.model.settings import Settings
from tests.engine.walks import Walk, lines_table
from tests.strategies import SECOND, registry, seeded, timeline


def drawn_walk(pick):
    """A walk over a drawn timeline, and its lines."""
    lines = timeline(pick, 30)
    walk = Walk(
        pick=pick,
        registry=registry_from_documents(registry(pick)),
        settings=Settings(
            lateness=pick([None, 0, SECOND, 2 * SECOND]),
            dedup=pick([1, 3 * SECOND, 86_400 * SECOND]),
            advertised=pick(["optional", "optional", "required"]),
        ),
        arriving=lines_table(lines),
        commands=pick([True, True, True, False]),
        shards=pick([1, 2, 3, 5, 8]),
        with_data=pick([True, False]),
        bucket_bits=pick([0, 1, 2, 4]),
    )
    return walk, lines


def check(walk, lines, seed):
    expected = replay(walk.registry, lines, walk.settings, commands=walk.commands)
    documents = [delivery.document(walk.with_data) for delivery in expected.deliveries]
    texts = [json.dumps(document, ensure_ascii=False) for document in documents]
    assert walk.deliveries == texts, seed
    refused = [(each.position, each.reason, lines[each.position - 1]) for each in expected.rejects]
    assert walk.rejects == refused, seed


def check_seeds(seeds):
    for seed in seeds:
        check(*drawn_walk(seeded(seed)), seed)


@pytest.mark.parametrize("part", range(8))
def test_a_drawn_timeline_equals_one_engine(part):
    check_seeds(range(100 * part, 100 * (part + 1)))
