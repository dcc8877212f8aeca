"""Logs by their address."""

import pytest

from shortlist.log.nats import NatsLog
from shortlist.log.opening import open_log
from shortlist.log.sqlite import SqliteLog


def test_the_kind_decides(tmp_path):
    log = open_log(f"sqlite:{tmp_path / 'a log'}")
    assert isinstance(log, SqliteLog)
    log.close()
    assert isinstance(open_log("nats://localhost:4222"), NatsLog)


@pytest.mark.parametrize("url", ["", "sqlite:", "log.db", "kafka://localhost", "SQLITE:x"])
def test_anything_else_is_refused(url):
    with pytest.raises(ValueError, match=r"expected sqlite:PATH or nats://HOST:PORT/NAME, found '"):
        open_log(url)
