"""Entries of a log on their way to a driver in this process."""

import json
import threading
import time
from contextlib import closing
from functools import partial

import pytest

from shortlist.engine.replay import replay
from shortlist.intake.files import registry_from_documents
from shortlist.live.driver import Driver, begin
from shortlist.live.files import Files
from shortlist.live.heartbeats import Heartbeats
from shortlist.live.here import run_here
from shortlist.live.log_stream import LogStream
from shortlist.live.outlets import LogOutlet
from shortlist.log.base import DELIVERIES, INPUT
from shortlist.log.sqlite import SqliteLog
from shortlist.model.settings import Settings
from tests.faults.processes import wait_until
from tests.live.streams import run_batch
from tests.strategies import registry, seeded, timeline

SETTINGS = Settings(lateness=0)
END = b'{"time": "2100-01-01T00:00:00Z", "heartbeat": true}'


@pytest.fixture
def log(tmp_path):
    with closing(SqliteLog(tmp_path / "city.log")) as log:
        yield log


def driving(log, folder, known=None, run=run_here):
    files = Files(folder / "files")
    if known is not None:
        begin(log, files, known, 3)
    return Driver(log, files, SETTINGS, run, LogOutlet(log))


def delivered(log):
    return [entry.content.decode() for entry in log.read(DELIVERIES, 0)]


@pytest.mark.parametrize("seed", range(4))
def test_it_gives_what_the_engine_gives_and_goes_on_where_it_was(tmp_path, log, seed):
    pick = seeded(seed)
    known = registry_from_documents(registry(pick))
    lines = [line.encode() for line in timeline(pick, 60)] + [END]
    heard = {}

    def told(report, appended):
        heard.update(appended)

    for first, at_most in ((0, 7), (30, 40_000)):
        log.append(INPUT, lines[first : first + 30] if first == 0 else lines[first:])
        driver = driving(log, tmp_path, known if first == 0 else None)
        with LogStream(log, driver, at_most, told) as stream:
            stream.start()
            wait_until(lambda: driver.manifest.position == log.end(INPUT), "all to be read")  # noqa: B023
            assert stream.is_active
            stream.stop()
        assert not stream.is_active
    expected = replay(known, lines, SETTINGS)
    assert delivered(log) == [
        json.dumps(each.document(), ensure_ascii=False) for each in expected.deliveries
    ]
    assert heard == {entry.offset: entry.appended for entry in log.read(INPUT, 0)}


def count(read, report, appended):
    read.append(len(appended))


def test_a_batch_has_so_many_lines_and_bytes_at_most(tmp_path, log):
    driver = driving(log, tmp_path, registry_from_documents({}))
    for at_most, sizes in ((2, [2, 2, 2, 2, 1]), (40_000, [3, 3, 3])):
        log.append(INPUT, [END] * 9)
        read = []
        told = partial(count, read)
        with LogStream(log, driver, at_most, told, most_bytes=3 * len(END)) as one:
            one.start()
            wait_until(lambda: sum(read) == 9, "all lines")  # noqa: B023
            one.stop()
        assert read == sizes


