"""`publish`: what is good goes to the log, what is bad is named."""

import json
import time

import pytest

from shortlist.client.sending import Receipt
from shortlist.log.base import INPUT, LogUnavailable
from shortlist.log.sqlite import SqliteLog
from shortlist.model.times import format_time, parse_time
from tests.cli.programs import ARRIVAL, EVENT, Deployment, answer, flat, json_lines, shortlist


@pytest.fixture
def log(tmp_path):
    return SqliteLog(tmp_path / "city.log")


@pytest.fixture
def url(log):
    return f"sqlite:{log.path}"


def contents(log):
    return [json.loads(entry.content) for entry in log.read(INPUT, 0)]


def test_files_and_standard_input_go_in_order(tmp_path, log, url):
    first, last = tmp_path / "first.jsonl", tmp_path / "last.jsonl"
    first.write_text(json_lines(flat("a", 1), flat("b", 2)) + "\n")
    last.write_text(json_lines(flat("d", 4)).rstrip("\n"))
    done = shortlist("publish", first, "-", last, log=url, text=json_lines(flat("c", 3)))
    assert done.exit_code == 0
    assert done.stdout == "4 acknowledged, 0 rejected; offsets 1 to 4\n"
    assert [each["id"] for each in contents(log)] == ["a", "b", "c", "d"]


def test_lines_go_as_they_are(log, url):
    line = '{"id":"é", "source":"ads","time":"2026-03-01T12:00:00Z", "more": [1.0]}'
    assert answer("publish", log=url, text=line) == {
        "acknowledged": 1, "first": 1, "last": 1, "rejected": 0,
    }  # fmt: skip
    assert [entry.content for entry in log.read(INPUT, 0)] == [line.encode()]


def test_bad_lines_are_named_and_the_rest_goes_on(tmp_path, log, url):
    file = tmp_path / "mixed.jsonl"
    file.write_text(
        "broken\n\n"
        + json_lines(
            flat("a", 1),
            {"id": "b"},
            {"time": "2026-03-01T12:00:00Z", "unsubscribe": "s"},
            flat("c", 3),
        )
    )
    done = shortlist("publish", file, log=url)
    assert done.exit_code == 1
    assert done.stdout == "2 acknowledged, 3 rejected; offsets 1 to 2\n"
    assert done.stderr.splitlines() == [
        "mixed.jsonl:1: not JSON: column 1: Expecting value",
        "mixed.jsonl:4: source: is missing",
        "mixed.jsonl:5: expected a publication, found the command unsubscribe",
    ]
    assert [each["id"] for each in contents(log)] == ["a", "c"]


def test_a_publication_needs_a_time_only_where_that_counts(tmp_path, log, url):
    """Without a deployment nobody knows yet: as in one that is begun without a choice."""
    line = json_lines({"id": "b", "source": "ads"})
    assert answer("publish", log=url, text=line)["acknowledged"] == 1
    Deployment(tmp_path, {})
    done = shortlist("publish", log=url, text=line)
    assert (done.exit_code, done.stderr) == (1, "stdin:1: time: is missing\n")


def test_strict_sends_nothing_if_anything_is_bad(log, url):
    done = shortlist("publish", "--strict", log=url, text=json_lines(flat("a", 1)) + "broken\n")
    assert (done.exit_code, done.stdout) == (1, "0 acknowledged, 1 rejected\n")
    assert contents(log) == []
    done = shortlist("publish", "--strict", log=url, text=json_lines(flat("a", 1)))
    assert (done.exit_code, len(contents(log))) == (0, 1)


def test_now_stamps_only_what_has_no_time(log, url):
    bare = {"id": "a", "source": "ads"}
    shortlist("publish", "--now", log=url, text=json_lines(bare, flat("b", 1)))
    stamped, other = contents(log)
    assert parse_time(stamped.pop("time")) > parse_time("2020-01-01T00:00:00Z")
    assert (stamped, other) == (bare, flat("b", 1))


