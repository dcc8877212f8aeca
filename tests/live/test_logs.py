"""Structured logs: one JSON object a line, and nothing unless somebody asks."""

import json
import logging

import pytest

from shortlist.intake.files import registry_from_documents
from shortlist.live.logs import LOGGER, tell, tell_batch, written_logs
from shortlist.model.settings import Settings
from shortlist.model.times import parse_time
from shortlist.model.trace import trace_id
from tests.live.deployments import Deployment

LINES = [
    (1, '{"id": "a", "source": "s", "time": "1970-01-01T00:00:05Z"}'),
    (2, '{"id": "b", "source": "s", "time": "1970-01-01T00:00:04Z"}'),
    (3, "broken"),
    (4, '{"time": "1970-01-01T00:00:06Z", "heartbeat": true}'),
]


@pytest.fixture
def deployment():
    made = registry_from_documents({"subscriptions": [{"id": "one"}]})
    return Deployment(made, Settings(lateness=0), shards=1)


def events(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_a_batch_and_what_it_turned_away(tmp_path, deployment):
    file = tmp_path / "live.log"
    with written_logs(file):
        tell("started", log="sqlite:é.log")
        tell_batch(deployment.run(LINES), deployment.driver.manifest)
        tell("stopped")
    started, late, broken, batch, stopped = events(file)
    assert (started["event"], started["level"], started["log"]) == (
        "started", "info", "sqlite:é.log",
    )  # fmt: skip
    assert parse_time(started["time"]) > parse_time("2020-01-01T00:00:00Z")
    assert (late["event"], late["level"], late["position"], late["why"]) == (
        "rejected", "warning", 2, "late",
    )  # fmt: skip
    assert (late["reason"], late["trace"]) == ("late by 1 s", trace_id("s", "b"))
    assert (broken["position"], broken["why"], broken["trace"]) == (3, "unreadable", None)
    assert (batch["event"], batch["number"], batch["position"]) == ("batch", 1, 4)
    assert (batch["counts"]["published"], batch["counts"]["arrival"]) == (1, 1)
    assert batch["seconds"].keys() >= {"admission", "shards", "commit"}
    assert stopped["event"] == "stopped"


def test_only_what_is_grave(tmp_path, deployment):
    file = tmp_path / "live.log"
    with written_logs(file, logging.WARNING):
        tell("started")
        tell_batch(deployment.run(LINES), deployment.driver.manifest)
        tell("superseded", number=7)
        tell("failed", error=ValueError("two\nlines"))
    assert [(each["event"], each["level"]) for each in events(file)] == [
        ("rejected", "warning"),
        ("rejected", "warning"),
        ("superseded", "warning"),
        ("failed", "error"),
    ]
    assert events(file)[-1]["error"] == "two\nlines"


def test_standard_error_is_the_default(capsys):
    with written_logs():
        tell("stopped")
    assert json.loads(capsys.readouterr().err)["event"] == "stopped"


def test_otherwise_quiet(tmp_path, capsys, deployment):
    handlers = [*LOGGER.handlers]
    with written_logs(tmp_path / "live.log"):
        pass
    tell("failed", error="nobody hears of it")
    tell_batch(deployment.run(LINES), deployment.driver.manifest)
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "live.log").read_text() == ""
    assert LOGGER.handlers == handlers