def test_what_has_come_is_delivered_by_one_batch(tmp_path, log):
    """A heartbeat follows it before it is read, unless something else does."""
    settings = Settings(time="arrival")
    known = registry_from_documents({"subscriptions": [{"id": "all"}]})
    files = Files(tmp_path / "files")
    begin(log, files, known, 1, settings)
    driver = Driver(log, files, settings, run_here, LogOutlet(log))
    beats = Heartbeats(log, 500_000, lambda: time.time_ns() // 1000)
    read = []
    stream = LogStream(log, driver, 10, partial(count, read), beats=beats)
    for name in "abc":
        log.append(INPUT, [json.dumps({"id": name, "source": "s"}).encode()])
        assert run_batch(stream)
        assert json.loads(delivered(log)[-1])["publication"] == name
        assert not run_batch(stream)
    assert read == [2, 2, 2]


def test_what_goes_wrong_ends_it_and_is_raised(tmp_path, log):
    failing = threading.Event()

    def run(task, works):
        if failing.is_set():
            raise OSError("no room")
        return run_here(task, works)

    driver = driving(log, tmp_path, registry_from_documents({}), run)
    failing.set()
    log.append(INPUT, [END])
    with LogStream(log, driver, 10, lambda *_: None) as stream:
        stream.start()
        wait_until(lambda: not stream.is_active, "its end")
        with pytest.raises(OSError, match="no room"):
            stream.stop()
    assert driver.manifest.position == 0


class SlowOutlet(LogOutlet):
    """Lets nothing out before it is told so."""

    def __init__(self, log):
        super().__init__(log)
        self.may, self.asked = threading.Event(), threading.Event()
        self.failure = None

    def deliver(self, before, deliveries):
        self.asked.set()
        assert self.may.wait(30)
        if self.failure is not None:
            raise self.failure
        super().deliver(before, deliveries)


def publication(second):
    document = {"id": f"p{second}", "source": "s", "time": f"2026-03-01T00:00:{second:02}Z"}
    return json.dumps(document).encode()


@pytest.fixture
def slow(tmp_path, log):
    files, outlet = Files(tmp_path / "files"), SlowOutlet(log)
    begin(log, files, registry_from_documents({"subscriptions": [{"id": "all"}]}), 1)
    ran = []

    def run(task, works):
        ran.append(len(works))
        return run_here(task, works)

    yield outlet, Driver(log, files, SETTINGS, run, outlet), ran
    outlet.may.set()


def test_a_batch_is_carried_out_while_the_last_is_put_out(log, slow):
    outlet, driver, ran = slow
    heard = []
    with LogStream(log, driver, 2, lambda report, _: heard.append(report.number)) as stream:
        log.append(INPUT, [publication(second) for second in range(6)])
        stream.start()
        wait_until(lambda: len(ran) == 2 and outlet.asked.is_set(), "the second batch")
        time.sleep(0.05)
        assert (driver.manifest.number, heard, delivered(log)) == (1, [], [])
        outlet.may.set()
        wait_until(lambda: heard == [1, 2, 3], "all batches")
        stream.stop()
    assert len(delivered(log)) == 5


def test_what_cannot_be_put_out_is_raised_and_nothing_else_committed(log, slow):
    outlet, driver, ran = slow
    with LogStream(log, driver, 2, lambda *_: None) as stream:
        log.append(INPUT, [publication(second) for second in range(6)])
        stream.start()
        wait_until(lambda: len(ran) == 2, "the second batch")
        outlet.failure = OSError("no room")
        outlet.may.set()
        wait_until(lambda: not stream.is_active, "its end")
        with pytest.raises(OSError, match="no room"):
            stream.stop()
    assert driver.manifest.number == 1


def test_the_next_whole_batch_is_read_while_shards_are_at_work(tmp_path, log, monkeypatch):
    """By then a command of the batch before has changed what is wanted of publications."""
    may, read = threading.Event(), []

    def run(task, works):
        assert may.wait(30)
        return run_here(task, works)

    def unread(stream, after, most):
        read.append((after, threading.current_thread().name))
        return original(stream, after, most)

    original = LogStream._unread
    monkeypatch.setattr(LogStream, "_unread", unread)
    driver = driving(log, tmp_path, registry_from_documents({}), run)
    cheap = {"id": "cheap", "where": "rent < 900"}
    lines = [{"time": "2026-03-01T00:00:00Z", "subscribe": cheap}]
    lines += [
        json.loads(publication(second)) | {"data": {"rent": 890 + 2 * second}}
        for second in range(1, 10)
    ]
    with LogStream(log, driver, 4, lambda *_: None) as stream:
        log.append(INPUT, [json.dumps(line).encode() for line in lines])
        stream.start()
        wait_until(lambda: (4, "reading") in read, "the second batch to be read")
        assert driver.manifest.number == 0
        may.set()
        wait_until(lambda: driver.manifest.position == 10, "all lines")
        stream.stop()
    # of the last two lines nobody knows whether more come
    assert [after for after, thread in read if thread == "log stream"][:2] == [0, 8]
    assert [json.loads(line)["publication"] for line in delivered(log)] == ["p1", "p2", "p3", "p4"]
