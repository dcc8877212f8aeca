"""What a status and the usage tell of the ends of streams, which they read entry by entry."""

import json

import pytest

from shortlist.client import status
from shortlist.client.status import last_spent, rate, recent_rejects
from shortlist.log.base import DELIVERIES, REJECTS
from shortlist.log.sqlite import SqliteLog


@pytest.fixture
def log(tmp_path):
    log = SqliteLog(f"{tmp_path}/city.log")
    yield log
    log.close()


def lines_of(field, values):
    return [json.dumps({field: value, "reason": "late"}).encode() for value in values]


def test_the_last_reject_is_told_with_how_many_there_were_lately(log, monkeypatch):
    log.append(REJECTS, lines_of("position", [7, None, 5]))
    (entry, *_) = log.read(REJECTS, 0)
    then = entry.appended / 1e6
    (warning,) = recent_rejects(log, then + 1)
    assert warning == "3 rejected in the last minute, the last: late (entry 5)"
    assert [*recent_rejects(log, then + 61)] == []
    monkeypatch.setattr(status, "RECENT", 2)
    (warning,) = recent_rejects(log, then + 1)
    assert warning.startswith("2 or more rejected")


def test_what_was_spent_is_counted_over_the_last_deliveries(log, monkeypatch):
    assert last_spent(log) == (0, None, {})
    monkeypatch.setattr(status, "MOST_DELIVERIES", 4)
    log.append(DELIVERIES, lines_of("subscription", "aabab"))
    (first, *_) = log.read(DELIVERIES, 1)
    assert last_spent(log) == (4, first.appended, {"a": 2, "b": 2})


def test_a_rate_is_of_the_last_entries(log, monkeypatch):
    assert rate(log, DELIVERIES, 0) == 0
    log.append(DELIVERIES, [b"{}"] * 9)
    (entry, *_) = log.read(DELIVERIES, 0)
    assert rate(log, DELIVERIES, entry.appended / 1e6 + 3) == 3
    monkeypatch.setattr(status, "RECENT", 6)
    assert rate(log, DELIVERIES, entry.appended / 1e6 + 3) == 2
