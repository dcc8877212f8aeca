"""Other numbers of shards, for which what they have to know is compiled before they begin."""

import json
import os
import threading
import time

import pytest

from shortlist.engine import compiled as engine_compiled
from shortlist.engine.shard import Shard
from shortlist.intake.files import registry_from_documents
from shortlist.live import compiled, rescaling
from shortlist.live.folding import Folded, Folding
from shortlist.live.lanes import ProcessGround
from shortlist.live.registers import committed
from shortlist.live.rescaling import Preparing, ask_for_shards, rescale
from shortlist.live.running import Running, Wanted
from shortlist.live.shard import SHARDS
from shortlist.log.base import DELIVERIES, INPUT
from shortlist.log.opening import open_log
from shortlist.model.settings import Settings
from shortlist.model.times import format_time
from tests.live.deployments import Deployment, check_seeds


@pytest.fixture(autouse=True)
def every_registry_is_compiled_before(monkeypatch):
    monkeypatch.setattr(compiled, "LEAST_BYTES", 0)
    monkeypatch.setattr(rescaling, "LEAST_FOLDED", 0)
    monkeypatch.setattr(os, "fsync", lambda file: None)
    SHARDS._kept.clear()


class Here(Folding):
    """In this process, at once."""

    made = None

    def begin(self, folder, task, changes):
        self.made = Folded(task(folder), changes)

    def taken(self):
        return self.made


class Prepared(Deployment):
    """Gets ready some batches before it moves."""

    preparing = None

    def run(self, numbered, last=False):
        report = super().run(numbered, last)
        if self.preparing is None and not last:
            self.preparing = Preparing(self.files, self.settings)
            self.preparing._folding = Here()
            assert not self.preparing.is_ready(self.driver.manifest, self.wanted)
        return report

    @property
    def wanted(self):
        return len(self.driver.manifest.shards) % 3 + 1

    def rescale(self, shards):
        if self.preparing is None:
            return
        assert self.preparing.is_ready(self.driver.manifest, self.wanted)
        wanted, prepared = self.wanted, self.preparing.prepared
        rescale(self.registers, self.files, wanted, self.settings.limits, prepared)
        assert len(committed(self.registers)[1].shards) == wanted
        self.preparing = None
        self.start()

    def move(self):
        """Files have other names then."""


@pytest.mark.parametrize("part", range(2))
def test_the_same_deliveries_whenever_it_was_ready(part):
    check_seeds(range(5 * part, 5 * (part + 1)), Prepared)


def flat(second, name, rent):
    said = {"id": name, "source": "ads", "time": f"2026-03-01T09:00:{second:02}Z"}
    return json.dumps(said | {"data": {"rent": rent}})


def test_nothing_is_compiled_when_it_moves(monkeypatch):
    """But for commands that came since it was ready."""
    some = [{"id": f"s{number}", "where": f"rent < {number}"} for number in range(40)]
    registry = registry_from_documents({"subscriptions": some})
    deployment = Deployment(registry, Settings(lateness=0), shards=2)
    deployment.run([(1, flat(1, "f1", 30)), (2, flat(2, "f2", 35))])
    preparing = Preparing(deployment.files, deployment.settings)
    preparing._folding = Here()
    assert not preparing.is_ready(deployment.driver.manifest, 3)
    assert preparing.is_ready(deployment.driver.manifest, 3)
    late = {"time": "2026-03-01T09:00:03Z", "subscribe": {"id": "late", "where": "rent < 7"}}
    deployment.run([(3, json.dumps(late)), (4, flat(4, "f3", 3))])

    def never(*_, **__):
        raise AssertionError("compiled")

    monkeypatch.setattr(engine_compiled, "compiled", never)
    monkeypatch.setattr(compiled, "compiled", never)
    monkeypatch.setattr(compiled.CompiledRegistries, "_write", never)
    made, init = [], Shard.__init__

    def noted(self, registry, *arguments, **named):
        made.append(len(registry.subscriptions))
        init(self, registry, *arguments, **named)

    monkeypatch.setattr(Shard, "__init__", noted)
    rescale(
        deployment.registers, deployment.files, 3, deployment.settings.limits, preparing.prepared
    )
    SHARDS._kept.clear()
    deployment.start()
    report = deployment.run([(5, flat(5, "f4", 5)), (6, flat(6, "f5", 39))])
    assert set(made) == {0}
    found = set(report.deliveries["shortlist"].to_pylist())
    assert found == {"late", *(f"s{number}" for number in range(6, 40))} | {"s4", "s5"}
    assert len(deployment.driver.manifest.shards) == 3


@pytest.mark.soak
def test_a_running_deployment_gets_ready_and_moves(tmp_path):
    """With processes."""
    some = [{"id": f"s{number}", "where": f"rent < {number}"} for number in range(40)]
    registry, url = registry_from_documents({"subscriptions": some}), f"sqlite:{tmp_path / 'log'}"

    class Quiet:
        def compiling(self, left): ...
        def started(self, driver, log): ...
        def ran(self, report, driver, log, appended): ...
        def failed(self, error, pause): ...
        def stopped(self): ...

    wanted = Wanted(log=url, folder=tmp_path / "state", registry=registry, shards=2)
    running = Running(wanted, ProcessGround(2), Quiet())
    thread, log = threading.Thread(target=running.run), open_log(url)
    thread.start()
    try:
        log.append(INPUT, [flat_now("f1", 30)])
        until(lambda: log.end(DELIVERIES) == 9)
        ask_for_shards(log, 3)
        until(lambda: len(committed(log)[1].shards) == 3)
        log.append(INPUT, [flat_now("f2", 37)])
        until(lambda: log.end(DELIVERIES) == 9 + 2)
    finally:
        running.stop()
        thread.join()


def flat_now(name, rent):
    said = {"id": name, "source": "ads", "time": format_time(time.time_ns() // 1000)}
    return json.dumps(said | {"data": {"rent": rent}}).encode()


def until(done, seconds=120):
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)
