"""A server of one's own starts, stops, and says why it does not."""

import os

import pytest

from scripts.nats_server import NatsServer
from shortlist.log.base import LogUnavailable
from shortlist.log.nats import NatsLog


def test_it_keeps_its_streams_and_its_port(tmp_path):
    with NatsServer(tmp_path / "new folder") as first:
        log = NatsLog(first.url)
        log.append("input", [b"one"])
        os.kill(first.pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(first.pid, 0)
    with NatsServer(tmp_path / "new folder", first.port) as second:
        assert second.url == first.url
        assert [entry.content for entry in log.read("input", 0)] == [b"one"]
        log.close()


def test_a_port_that_is_taken(server, tmp_path):
    with pytest.raises(LogUnavailable, match=r"ended at once.*address already in use"):
        NatsServer(tmp_path, server.port)
