"""A deployment on either time basis: live, every cut, equals a batch over the log's entries."""

import json
import os

import pytest

from shortlist.engine.engine import Engine
from shortlist.engine.replay import line_reader, replay
from shortlist.intake.files import registry_from_documents
from shortlist.live.driver import WrongBasis
from shortlist.live.heartbeats import Heartbeats
from shortlist.log.base import INPUT
from shortlist.matching.scan import Scan
from shortlist.model.settings import Settings
from shortlist.model.times import format_time
from tests.live.deployments import Deployment
from tests.strategies import SECOND, START, cuts, registry, seeded, timeline

ARRIVAL = Settings(time="arrival")
STEPS = [0, 0, 1, SECOND // 2, SECOND, 2 * SECOND, 30 * SECOND, -SECOND, -3600 * SECOND]
"""Between what a log records: its clock is set back now and then."""


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch):
    """The machine stays up, so that files need not be durable."""
    monkeypatch.setattr(os, "fsync", lambda file: None)


def entries(pick, lines):
    """Lines with their offsets, and when a log took them; at least one."""
    found, micros = [], START
    for offset, line in enumerate(lines or ["{}"], start=1):
        micros += pick(STEPS)
        found.append((offset, line, micros))
    return found


def settings(pick):
    if pick([True, False]):
        return ARRIVAL
    return Settings(
        time="event",
        lateness=pick([0, "1s", "10s"]),
        ahead=pick([None, 0, "1s", "60s"]),
    )


def words(result):
    deliveries = [json.dumps(each.document(), ensure_ascii=False) for each in result.deliveries]
    return deliveries, sorted((each.position, each.reason) for each in result.rejects)


def plainly(made, logged, how):
    """The same through an engine that takes one publication after the other."""
    engine = Engine(made, how, Scan)
    positions, lines, appended = zip(*logged, strict=True)
    read = line_reader(engine, made, how)
    encoded = [line.encode() for line in lines]
    return words(engine.run(read.lines(positions, encoded, appended), last=True))


def check_seeds(seeds):
    """How many items were late or ahead."""
    outside = 0
    for seed in seeds:
        pick = seeded(seed)
        made = registry_from_documents(registry(pick))
        how, logged = settings(pick), entries(pick, timeline(pick, 40))
        deployment = Deployment(made, how, shards=pick([1, 2, 3]))
        deployment.run_all(pick, cuts(pick, logged))
        _, lines, appended = zip(*logged, strict=True)
        expected = words(replay(made, lines, how, appended=appended))
        deliveries, refusals = deployment.outlet.all()
        assert (deliveries, sorted(refusals)) == expected, seed
        assert plainly(made, logged, how) == expected, seed
        is_outside = [reason.startswith(("late", "ahead")) for _, reason in refusals]
        assert how.time == "event" or not any(is_outside), seed
        outside += sum(is_outside)
    return outside


@pytest.mark.parametrize("part", range(4))
def test_live_is_batch_is_plain(part):
    assert check_seeds(range(6 * part, 6 * (part + 1))) > 0


@pytest.mark.soak
@pytest.mark.parametrize("part", range(8))
def test_many_more(part):
    check_seeds(range(300 * (part + 1), 300 * (part + 2)))


def test_a_deployment_keeps_its_basis():
    deployment = Deployment(registry_from_documents({}), ARRIVAL, shards=1)
    deployment.settings = Settings(lateness=0)
    with pytest.raises(WrongBasis, match=r"expected --time arrival.*found --time event"):
        deployment.start()


class Clocked:
    """A deployment on a log whose clock is set now and then, and its heartbeats."""

    def __init__(self, monkeypatch, settings=ARRIVAL):
        self.now = START
        monkeypatch.setattr("shortlist.log.sqlite.time.time_ns", lambda: self.now * 1000)
        made = registry_from_documents({"subscriptions": [{"id": "all"}]})
        self.deployment = Deployment(made, settings, shards=1)
        self.log = self.deployment.registers
        self.beats = Heartbeats(self.log, SECOND, lambda: self.now)

    def publish(self, name, own_time=None):
        time = None if own_time is None else format_time(own_time)
        document = {"id": name, "source": "s", "time": time}
        self.log.append(INPUT, [json.dumps(document).encode()])

    def read(self):
        manifest = self.deployment.driver.manifest
        found = self.log.read(INPUT, manifest.position)
        self.deployment.run([(one.offset, one.content.decode(), one.appended) for one in found])

    def delivered(self):
        return [json.loads(line)["publication"] for line in self.deployment.outlet.deliveries]


def test_nothing_waits_for_a_clock_that_was_set_back(monkeypatch):
    clocked = Clocked(monkeypatch)
    for name, step in [("a", 0), ("b", -3600 * SECOND), ("c", -86_400 * SECOND), ("d", 5)]:
        clocked.now += step
        clocked.publish(name)
        clocked.read()
        assert clocked.beats.close_instant(clocked.deployment.driver.manifest)
        clocked.read()
        assert clocked.delivered()[-1] == name
        assert not clocked.beats.close_instant(clocked.deployment.driver.manifest)


def test_what_is_there_already_closes_an_instant(monkeypatch):
    clocked = Clocked(monkeypatch)
    clocked.publish("a")
    clocked.read()
    clocked.now += 1
    clocked.publish("b")
    assert not clocked.beats.close_instant(clocked.deployment.driver.manifest)
    clocked.read()
    assert clocked.delivered() == ["a"]


def test_on_event_time_instants_are_not_closed_in_haste(monkeypatch):
    clocked = Clocked(monkeypatch, Settings(lateness="1s"))
    clocked.publish("a", START)
    clocked.read()
    assert not clocked.beats.close_instant(clocked.deployment.driver.manifest)
