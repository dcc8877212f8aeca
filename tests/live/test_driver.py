"""A deployment against the engine, whatever the cut into batches, the shards and the restarts."""

import os

import pytest

from tests.live.deployments import check_seeds


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch):
    """The machine stays up, so that files need not be durable."""
    monkeypatch.setattr(os, "fsync", lambda file: None)


@pytest.mark.parametrize("part", range(4))
def test_the_same_deliveries_in_the_same_order(part):
    check_seeds(range(5 * part, 5 * (part + 1)))


@pytest.mark.soak
@pytest.mark.parametrize("part", range(8))
def test_many_more(part):
    check_seeds(range(200 * (part + 1), 200 * (part + 2)))
