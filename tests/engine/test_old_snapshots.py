"""Snapshots that earlier versions took: half of a case's timeline; the other half must follow."""

from pathlib import Path

import pytest

from shortlist.engine.engine import Engine
from shortlist.engine.replay import read_items
from shortlist.intake.files import read_registry
from shortlist.model.settings import Settings

TESTS = Path(__file__).parents[1]
SNAPSHOTS = sorted((TESTS / "fixtures" / "snapshots").iterdir())


@pytest.mark.parametrize("snapshot", SNAPSHOTS, ids=lambda path: path.name)
def test_an_old_snapshot_goes_on_where_it_stopped(snapshot):
    case = TESTS / "cases" / snapshot.name.split("-")[0]
    settings = Settings(lateness=0)
    registry = read_registry(case / "registry.json")
    lines = (case / "timeline.jsonl").read_bytes().splitlines()
    items, _ = read_items(registry, lines, settings)
    half = len(items) // 2
    engine = Engine(registry, settings)
    engine.process(items[:half])
    later = engine.process(items[half:], last=True).deliveries
    restored = Engine.restore(snapshot.read_bytes(), settings)
    assert restored.process(items[half:], last=True).deliveries == later != []


def test_a_snapshot_of_a_later_version_is_refused():
    import json
    import zlib

    document = json.loads(zlib.decompress(Engine().snapshot()))
    later = zlib.compress(json.dumps({**document, "version": 99}).encode())
    with pytest.raises(ValueError, match="expected a snapshot of version 1, found 99"):
        Engine.restore(later)
