"""Terms that are defined in a deployment, which is started again, rescaled and moved meanwhile."""

import os

import pytest

from shortlist.intake.files import registry_from_documents
from shortlist.model.settings import Settings
from tests.defining import defining_documents, defining_registry, lines_of
from tests.live.deployments import Deployment, expected, numbered
from tests.live.test_plans import drawn_choice, start
from tests.strategies import cuts, seeded


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch):
    """The machine stays up, so that files need not be durable."""
    monkeypatch.setattr(os, "fsync", lambda file: None)


def drawn(pick):
    made = registry_from_documents(defining_registry(pick))
    return made, Settings(lateness=pick([None, 0, "1s"])), lines_of(defining_documents(pick, 40))


def check(deployment, made, lines, settings, seed):
    deliveries, refusals = expected(made, lines, settings)
    found = deployment.outlet.all()
    assert found[0] == deliveries, seed
    assert sorted(found[1]) == refusals, seed


def test_as_in_one_engine():
    for seed in range(8):
        pick = seeded(seed)
        made, settings, lines = drawn(pick)
        deployment = Deployment(made, settings, shards=pick([1, 2, 3]))
        deployment.run_all(pick, cuts(pick, numbered(lines)))
        check(deployment, made, lines, settings, seed)


@pytest.mark.parametrize("plan", ["broadcast", "rendezvous"])
def test_whatever_the_plan(plan):
    for seed in range(4):
        pick = seeded(seed)
        made, settings, lines = drawn(pick)
        deployment = Deployment(made, settings, shards=pick([1, 2, 3]))
        for batch in cuts(pick, numbered(lines)):
            start(deployment, drawn_choice(pick, pick([plan, plan, "replicate"])))
            deployment.run(batch)
        deployment.run([], last=True)
        check(deployment, made, lines, settings, seed)
        replicated = Deployment(made, settings, shards=1)
        replicated.run(numbered(lines))
        replicated.run([], last=True)
        assert deployment.driver.manifest.counts == replicated.driver.manifest.counts, seed
