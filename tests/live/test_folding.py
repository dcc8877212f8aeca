"""Registries that are packed again in the background, while changes go on."""

import json
import os
import time
from itertools import chain

import pytest

from shortlist.engine import saving
from shortlist.engine.engine import Engine
from shortlist.engine.saved import Saved
from shortlist.intake.files import registry_from_documents
from shortlist.live import admission_files, compiled, folding, manifest, shard
from shortlist.live.folding import Folding
from shortlist.live.shard import SHARDS
from shortlist.live.states import read_state
from shortlist.model.command import Subscribe
from shortlist.model.settings import Settings
from shortlist.model.subscription import Subscription
from tests.live.deployments import Deployment, check_seeds


@pytest.fixture(autouse=True)
def every_registry_is_folded(monkeypatch):
    monkeypatch.setattr(compiled, "LEAST_BYTES", 0)
    monkeypatch.setattr(os, "fsync", lambda file: None)
    monkeypatch.setattr(saving, "FEW_CHANGES", 1)
    monkeypatch.setattr(saving, "FEW_OF", 10**9)
    monkeypatch.setattr(manifest, "MOST_BATCHES", 1)
    for room in (shard, admission_files):
        monkeypatch.setattr(room, "LEAST_FOLDED", 0)
    SHARDS._kept.clear()


class Patient(Deployment):
    """Its workers are killed before some batches."""

    ran = 0

    def run(self, numbered, last=False):
        self.ran += 1
        if self.ran % 7 == 0:
            SHARDS._kept.clear()
        return super().run(numbered, last)

    def run_all(self, pick, batches):
        for line in chain.from_iterable(batches):
            self.run([line])
            if pick([True, *[False] * 9]):
                self.start()
        self.run([], last=True)


def test_the_same_deliveries_whenever_registries_are_packed(monkeypatch):
    """Here at once, and taken with the next snapshot."""
    begun, folded = [], []

    class Here(Folding):
        made = None

        @property
        def is_busy(self):
            return self.made is not None

        def begin(self, folder, task, changes):
            begun.append(task)
            self.made = task(folder), changes

        def taken(self):
            if self.made is None:
                return None
            made, self.made = self.made, None
            folded.append(made)
            return folding.Folded(*made)

    for room in (shard, admission_files):
        monkeypatch.setattr(room, "Folding", Here)
    check_seeds(range(12), Patient)
    assert {task.func for task in begun} == {folding.packed_shard, folding.packed_admission}
    assert folded


def at(second, name, rent):
    said = {"id": name, "source": "ads", "time": f"2026-03-01T09:00:{second:02}Z"}
    return json.dumps(said | {"data": {"rent": rent}})


def subscribe(second, number):
    made = {"id": f"n{number}", "where": f"rent < {number}"}
    return json.dumps({"time": f"2026-03-01T09:00:{second:02}Z", "subscribe": made})


def beside(deployment):
    """Changes beside the registry of the one shard, and batches beside that of the driver."""
    (only,) = deployment.driver.manifest.shards
    saved = read_state(only, deployment.files.read)
    return len(saved.document["changes"]), len(deployment.driver.manifest.registry.inputs)


def finished(process):
    deadline = time.monotonic() + 120
    while process._process is not None and process._process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_process_packs_them():
    registry = registry_from_documents({"subscriptions": [{"id": "s", "where": "rent < 900"}]})
    deployment = Deployment(registry, Settings(lateness=0), shards=1)
    for second in range(4):
        deployment.run([(second + 1, subscribe(second, second))])
    (kept,) = (kept for _, kept in SHARDS._kept.values())
    assert kept._folding.is_busy
    finished(kept._folding)
    finished(deployment.driver._admission_files._folding)
    before = beside(deployment)
    for second in range(4, 6):
        deployment.run([(second + 1, subscribe(second, second))])
    after = beside(deployment)
    assert after[0] < before[0] + 2
    assert after[1] < before[1] + 2
    # whoever comes next opens what the processes have made
    first = deployment.driver
    SHARDS._kept.clear()
    deployment.start()
    report = deployment.run([(7, at(7, "f", 2)), (8, at(8, "g", 2))])
    assert report.deliveries["shortlist"].to_pylist() == ["n3", "n4", "n5", "s"]
    for process in (kept._folding, first._admission_files._folding):
        finished(process)


def test_a_process_that_fails_is_told_of_and_nothing_else_happens(caplog, monkeypatch):
    monkeypatch.setattr(folding, "BEGIN", "raise SystemExit(3)")
    registry = registry_from_documents({"subscriptions": [{"id": "s"}]})
    deployment = Deployment(registry, Settings(lateness=0), shards=1)
    for second in range(6):
        deployment.run([(second + 1, subscribe(second, second))])
        for _, kept in SHARDS._kept.values():
            finished(kept._folding)
    assert "was not packed in the background: status 3" in caplog.text
    assert beside(deployment)[0] > 2


def test_what_nobody_takes_a_snapshot_of_notes_no_changes():
    prompt = Settings(lateness=0)
    engine = Engine(settings=prompt)
    some = (Subscription(id=f"s{number}") for number in range(61))
    commands = [
        Subscribe(subscription=made, time=number, position=number)
        for number, made in enumerate(some)
    ]
    engine.process(commands[:21])
    assert engine.shard.changes is None
    again = Engine.restore(engine.snapshot(), prompt)
    assert len(Saved.of_bytes(engine.snapshot()).registry["subscriptions"]) == 21
    for each in (engine, again):
        each.process(commands[21:22])
        assert len(each.shard.changes) == 1
        each.process(commands[22:])
        assert each.shard.changes is None
        assert len(Saved.of_bytes(each.snapshot()).registry["subscriptions"]) == 61
