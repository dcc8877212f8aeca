"""Snapshots that earlier versions took: half of a timeline; the other half must follow."""

import json
import zlib
from pathlib import Path

import pytest

from shortlist.engine.engine import Engine
from shortlist.engine.items import item_document, registry_document
from shortlist.engine.replay import read_items
from shortlist.engine.saved import UnusableState
from shortlist.intake.files import read_registry, registry_from_documents
from shortlist.matching.scan import Scan
from shortlist.model.settings import Settings
from tests.selection.test_adopted import old_state
from tests.strategies import ORDINAL_POLICIES, POLICIES, SECOND, registry, seeded, timeline

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


def version_1(engine):
    """What a plain engine holds, as version 1 saved it."""
    halves = engine._halves
    roster, vocabulary = halves.matching.roster, halves.matching.values.vocabulary
    selectors = {name: halves.selecting.selector(name) for name in roster.shortlists}
    document = {
        "version": 1,
        "registry": registry_document(roster.registry(vocabulary)),
        "selecting": {name: old_state(selecting) for name, selecting in selectors.items()},
        "counts": engine.counts,
        "duplicates": engine._duplicates.remembered(),
        "latest": engine._ordering.latest,
        "waiting": [[item.position, item_document(item)] for item in engine._ordering.waiting()],
    }
    return zlib.compress(json.dumps(document, separators=(",", ":")).encode())


def test_a_snapshot_as_of_version_1_is_one():
    """It has the same parts, down to the states of shortlists, as one that was taken then."""
    snapshot = TESTS / "fixtures" / "snapshots" / "churn-version-1"
    found = json.loads(zlib.decompress(snapshot.read_bytes()))
    case, settings = TESTS / "cases" / "churn", Settings(lateness=0)
    made = read_registry(case / "registry.json")
    lines = (case / "timeline.jsonl").read_bytes().splitlines()
    items, _ = read_items(made, lines, settings)
    engine = Engine(made, settings, matcher=Scan)
    engine.process(items[: len(items) // 2])
    assert json.loads(zlib.decompress(version_1(engine))) == found


def halfway(seed):
    """A plain engine in the middle of a timeline, its settings, and the rest of the items."""
    pick = seeded(seed)

    def old_pick(some):
        return pick(ORDINAL_POLICIES if some is POLICIES else some)

    made = registry_from_documents(registry(old_pick))
    settings = Settings(lateness=pick([None, 0, 0, 1 * SECOND]))
    items, _ = read_items(made, timeline(old_pick, 60), settings)
    cut = pick(range(len(items) + 1))
    engine = Engine(made, settings, matcher=Scan)
    engine.process(items[:cut])
    return engine, settings, items[cut:]


@pytest.mark.parametrize("part", range(2))
def test_drawn_snapshots_go_on_where_they_stopped(part):
    for seed in range(200 * part, 200 * (part + 1)):
        engine, settings, items = halfway(seed)
        restored = Engine.restore(version_1(engine), settings)
        assert restored.counts == engine.counts
        assert restored.process(items, last=True) == engine.process(items, last=True), seed


def test_new_snapshots_and_changes_follow_old_ones():
    for seed in range(100):
        engine, settings, items = halfway(seed)
        old = version_1(engine)
        restored = Engine.restore(old, settings)
        half = len(items) // 2
        assert restored.process(items[:half]) == engine.process(items[:half])
        changed = Engine.restore(old, settings, [restored.changes()])
        saved = Engine.restore(restored.snapshot(), settings)
        later = engine.process(items[half:], last=True)
        assert changed.process(items[half:], last=True) == later, seed
        assert saved.process(items[half:], last=True) == later, seed


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"version": 99}, "expected a snapshot of version 1, found 99"),
        ({}, "expected a whole state, found a damaged one"),
        ([], "expected a whole state, found a damaged one"),
    ],
)
def test_what_is_no_snapshot_of_version_1_is_refused(content, message):
    with pytest.raises(UnusableState, match=message):
        Engine.restore(zlib.compress(json.dumps(content).encode()))


def test_half_of_a_snapshot_is_refused():
    content = SNAPSHOTS[0].read_bytes()
    with pytest.raises(UnusableState, match="expected a whole state, found a damaged one"):
        Engine.restore(content[: len(content) // 2])
