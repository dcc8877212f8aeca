"""Faults at every operation of scripted timelines: nothing is lost, twice or different, and whoever
comes next goes on to the end."""

import json
from itertools import count

import pytest

from scripts.nats_server import NatsServer
from shortlist.log.base import LogUnavailable
from shortlist.log.nats import NatsLog
from tests.faults.schedules import Tally
from tests.faults.scripts import script
from tests.faults.worlds import FolderWorld, LogWorld, SinkWorld

NUMBERS = count(1)


@pytest.fixture(scope="module")
def on_nats(tmp_path_factory):
    """Makes worlds whose logs are on a server."""
    try:
        server = NatsServer(tmp_path_factory.mktemp("nats"))
    except LogUnavailable as error:
        pytest.skip(str(error))
    with server:
        yield lambda script, faults: LogWorld(
            script, faults, lambda path: NatsLog(f"{server.url}/world-{next(NUMBERS)}")
        )


def check(name, make, seeds, **how):
    tally = Tally()
    for seed in seeds:
        tally.play(name, make, script(seed, by_event=name == "NATS"), **how)
    # on a busy machine a driver may look at the log less often than when operations were counted
    assert tally.unmet <= tally.schedules.total() // 20
    assert tally.wrong == []


def test_a_deployment_on_a_log():
    check("SQLite", LogWorld, range(2), every=64, two=3)


def test_a_deployment_whose_output_is_files():
    check("folder", FolderWorld, range(1), every=32, two=4)


def test_a_sink_that_appends_once():
    check("sink", SinkWorld, range(1), two=30)


def test_a_deployment_on_a_server(on_nats):
    check("NATS", on_nats, range(1), every=160, two=2)


@pytest.mark.soak
def test_thousands(on_nats, capsys):
    tally = Tally()
    for seed in range(24):
        tally.play("sink", SinkWorld, script(seed), two=80)
        tally.play("SQLite", LogWorld, script(seed), every=8, two=10)
        tally.play("folder", FolderWorld, script(seed), every=8, two=8)
        tally.play("NATS", on_nats, script(seed, by_event=True), every=120, two=1)
    with capsys.disabled():
        print(*map(json.dumps, tally.lines()), sep="\n")
    assert tally.schedules.total() >= 10_000
    assert tally.wrong == []
