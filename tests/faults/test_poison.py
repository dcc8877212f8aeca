"""Items that the engine fails on: they alone are put aside, and the rest goes on."""

import json

import pytest

from shortlist.engine.shard import Shard
from shortlist.live.poison import TaskFailed
from shortlist.model.settings import Settings
from tests.faults.logged import LoggedDeployment
from tests.live.deployments import expected
from tests.strategies import cuts, timeline


class Poison:
    """The positions of publications that no engine can take."""

    def __init__(self, monkeypatch):
        self.positions = set()
        arrive = Shard._arrive

        def fails(shard, items, chosen, found):
            harmful = self.positions & {*items.positions.tolist()}
            if harmful:
                raise ArithmeticError(f"{min(harmful)} is poison")
            return arrive(shard, items, chosen, found)

        monkeypatch.setattr(Shard, "_arrive", fails)


@pytest.fixture
def poison(monkeypatch):
    return Poison(monkeypatch)


def test_it_is_refused_and_everything_else_is_as_without_it(poison):
    """Whose id stays taken: a publication of the same id is a duplicate."""
    refused = 0
    for seed in range(3):
        deployment = LoggedDeployment(seed)
        lines = timeline(deployment.pick, 40)
        poison.positions = {deployment.pick(range(1, 41)) for _ in range(3)}
        for batch in cuts(deployment.pick, lines):
            deployment.send(batch)
            deployment.step()
            deployment.pick([deployment.start, lambda: None])()
        deployment.step(last=True)
        turned_away = {
            int(reject["position"]): reject["reason"]
            for reject in deployment.rejects()
            if reject["reason"].startswith("quarantined")
        }
        assert turned_away == {
            position: f"quarantined: ArithmeticError: {position} is poison"
            for position in turned_away
        }
        assert {*turned_away} <= poison.positions
        refused += len(turned_away)
        deliveries = expected(
            deployment.registry, without(lines, turned_away), Settings(lateness=0)
        )
        assert deployment.delivered() == deliveries[0], seed
    assert refused > 1


def without(lines, positions):
    """The same lines, without what is published at some positions: those expire before they come,
    so that their ids are taken."""
    for position, line in enumerate(lines, start=1):
        if position in positions:
            document = json.loads(line)
            document.pop("replaces", None)
            yield json.dumps(document | {"expirytime": document["time"]})
        else:
            yield line


def test_however_many_there_are(poison):
    deployment = LoggedDeployment(2)
    lines = timeline(deployment.pick, 40)
    poison.positions = {*range(1, 41)}
    deployment.send(lines)
    deployment.step(last=True)
    arrived = {position for position, line in enumerate(lines, start=1) if "id" in json.loads(line)}
    aside = {one.position for one in deployment.driver._admission.quarantine.values()}
    assert aside
    assert aside <= arrived
    assert deployment.delivered() == []
    assert deployment.driver.manifest.quarantined == len(aside)


@pytest.mark.parametrize("method", ["_counted", "due"])
def test_what_is_not_a_publications_fault_is_raised(monkeypatch, method):
    """Be it the engine's or not: nothing is turned away for it, and nothing has happened."""
    deployment = LoggedDeployment(1)
    monkeypatch.setattr(Shard, method, lambda *_: 1 / 0)
    deployment.send(timeline(deployment.pick, 20))
    with pytest.raises((TaskFailed, ZeroDivisionError), match="division by zero"):
        deployment.step()
    monkeypatch.undo()
    deployment.start()
    deployment.step()
    deployment.step(last=True)
    assert deployment.verdict().faults == 0
