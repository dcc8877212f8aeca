"""Deployments that do not wait until Spark has started."""

import json
import threading
import time

import pytest

from shortlist.intake.files import registry_from_documents
from shortlist.live.lanes import ProcessGround
from shortlist.live.running import Running, Wanted
from shortlist.log.base import DELIVERIES, INPUT
from shortlist.log.opening import open_log
from shortlist.spark.ground import SparkEnded, StartingGround
from tests.cli.programs import ARRIVAL

pytestmark = pytest.mark.spark
FLATS = [
    {"id": "best", "where": "rent < 900", "policy": {"kind": "top-k", "k": 1}, "score": "-rent"},
    {"id": "all", "where": "rent < 900"},
]


class Quiet:
    def compiling(self, left): ...
    def started(self, driver, log): ...
    def ran(self, report, driver, log, appended): ...
    def failed(self, error, pause): ...
    def stopped(self): ...


class Up:
    """A deployment that runs in a thread."""

    def __init__(self, folder, start):
        self.took_over = threading.Event()
        ground = StartingGround(ProcessGround(2), start, self.took_over.set)
        url = f"sqlite:{folder / 'log'}"
        self.log = open_log(url)
        wanted = Wanted(
            log=url,
            folder=folder / "state",
            registry=registry_from_documents({"subscriptions": FLATS}),
            settings=ARRIVAL,
        )
        self._running = Running(wanted, ground, Quiet())
        self._thread = threading.Thread(target=self._run)
        self.error = None

    def _run(self):
        try:
            self._running.run()
        except Exception as error:
            self.error = error

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._running.stop()
        self._thread.join()
        self.log.close()

    def deliver(self, name, rent):
        """What is delivered of one publication."""
        before = self.log.end(DELIVERIES)
        said = {"id": name, "source": "ads", "type": "flat", "data": {"rent": rent}}
        self.log.append(INPUT, [json.dumps(said).encode()])
        until(lambda: self.log.end(DELIVERIES) > before)
        entries = self.log.read(DELIVERIES, before)
        return [(said["shortlist"], said["publication"]) for said in map(_json, entries)]


def _json(entry):
    return json.loads(entry.content)


def until(done, seconds=120):
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_processes_deliver_until_spark_takes_over_and_spark_knows_what_they_knew(tmp_path, spark):
    may_start = threading.Event()

    def start():
        may_start.wait()
        return spark

    with Up(tmp_path, start) as up:
        assert sorted(up.deliver("f1", 800)) == [("all", "f1"), ("best", "f1")]
        assert not up.took_over.is_set()
        may_start.set()
        assert up.took_over.wait(120)
        assert up.deliver("f2", 850) == [("all", "f2")]
        assert sorted(up.deliver("f3", 700)) == [("all", "f3"), ("best", "f3")]
    assert up.error is None


def test_whoever_cannot_start_spark_is_told_why(tmp_path):
    def start():
        raise RuntimeError("no room for a JVM")

    with Up(tmp_path, start) as up:
        up._thread.join(60)
        assert isinstance(up.error, SparkEnded)
        assert "Spark has not started: no room for a JVM" in str(up.error)


def test_one_that_is_stopped_does_not_wait_for_spark(tmp_path):
    never = threading.Event()
    with Up(tmp_path, never.wait) as up:
        assert len(up.deliver("f1", 800)) == 2
    assert up.error is None
    assert not up.took_over.is_set()