def test_many_lines_go_in_chunks_of_what_a_log_takes_at_once(log, url, monkeypatch):
    sizes = []
    append = SqliteLog.append

    def noted(self, stream, contents, **more):
        sizes.append(len(contents))
        return append(self, stream, contents, **more)

    monkeypatch.setattr(SqliteLog, "append", noted)
    text = json_lines(*(flat(f"p{n}", n) for n in range(4_500)))
    assert answer("publish", log=url, text=text)["acknowledged"] == 4_500
    assert max(sizes) == 1_000
    assert [each["id"] for each in contents(log)] == [f"p{n}" for n in range(4_500)]


def test_what_others_publish_meanwhile_is_told(log, url, monkeypatch):
    append = SqliteLog.append

    def crowded(self, stream, contents, **more):
        append(self, stream, [b"{}"])
        return append(self, stream, contents, **more)

    monkeypatch.setattr(SqliteLog, "append", crowded)
    text = json_lines(*(flat(f"p{n}", n) for n in range(1_500)))
    done = shortlist("publish", log=url, text=text)
    first, last = 2, log.end(INPUT)
    assert last > 1_501
    assert done.stdout.startswith("1,500 acknowledged, 0 rejected; offsets ")
    assert done.stdout.endswith(f"offsets {first} to {last:,}, with others' between them\n")


def test_a_log_that_fails_on_the_way(log, url, monkeypatch):
    append = SqliteLog.append

    def failing(self, stream, contents, **more):
        if self.end(stream) >= 1_000:
            raise LogUnavailable("its disk is full")
        return append(self, stream, contents, **more)

    monkeypatch.setattr(SqliteLog, "append", failing)
    text = json_lines(*(flat(f"p{n}", n) for n in range(1_200)))
    done = shortlist("publish", log=url, text=text)
    assert done.exit_code == 2
    full, rest = done.stderr.splitlines()
    assert full == "its disk is full"
    assert rest.startswith("1,000 acknowledged; offsets 1 to 1,000: stdin:1001 and what follows ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--log", "kafka://somewhere"], "expected sqlite:PATH or nats://HOST:PORT/NAME"),
        (["--log", "sqlite:missing/city.log", "--create"], "it cannot be opened"),
        (["--log", "sqlite:a.log", "x.jsonl", "--create"], "x.jsonl: expected a file, found none"),
        ([], "SHORTLIST_LOG"),
    ],
)
def test_what_cannot_be_done_says_why(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    done = shortlist("publish", *arguments, text="")
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())


def test_nothing_to_publish(log, url):
    assert shortlist("publish", log=url, text="\n").stdout == "0 acknowledged, 0 rejected\n"
    assert Receipt().ends is None


EVERY = {"subscriptions": [{"id": "all"}, {"id": "cheap", "where": "rent < 900"}]}


@pytest.mark.parametrize("settings", [ARRIVAL, EVENT], ids=["arrival", "event"])
def test_wait_says_what_became_of_each(tmp_path, settings):
    deployment = Deployment(tmp_path, EVERY, settings=settings)
    now = format_time(time.time_ns() // 1000 + 1_000_000)
    text = json_lines(flat("a", 800, now), flat("b", 950, now), flat("a", 1, now), {"id": "c"})
    with deployment.running():
        done = shortlist("publish", "--wait", log=deployment.url, text=text)
        assert done.exit_code == 1, done.output
        again = shortlist("publish", "--wait", "--json", log=deployment.url, text=text)
    assert done.stderr == "stdin:4: source: is missing\n"
    assert done.stdout.splitlines()[1:] == [
        "stdin:1: a (ads): 2 deliveries so far",
        "stdin:2: b (ads): 1 delivery so far",
        "stdin:3: a (ads): rejected: duplicate",
    ]
    became = json.loads(again.stdout)["became"]
    assert [each["id"] for each in became] == ["a", "b", "a"]
    reason = "duplicate" if settings is ARRIVAL else "late by "
    assert all(each["rejected"].startswith(reason) for each in became)


def test_waiting_ends_where_no_deployment_reads(log, url):
    text = json_lines(flat("a", 1))
    done = shortlist("publish", "--wait", "--patience", 0.3, log=url, text=text)
    assert done.exit_code == 2
    assert done.stderr == "not known after 0.3 s: no deployment works on this log\n"
