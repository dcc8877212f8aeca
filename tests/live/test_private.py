"""What nobody else is to see: files of logs and states, and passwords of addresses."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shortlist.live.locking import only_driver
from shortlist.live.logs import tell, written_logs
from shortlist.live.registers import FolderRegisters
from shortlist.live.running import Wanted
from shortlist.live.savepoint import export
from shortlist.log.nats import NatsNames
from shortlist.log.opening import open_log
from shortlist.log.sqlite import SqliteLog
from tests.cli.programs import Deployment, flat, shortlist

MISTYPED = [
    "nats://ann:SECRET@127.0.0.1:1/city",
    "nast://ann:SECRET@127.0.0.1:1/city",
    "nats:/ann:SECRET@127.0.0.1:1/city",
    "nats:ann:SECRET@127.0.0.1:1/city",
    "nats//ann:SECRET@127.0.0.1:1/city",
    "nats://ann:my/SECRET@127.0.0.1:1/city",
    "nats://ann:my#SECRET@127.0.0.1:1/city",
    "nats://ann:my@SECRET@127.0.0.1:1/city",
    "nats://ann:SECRET@[127.0.0.1:1/city",
    "nats://ann:SECRET@127.0.0.1:1/my city",
    "nats://127.0.0.1:1/city?token=SECRET",
]


@pytest.fixture
def usual_mask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_files_and_folders_are_their_owners_alone(tmp_path, usual_mask):
    place = tmp_path / "open"
    place.mkdir()
    deployment = Deployment(place, {"subscriptions": [{"id": "all"}]})
    deployment.publish(flat("f1", 800), flat("f2", 900, "2026-03-01T12:00:01Z"))
    deployment.step()
    export(deployment.log, deployment.driver._files, place / "savepoint.zip")
    with written_logs(place / "up.jsonl"):
        tell("started")
    with only_driver(place / "city.log.state"):
        FolderRegisters(place / "registers").put("manifest", b"first", 0)
    made = [*place.rglob("*")]
    assert {"city.log", "savepoint.zip", "up.jsonl", "driver.lock", "manifest.1"} <= {
        path.name for path in made
    }
    readable = {str(path) for path in made if path.stat().st_mode & 0o077}
    assert readable == set()


@pytest.mark.parametrize("url", MISTYPED)
def test_passwords_are_not_repeated(url, tmp_path, monkeypatch):
    monkeypatch.setattr("shortlist.log.nats.NatsLog.__init__.__defaults__", (0.1,))
    state = tmp_path / "state"
    for command in (["status"], ["watch"], ["publish"], ["up", "--state", state, "--metrics=off"]):
        done = shortlist(*command, log=url, text="")
        assert done.exit_code, command
        assert "SECRET" not in done.output + done.stderr + repr(done.exception), command


def test_passwords_are_not_in_what_is_shown_of_objects(tmp_path):
    url = "nats://ann:SECRET@127.0.0.1:1/city"
    assert "SECRET" not in repr(NatsNames.of_url(url))
    assert "SECRET" not in repr(Wanted(log=url, folder=Path(tmp_path)))
    assert "SECRET" not in repr(open_log(url))


def test_locks_on_a_log_stay_when_it_is_opened_again(tmp_path):
    """Of a process: to close a file lets go of all locks that the process has on it, and the next
    one that closes the log would take away the file that both write to."""
    log = SqliteLog(tmp_path / "city.log")
    log.append("input", [b"one"])
    SqliteLog(tmp_path / "city.log")
    code = "import sys; from shortlist.log.sqlite import SqliteLog; SqliteLog(sys.argv[1]).close()"
    subprocess.run([sys.executable, "-c", code, tmp_path / "city.log"], check=True)
    log.append("input", [b"two"])
    assert SqliteLog(tmp_path / "city.log").end("input") == 2
    code = (
        "import sys; from shortlist.log.sqlite import *; print(SqliteLog(sys.argv[1]).end('input'))"
    )
    words = [sys.executable, "-c", code, tmp_path / "city.log"]
    assert subprocess.run(words, check=True, capture_output=True).stdout.strip() == b"2"
