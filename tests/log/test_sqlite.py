"""What happens to the file of a log: damage, a full disk, locks, growth."""

import os
import random
import resource
import shutil
import sqlite3

import pytest

from shortlist.log.base import LogUnavailable, Moved
from shortlist.log.sqlite import SqliteLog
from tests.log.processes import acknowledged, check_whole, start_appender

MEGABYTE = 2**20


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log"


@pytest.fixture
def log(path):
    log = SqliteLog(path, patience=0.2)
    yield log
    log.close()


def wal(path):
    return path.with_name("log-wal")


def contents(log, after=0):
    return [entry.content for entry in log.read("input", after)]


@pytest.mark.parametrize("garble", [False, True], ids=["cut", "garbled"])
def test_a_torn_write_ahead_file(path, tmp_path, garble):
    """What was written whole before the damage is there, nothing of what came after it, and the
    log goes on. SQLite cannot know that more was acknowledged: its readers can."""
    log = SqliteLog(path)
    sizes = []
    expected = [b"%d" % number * 500 for number in range(30)]
    for content in expected:
        log.append("input", [content])
        sizes.append(wal(path).stat().st_size)
    rng = random.Random(6)
    for number in range(150):
        torn = tmp_path / f"torn-{number}" / "log"
        torn.parent.mkdir()
        shutil.copy(path, torn)
        shutil.copy(wal(path), wal(torn))
        place = rng.randrange(sizes[-1])
        with wal(torn).open("r+b") as file:
            file.seek(place)
            if garble:
                (byte,) = file.read(1)
                file.seek(place)
                file.write(bytes([byte ^ rng.randint(1, 255)]))
            else:
                file.truncate()
        whole = sum(size <= place for size in sizes)
        again = SqliteLog(torn)
        assert contents(again) == expected[:whole]
        assert again.append("input", [b"next"]) == whole + 1
        assert contents(again, whole) == [b"next"]
        again.close()
        shutil.rmtree(torn.parent)
    log.close()


@pytest.mark.parametrize("at_once", [200, 2000], ids=["rows", "blocks"])
def test_a_damaged_page_is_an_error_and_never_a_gap(path, tmp_path, at_once):
    log, rng = SqliteLog(path), random.Random(7)
    expected = [rng.randbytes(70) for number in range(2000)]
    for first in range(0, 2000, at_once):
        log.append("input", expected[first : first + at_once], keys=["k"] * at_once)
    log.close()
    whole = path.read_bytes()
    size = 4096
    errors = 0
    for place in range(0, len(whole), size):
        path.write_bytes(whole[:place] + rng.randbytes(size) + whole[place + size :])
        try:
            log = SqliteLog(path)
            assert contents(log) == expected
            log.close()
        except LogUnavailable:
            errors += 1
    assert errors > 10


def test_an_entry_that_is_gone_is_an_error(log, path):
    log.append("input", [b"one", b"two", b"three"])
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM input_entries WHERE offset = 2")
    connection.commit()
    connection.close()
    with pytest.raises(LogUnavailable, match="damaged: behind 0 entries are missing"):
        contents(log)
    assert contents(log, 2) == [b"three"]


def test_a_full_disk(log):
    log.append("input", [b"before"])
    connection = log._connection()
    (used,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {used + 10}")
    with pytest.raises(LogUnavailable, match="its disk is full"):
        log.append("input", [bytes(1000)] * 100)
    assert contents(log) == [b"before"]
    assert log.append("input", [b"small"]) == 2
    connection.execute("PRAGMA max_page_count = 1000000")
    assert log.append("input", [bytes(1000)] * 100) == 102


def test_a_disk_that_fills_up_under_a_process(path):
    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    appender = start_appender(f"sqlite:{path}", 1, 1_000_000, preexec_fn=limited)
    lines = appender.communicate(timeout=60)[0].splitlines(keepends=True)
    assert "its disk does not" in lines[-1]
    log = SqliteLog(path)
    assert check_whole(list(log.read("input", 0)), [1])[1] >= acknowledged(lines) > 0
    log.append("input", [b"more"])
    log.close()


def test_a_lock_that_is_held_for_too_long(log, path):
    log.append("input", [b"one"])
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LogUnavailable, match="another process has locked it"):
        log.append("input", [b"two"])
    assert contents(log) == [b"one"]
    other.execute("ROLLBACK")
    other.close()
    assert log.append("input", [b"two"]) == 2


def test_a_file_that_may_only_be_read(log):
    log.append("input", [b"one"])
    log._connection().execute("PRAGMA query_only = ON")
    with pytest.raises(LogUnavailable, match="it is read-only"):
        log.append("input", [b"two"])
    assert contents(log) == [b"one"]


def test_files_that_are_no_logs(tmp_path):
    text = tmp_path / "text"
    text.write_text("not a database " * 100)
    with pytest.raises(LogUnavailable, match="text: it is not a log"):
        SqliteLog(text)
    with pytest.raises(LogUnavailable, match="is its folder there"):
        SqliteLog(tmp_path / "nowhere" / "log")
    foreign = tmp_path / "foreign"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE mine (a)")
    connection.close()
    before = foreign.read_bytes()
    with pytest.raises(LogUnavailable, match="another program's database"):
        SqliteLog(foreign)
    assert foreign.read_bytes() == before


def test_the_write_ahead_file_does_not_stay_large(log, path):
    log.append("input", [bytes(MEGABYTE)] * 40)
    assert wal(path).stat().st_size > 40 * MEGABYTE
    for _ in range(3):
        log.append("input", [b"small"])
    assert wal(path).stat().st_size <= 16 * MEGABYTE


def test_a_slow_reader_does_not_make_it_grow(log, path):
    log.append("input", [bytes(MEGABYTE)] * 8)
    slow = log.read("input", 0)
    next(slow)
    for _ in range(30):
        log.append("input", [bytes(MEGABYTE)])
    assert wal(path).stat().st_size <= 16 * MEGABYTE
    assert sum(1 for _ in slow) == 7


def test_a_failed_append_leaves_nothing_behind(log, path):
    with pytest.raises(Moved):
        log.append("input", [b"one"], expected_end=1)
    assert log.end("input") == 0
    with pytest.raises(LogUnavailable):
        log.append("input", [b"one", None])
    assert log.append("input", [b"one"]) == 1
    assert contents(log) == [b"one"]


def test_the_processes_that_use_a_new_file_agree_on_it(path):
    appenders = [start_appender(f"sqlite:{path}", seed, 20) for seed in range(4)]
    for appender in appenders:
        appender.communicate(timeout=60)
    log = SqliteLog(path)
    assert min(check_whole(list(log.read("input", 0)), range(4)).values()) >= 20
    log.close()
    assert sorted(os.listdir(path.parent)) == ["log"], "the last one to close empties the -wal file"


def test_recorded_instants_never_decrease(log, monkeypatch):
    """Where the clock was set back, the log repeats its last instant."""
    clock = iter([5_000_000, 9_000_000, 2_000_000, 8_999_999, 9_000_000, 9_001_000])
    monkeypatch.setattr("shortlist.log.sqlite.time.time_ns", lambda: next(clock))
    for _ in range(6):
        log.append("input", [b"one", b"two"])
    found = [entry.appended for entry in log.read("input", 0)][::2]
    assert found == [5000, 9000, 9000, 9000, 9000, 9001]
