"""Digests and quiet hours in a deployment: on time in a quiet stream, shown, and by which zones."""

import json
import os

import pytest

from shortlist.intake.files import registry_from_documents
from shortlist.live import driver
from shortlist.live.asking import Asked
from shortlist.model.settings import Settings
from tests.live.deployments import Deployment, numbered

EVENING = {"kind": "digest", "k": 2, "every": "day", "at": "18:00", "zone": "Europe/Oslo"}
WINDOW = {"kind": "window", "k": 1, "window": "1h"}


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)


def deployed(policy):
    subscription = {"id": "best", "score": "x", "policy": policy}
    registry = registry_from_documents({"subscriptions": [subscription]})
    return Deployment(registry, Settings(lateness=0), shards=2)


def news(name, clock, x):
    time = f"2026-03-02T{clock}:00Z"
    return json.dumps({"id": name, "source": "ads", "time": time, "data": {"x": x}})


def beat(clock):
    return json.dumps({"time": f"2026-03-02T{clock}:00Z", "heartbeat": True})


def delivered(deployment):
    made = map(json.loads, deployment.outlet.deliveries)
    return [(one["time"][11:16], one["publication"], one["rank"], one["cause"]) for one in made]


def test_a_digest_is_made_on_time_though_nothing_comes():
    deployment = deployed(EVENING)
    lines = numbered(
        [news("a", "09:00", 1), news("b", "10:00", 3), news("c", "11:00", 2), beat("16:59")]
    )
    deployment.run(lines)
    deployment.start()
    assert delivered(deployment) == []
    deployment.run([(5, beat("17:01"))])
    assert delivered(deployment) == [("17:00", "b", 1, "promotion"), ("17:00", "c", 2, "promotion")]


def test_what_waits_is_shown_beside_what_the_policies_before_show():
    deployment = deployed([WINDOW, EVENING])
    deployment.run(numbered([news("a", "09:00", 1), news("b", "10:30", 3), beat("10:40")]))
    manifest, log = deployment.driver.manifest, deployment.registers
    _, entries = Asked(manifest, deployment.files, log, "best").shown()
    shown = [(each.publication.id, each.rank, each.waiting) for each in entries]
    assert shown == [("b", 1, False), ("b", 1, True), ("a", 2, True)]
    documents = [each.document() for each in entries]
    assert [document.get("waiting") for document in documents] == [None, True, True]
    assert documents[1]["until"] == "2026-03-02T17:00:00.000Z"


def test_another_tz_database_is_told_at_the_start(monkeypatch):
    deployment = deployed(EVENING)
    deployment.run(numbered([news("a", "09:00", 1)]))
    deployment.start()
    assert deployment.driver.changed_zones is None
    monkeypatch.setattr(driver, "database_version", lambda: "2099.1")
    deployment.start()
    told = deployment.driver.changed_zones
    assert told.startswith("the tz database is 2099.1 now, and was 20")
    deployment.run([(2, beat("17:01"))])
    assert deployment.driver.changed_zones is None
    assert deployment.driver.manifest.tzdata == "2099.1"
    assert delivered(deployment) == [("17:00", "a", 1, "promotion")]
