"""Snapshots refer to their registry, which is written once."""

from dataclasses import replace

import pytest

from shortlist.intake.files import registry_from_documents
from shortlist.live import manifest
from shortlist.live.registers import MANIFEST, committed
from shortlist.live.shard import SHARDS
from shortlist.live.states import read_state
from shortlist.model.settings import Settings
from tests.live.deployments import Deployment, check_seeds
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


def with_registries_within(deployment):
    """As states were before they referred to registries."""
    revision, known = committed(deployment.registers)
    shards = []
    for chain in known.shards:
        content = read_state(chain, deployment.files.read).to_bytes()
        snapshot = deployment.files.store("snapshot", content)
        shards.append(replace(chain, snapshot=snapshot, registry=None))
    changed = replace(known, shards=tuple(shards))
    deployment.registers.put(MANIFEST, changed.to_bytes(), revision)
    SHARDS._kept.clear()
    deployment.start()


class Older(Deployment):
    """Its states are made older ones before some batches."""

    def run(self, numbered, last=False):
        if len(numbered) % 2:
            with_registries_within(self)
        return super().run(numbered, last)


def test_a_state_with_its_registry_within_is_gone_on_with():
    check_seeds(range(8), Older)
