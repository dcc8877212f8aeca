"""Snapshots refer to their registry, which is written once."""

import pytest

from shortlist.intake.files import registry_from_documents
from shortlist.live import manifest
from shortlist.live.shard import SHARDS
from shortlist.live.states import read_state
from shortlist.model.settings import Settings
from tests.live.deployments import Deployment
from tests.live.test_folding import at, subscribe


@pytest.fixture(autouse=True)
def every_batch_ends_with_a_snapshot(monkeypatch):
    monkeypatch.setattr(manifest, "MOST_BATCHES", 0)
    monkeypatch.setattr(manifest, "LEAST_BYTES", 0)
    SHARDS._kept.clear()


def begun(shards=1):
    registry = registry_from_documents({"subscriptions": [{"id": "s", "where": "rent < 900"}]})
    return Deployment(registry, Settings(lateness=0), shards)


def test_one_registry_for_many_snapshots():
    deployment, seen = begun(shards=2), []
    for second in range(6):
        content = subscribe(second, second) if second % 2 else at(second, f"p{second}", 1)
        deployment.run([(second + 1, content)])
        if second == 3:
            deployment.start()
            SHARDS._kept.clear()
        seen.append(deployment.driver.manifest.shards)
    assert len({chain.snapshot for chains in seen for chain in chains}) > 2
    assert len({chain.registry for chains in seen for chain in chains}) == 2


def test_a_registry_that_is_packed_again_has_a_file_of_its_own():
    deployment = begun()
    (before,) = deployment.driver.manifest.shards
    for second in range(50):  # each with commands, until these are many
        deployment.run([(3 * second + n, subscribe(second, 3 * second + n)) for n in (1, 2, 3)])
    (after,) = deployment.driver.manifest.shards
    assert after.registry != before.registry
    known = read_state(after, deployment.files.read).registry["subscriptions"]
    assert len(known) == 1 + 3 * 49  # those of the last second wait
