"""Logs by their address."""

import pytest

from scripts.nats_server import NatsServer
from shortlist.log.nats import NatsLog
from shortlist.log.opening import KINDS, Kind, kind_of, open_log
from shortlist.log.sqlite import SqliteLog
from tests.log.plain_log import PlainLog


def known_logs(url):
    return KINDS[kind_of(url)].known(url)


def name_of(url):
    return KINDS[kind_of(url)].name(url)


def test_the_kind_decides(tmp_path):
    log = open_log(f"sqlite:{tmp_path / 'a log'}")
    assert isinstance(log, SqliteLog)
    log.close()
    assert isinstance(open_log("nats://localhost:4222"), NatsLog)


@pytest.mark.parametrize("url", ["", "sqlite:", "log.db", "kafka://localhost", "SQLITE:x"])
def test_anything_else_is_refused(url):
    with pytest.raises(ValueError, match=r"expected sqlite:PATH or nats://HOST:PORT/NAME, found '"):
        open_log(url)


def test_a_server_without_a_log(tmp_path):
    with NatsServer(tmp_path) as server:
        assert known_logs(f"{server.url}/city") == []
        log = open_log(f"{server.url}/city")
        log.put("manifest", b"", 0)
        assert known_logs(f"{server.url}/other") == ["city"]
        log.close()


def test_logs_that_are_there_are_named(url, log):
    log.append("input", [b"one"])
    assert name_of(url) in known_logs(url)


def test_a_name_is_the_last_of_an_address():
    assert name_of("sqlite:data/city.log") == "city.log"
    assert name_of("nats://127.0.0.1:4222/city") == "city"


def test_other_files_are_no_logs(tmp_path):
    (tmp_path / "notes.txt").write_text("a")
    (tmp_path / "short").write_bytes(b"SQLite format 3\0")
    (tmp_path / "folder").mkdir()
    log = SqliteLog(tmp_path / "city.log")
    assert known_logs(f"sqlite:{tmp_path}/none") == ["city.log"]
    log.close()
    assert known_logs(f"sqlite:{tmp_path}/missing/none") == []


def test_another_log_is_a_row(monkeypatch):
    log = PlainLog()
    plain = Kind("plain:NAME", lambda url, _: log, lambda url: ["a", "b"], lambda url: url[6:])
    monkeypatch.setitem(KINDS, "plain", plain)
    assert kind_of("plain:a") == "plain"
    assert open_log("plain:a") is log
    assert (name_of("plain:a"), known_logs("plain:a")) == ("a", ["a", "b"])
    with pytest.raises(ValueError, match=r"expected sqlite:.* or plain:NAME, found 'plain:'"):
        open_log("plain:")
