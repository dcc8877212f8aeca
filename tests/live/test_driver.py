"""A deployment against the engine, whatever the cut into batches, the shards and the restarts."""

import os

import pytest

from tests.live.deployments import Deployment, drawn, expected, numbered
from tests.strategies import cuts, seeded


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch):
    """The machine stays up, so that files need not be durable."""
    monkeypatch.setattr(os, "fsync", lambda file: None)


def check_seeds(seeds):
    for seed in seeds:
        pick = seeded(seed)
        made, settings, lines = drawn(pick)
        deployment = Deployment(made, settings, shards=pick([1, 2, 3]))
        deployment.run_all(pick, cuts(pick, numbered(lines)))
        deliveries, refusals = expected(made, lines, settings)
        found = deployment.outlet.all()
        assert found[0] == deliveries, seed
        assert sorted(found[1]) == refusals, seed


@pytest.mark.parametrize("part", range(4))
def test_the_same_deliveries_in_the_same_order(part):
    check_seeds(range(5 * part, 5 * (part + 1)))


@pytest.mark.soak
@pytest.mark.parametrize("part", range(8))
def test_many_more(part):
    check_seeds(range(200 * (part + 1), 200 * (part + 2)))
