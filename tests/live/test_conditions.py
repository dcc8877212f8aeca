"""What a driver says of itself, and what others conclude from it."""

import threading
import time

import pytest

from shortlist.intake.files import registry_from_documents
from shortlist.live import running
from shortlist.live.conditions import CONDITION, GONE_SECONDS, standstill, tell_condition
from shortlist.live.lanes import ProcessGround
from shortlist.live.registers import committed
from shortlist.live.running import Running, Wanted
from shortlist.log.json_register import read_json
from shortlist.log.sqlite import SqliteLog
from shortlist.model.settings import Settings
from shortlist.model.times import now
from tests.cli.programs import ARRIVAL, Deployment
from tests.live.test_one_driver import Quiet

LATER = int((GONE_SECONDS + 1) * 1e6)


@pytest.fixture
def deployment(tmp_path):
    return Deployment(tmp_path, {}, shards=1, settings=ARRIVAL)


def why(deployment, later=0):
    return standstill(deployment.log, committed(deployment.log)[1], now() + later)


def test_commits_are_signs_of_life_for_a_while(deployment):
    deployment.publish({"id": "f1", "source": "ads"})
    deployment.step()
    assert why(deployment) is None
    assert why(deployment, LATER).startswith("nothing was heard of the deployment for 16 s")


def test_without_commits_there_are_others(deployment):
    tell_condition(deployment.log, "starting")
    assert why(deployment) == "the deployment has been starting for 0 s"
    assert why(deployment, LATER) == "the deployment has been starting for 16 s"
    tell_condition(deployment.log, "running")
    assert why(deployment) is None


def test_a_commit_shows_that_it_runs_again(deployment):
    for state, said in (
        ("failing", "fails, and tries again: no space"),
        ("stopped", "was stopped"),
    ):
        tell_condition(deployment.log, state, "no space")
        assert said in why(deployment)
        deployment.publish({"id": state, "source": "ads"})
        deployment.step()
        assert why(deployment) is None


def test_a_driver_without_heartbeats_says_how_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "SIGN_SECONDS", 0.02)
    wanted = Wanted(
        log=f"sqlite:{tmp_path}/city.log",
        folder=tmp_path / "state",
        registry=registry_from_documents({}),
        settings=Settings(lateness=0),
        heartbeat=None,
    )
    observer = Quiet()
    started = Running(wanted, ProcessGround(1), observer)
    thread = threading.Thread(target=started.run)
    thread.start()
    assert observer.has_started.wait(60)
    log = SqliteLog(tmp_path / "city.log")

    def until(state):
        deadline = time.monotonic() + 60
        while read_json(log, CONDITION).get("state") != state:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    until("running")
    assert standstill(log, committed(log)[1], now()) is None
    started.stop()
    thread.join()
    assert read_json(log, CONDITION)["state"] == "stopped"
    log.close()
