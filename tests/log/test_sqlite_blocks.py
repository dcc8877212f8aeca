"""Many entries are stored in blocks, and nobody can tell."""

import random
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import pytest

from shortlist.log import sqlite, sqlite_blocks
from shortlist.log.base import LogUnavailable
from shortlist.log.sqlite import SqliteLog
from shortlist.model.joined import Joined, JoinedTexts
from tests.log.plain_log import PlainLog
from tests.log.test_contract import KEYS, outcome, random_call


def contents(log, **which):
    return [entry.content for entry in log.read("input", 0, **which)]


@pytest.fixture
def log(tmp_path):
    with closing(SqliteLog(tmp_path / "log")) as log:
        yield log


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(sqlite, "MANY", 2)
    monkeypatch.setattr(sqlite_blocks, "MOST_ENTRIES", 3)
    monkeypatch.setattr(sqlite_blocks, "MOST_BYTES", 60)


def check_against_plain(log):
    rng, plain = random.Random(3), PlainLog()
    for _ in range(3000):
        call = random_call(rng, plain.end)
        assert outcome(lambda: call(log)) == outcome(lambda: call(plain))  # noqa: B023
    for key in KEYS:
        assert outcome(lambda: log.read("input", 0, key=key)) == outcome(  # noqa: B023
            lambda: plain.read("input", 0, key=key)  # noqa: B023
        )


def test_rows_and_blocks_in_turn(log, small_blocks):
    check_against_plain(log)


def test_keys_that_cannot_be_told_apart_in_advance(log, small_blocks, monkeypatch):
    monkeypatch.setattr(
        sqlite_blocks, "_hashes", lambda keys: np.full(len(keys), 2**32 - 1, np.uint32)
    )
    check_against_plain(log)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_joined_is_stored_as_it_is(log, small_blocks, seed):
    draw = random.Random(seed)
    some = [draw.randbytes(draw.choice([0, 1, 5, 300])) for _ in range(draw.choice([2, 7, 600]))]
    keys = [draw.choice(KEYS) for _ in some]
    before = len(some) // 3
    joined, named = Joined.of(some)[before:], JoinedTexts(JoinedTexts.of(keys).joined[before:])
    assert log.append("input", joined, keys=named) == len(some) - before
    assert contents(log) == some[before:]
    for key in {*keys}:
        wanted = [one for one, its in zip(some, keys, strict=True) if its == key]
        gone = sum(its == key for its in keys[:before])
        assert contents(log, key=key) == wanted[gone:]


def test_chunks_are_what_is_read_one_by_one(log, small_blocks):
    rng = random.Random(4)
    for _ in range(30):
        log.append("input", [rng.randbytes(rng.randrange(40)) for _ in range(rng.randrange(9))])
    for _ in range(100):
        after, until = rng.randrange(130), rng.choice([None, rng.randrange(130)])
        chunks = log.chunks("input", after, until)
        found = [entry for chunk in chunks for entry in chunk.entries()]
        assert found == [*log.read("input", after, until)]


def test_a_log_without_blocks_is_refused(tmp_path):
    path = tmp_path / "old"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE registers (name TEXT PRIMARY KEY)")
        connection.execute(f"PRAGMA application_id = {int.from_bytes(b'shrt')}")
    before = path.read_bytes()
    with pytest.raises(LogUnavailable, match="it is a log of version 1, not 2"):
        SqliteLog(path)
    assert path.read_bytes() == before


def test_an_append_that_does_not_happen_makes_no_tables(log):
    with pytest.raises(sqlite.Moved):
        log.append("input", [b"one"] * 300, expected_end=7)
    assert log.end("input") == 0
    assert log.append("input", [b"one"] * 300) == 300


def test_nobody_sees_a_stream_that_is_being_made(log):
    with log._transaction() as connection:
        for statement in sqlite.CREATE_STREAM:
            connection.execute(statement.format(stream="input"))
        assert log._last(connection, "input") == (0, 0)
        with ThreadPoolExecutor(1) as other:
            assert other.submit(log.end, "input").result() == 0


def test_a_block_that_has_changed_is_an_error(log, tmp_path):
    log.append("input", [b"%d" % number for number in range(300)])
    with closing(sqlite3.connect(tmp_path / "log")) as connection, connection:
        connection.execute("UPDATE input_blocks SET content = zeroblob(50) WHERE last = 300")
    read = log.read("input", 0)
    assert [next(read).offset for _ in range(256)] == [*range(1, 257)]
    with pytest.raises(LogUnavailable, match="damaged: what is behind 256 has changed"):
        next(read)


def test_a_block_that_is_gone_is_an_error(log, tmp_path):
    log.append("input", [b"%d" % number for number in range(600)])
    with closing(sqlite3.connect(tmp_path / "log")) as connection, connection:
        connection.execute("DELETE FROM input_blocks WHERE last = 512")
    with pytest.raises(LogUnavailable, match="damaged: behind 256 entries are missing"):
        contents(log)


def test_keys_and_many_contents_go_together(log):
    with pytest.raises(ValueError, match="expected 300 keys, found 299"):
        log.append("input", [b"one"] * 300, keys=["a"] * 299)
    assert log.end("input") == 0
