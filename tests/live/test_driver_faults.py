"""Crashes between any two steps, and settings that change with a restart."""

import json
from dataclasses import replace

import pytest

from shortlist.intake.files import registry_from_documents
from shortlist.live.driver import Finished
from shortlist.live.manifest import Manifest
from shortlist.live.outlets import ForeignEntries, LogOutlet
from shortlist.live.registers import FolderRegisters
from shortlist.live.savepoint import NotPutOut, export, restore
from shortlist.live.tables import REFUSALS, table_of
from shortlist.log.base import DELIVERIES, INPUT, Moved
from shortlist.log.sqlite import SqliteLog
from shortlist.model.settings import Settings
from shortlist.model.times import format_time
from tests.live.deployments import Deployment

SECOND = 1_000_000
EVERYTHING = {"subscriptions": [{"id": "all"}]}


def at(second, name):
    time = format_time(second * SECOND)
    return json.dumps({"id": name, "source": "s", "time": time})


def beat(second):
    return json.dumps({"time": format_time(second * SECOND), "heartbeat": True})


def made(document=EVERYTHING, lateness=0, **how):
    registry = registry_from_documents(document)
    return Deployment(registry, Settings(lateness=f"{lateness}s"), 1, **how)


def publications(lines):
    return [json.loads(line)["publication"] for line in lines]


def restarted(deployment, lateness):
    deployment.settings = Settings(lateness=f"{lateness}s")
    deployment.start()


def test_a_shorter_lateness_loses_nothing_that_waits():
    deployment = made(lateness=10)
    deployment.run([(1, at(1, "x")), (2, at(5, "y"))])
    restarted(deployment, 0)
    deployment.run([(3, at(8, "z")), (4, beat(9))])
    assert publications(deployment.outlet.deliveries) == ["x", "y", "z"]


def test_a_longer_lateness_reorders_nothing():
    deployment = made()
    deployment.run([(1, at(1, "x")), (2, at(9, "y")), (3, beat(10))])
    restarted(deployment, 8)
    deployment.run([(4, at(4, "z")), (5, beat(30))])
    assert publications(deployment.outlet.deliveries) == ["x", "y"]
    assert deployment.outlet.refusals == [(4, "late by 6 s")]


def test_departures_of_a_quiet_batch_survive_a_failed_commit(monkeypatch):
    policy = {"kind": "top-k", "k": 1, "refresh": "5s"}
    document = {"subscriptions": [{"id": "best", "policy": policy}]}
    deployment = made(document, with_departures=True)
    deployment.run([(1, at(1, "x")), (2, beat(2))])

    def fail(*_):
        raise OSError("no")

    with monkeypatch.context() as patched:
        patched.setattr(deployment.registers, "put", fail)
        with pytest.raises(OSError, match="no"):
            deployment.run([(3, beat(9))])
    deployment.start()
    deployment.run([(3, beat(9))])
    assert publications(deployment.outlet.departures) == ["x"]


def test_departures_that_were_committed_are_put_out_by_whoever_comes(monkeypatch):
    policy = {"kind": "top-k", "k": 1, "refresh": "5s"}
    deployment = made({"subscriptions": [{"id": "best", "policy": policy}]}, with_departures=True)
    deployment.run([(1, at(1, "x")), (2, beat(2))])

    def fail(*_):
        raise OSError("no")

    with monkeypatch.context() as patched:
        patched.setattr(deployment.outlet, "depart", fail)
        with pytest.raises(OSError, match="no"):
            deployment.run([(3, beat(9))])
    deployment.with_departures = False
    deployment.start()
    assert publications(deployment.outlet.departures) == ["x"]


def test_a_finished_deployment_does_not_go_on():
    deployment = made()
    deployment.run([(1, at(1, "x"))], last=True)
    with pytest.raises(Finished):
        deployment.start()


def test_a_savepoint_waits_for_the_last_output(tmp_path, monkeypatch):
    deployment = made()

    def fail(*_):
        raise OSError("no")

    monkeypatch.setattr(deployment.outlet, "deliver", fail)
    with pytest.raises(OSError, match="no"):
        deployment.run([(1, at(1, "x")), (2, beat(2))])
    with pytest.raises(NotPutOut, match="expected 1 deliveries in the log, found 0"):
        export(deployment.registers, deployment.files, tmp_path / "savepoint.zip")


@pytest.fixture
def exported(tmp_path):
    """With an entry that nobody has read, and that has several lines."""
    deployment = made()
    deployment.registers.append(INPUT, [at(1, "x").encode(), b'{"id": "y",\n "source": "s"}\r'])
    deployment.run([(1, at(1, "x"))])
    export(deployment.registers, deployment.files, tmp_path / "savepoint.zip")
    return tmp_path / "savepoint.zip", deployment


def test_unread_entries_move_as_they_are(exported, tmp_path):
    savepoint, deployment = exported
    log = SqliteLog(tmp_path / "other.log")
    # an import that was killed before it had a manifest
    log.append(INPUT, [entry.content for entry in deployment.registers.read(INPUT, 1)])
    restore(savepoint, log, deployment.files)
    assert [entry.content for entry in log.read(INPUT, 0)] == [b'{"id": "y",\n "source": "s"}\r']


def test_a_savepoint_needs_a_log_without_output(exported, tmp_path):
    savepoint, deployment = exported
    log = SqliteLog(tmp_path / "other.log")
    log.append(DELIVERIES, [b"{}"])
    with pytest.raises(Moved, match="expected a log without deliveries, found one with 1"):
        restore(savepoint, log, deployment.files)


def test_foreign_entries_are_not_taken_for_ones_own(tmp_path):
    log = SqliteLog(tmp_path / "some.log")
    log.append("rejects", [b"{}"])
    refusals = table_of([(7, "{}", "expected an id", "unreadable")], REFUSALS)
    with pytest.raises(ForeignEntries, match="rejects: found other entries"):
        LogOutlet(log).reject(0, refusals)


def test_a_register_that_moved_on_far_is_not_won_back(tmp_path, monkeypatch):
    registers = FolderRegisters(tmp_path)
    registers.put("manifest", b"1", 0)
    stale, seen = FolderRegisters(tmp_path), iter([[1]])
    look = registers._revisions
    monkeypatch.setattr(stale, "_revisions", lambda name: next(seen, None) or look(name))
    for revision in (1, 2, 3):
        registers.put("manifest", b"later", revision)
    with pytest.raises(Moved):
        stale.put("manifest", b"stale", 1)
    assert registers.register("manifest").revision == 4


def test_a_later_format_is_refused():
    deployment = made()
    later = replace(deployment.driver.manifest, format=99).to_bytes()
    with pytest.raises(ValueError, match="expected a manifest of format 3, found 99"):
        Manifest.of_bytes(later)


def test_files_stay_for_a_while_after_they_were_needed_last():
    deployment = made()
    name = deployment.files.write("state", b"old")
    assert (
        deployment.files.collect({name}, retention=0) == 0 or deployment.files.path(name).exists()
    )
    deployment.files.collect(set(), retention=600)
    assert deployment.files.path(name).exists()
    deployment.files.collect(set(), retention=0)
    assert not deployment.files.path(name).exists()


def test_blank_lines_are_read_and_nothing_more():
    deployment = made()
    deployment.run([(1, at(1, "x")), (2, "")])
    assert deployment.driver.manifest.position == 2
