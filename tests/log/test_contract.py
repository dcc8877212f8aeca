"""What every log has to do, run on each of them."""

import multiprocessing
import random
import threading
import time

import pytest

from shortlist.log.base import Moved
from shortlist.log.opening import open_log
from shortlist.log.streams import MOST_ENTRIES
from tests.log.plain_log import PlainLog
from tests.log.processes import acknowledged, check_whole, start_appender

KEYS = [
    "",
    "a",
    "a.b",
    "a b",
    "*",
    ">",
    "A",
    "ü",
    "日本",
    "=",
    "=2E",
    "/",
    "~",
    "x" * 3000,
    "y" * 3000,
]


def contents(entries):
    return [entry.content for entry in entries]


def outcome(call):
    """What a call gives, without the time, or the name of what it raises."""
    try:
        found = call()
    except Moved:
        return "moved"
    return found if isinstance(found, int | None) else [(e.offset, e.content) for e in found]


def random_call(rng, end):
    """A call of a log whose stream ends there; some are right about that end."""
    stream = rng.choice(["input", "deliveries"])
    count = rng.choice([0, 1, 1, 2, 3, 10])
    batch = [rng.randbytes(rng.choice([0, 1, 50])) for _ in range(count)]
    keys = rng.choice([None, [rng.choice(KEYS) for _ in batch]])
    expected = rng.choice([None, end(stream), rng.randint(0, 20)])
    after, until = rng.randint(0, end(stream) + 2), rng.choice([None, rng.randint(0, 30)])
    key = rng.choice([None, *KEYS])
    return rng.choice(
        [
            lambda log: log.append(stream, batch, keys=keys, expected_end=expected),
            lambda log: log.end(stream),
            lambda log: log.read(stream, after, until, key=key),
            lambda log: log.read(stream, max(0, end(stream) - 5)),
        ]
    )


def test_it_answers_as_the_plain_log(log, url):
    rng, plain = random.Random(1), PlainLog()
    for _ in range(4000 if url.startswith("sqlite") else 400):
        call = random_call(rng, plain.end)
        assert outcome(lambda: call(log)) == outcome(lambda: call(plain))  # noqa: B023


def test_registers_change_only_by_comparison(log):
    rng, plain = random.Random(2), PlainLog()
    revisions = {}
    for _ in range(300):
        name, content = rng.choice([*KEYS, "consumer/a"]), rng.randbytes(rng.choice([0, 1, 100]))
        known = rng.random() < 0.6
        before = log.register(name)
        right = before.revision if before else 0
        revision = right if known else rng.choice([0, right + 1, 99_999])
        if revision == right:
            after = log.put(name, content, revision)
            assert after > right
            plain.registers[name] = content
            assert revisions.get(name, 0) < after
            revisions[name] = after
        else:
            with pytest.raises(Moved, match="expected revision"):
                log.put(name, content, revision)
        found = log.register(name)
        assert (found and found.content) == plain.registers.get(name)


def test_what_was_appended_is_there_for_another_reader(log, url):
    log.append("input", [b"one", b"two"], keys=["a", "b"])
    log.put("manifest", b"first", 0)
    other = open_log(url)
    assert contents(other.read("input", 0)) == [b"one", b"two"]
    assert contents(other.read("input", 0, key="b")) == [b"two"]
    assert other.register("manifest").content == b"first"
    other.close()


def test_an_entry_says_when_it_was_taken(log):
    before = time.time_ns() // 1000
    log.append("input", [b"one", b"two"])
    after = time.time_ns() // 1000
    assert all(before <= entry.appended <= after for entry in log.read("input", 0))


def test_more_entries_than_fit_into_a_chunk(log):
    count = 2 * MOST_ENTRIES + 1
    keys = [f"s{number % 2}" for number in range(count)]
    expected = [b"%d" % number for number in range(count)]
    assert log.append("deliveries", expected, keys=keys, expected_end=0) == count
    assert contents(log.read("deliveries", 0)) == expected
    assert contents(log.read("deliveries", 0, key="s1")) == expected[1::2]
    assert contents(log.read("deliveries", 5, 1500)) == expected[5:1500]
    assert contents(log.read("deliveries", 5, 1500, key="s0")) == expected[6:1500:2]


def test_large_entries(log):
    expected = [bytes([number]) * 2**20 for number in range(20)]
    log.append("input", expected)
    assert contents(log.read("input", 0)) == expected


def test_keys_and_contents_go_together(log):
    with pytest.raises(ValueError, match="zip"):
        log.append("input", [b"one", b"two"], keys=["a"])
    assert log.end("input") == 0


@pytest.mark.parametrize("stream", ["", "Input", "in put", "in.put", "input; DROP TABLE registers"])
def test_a_stream_has_a_plain_name(log, stream):
    with pytest.raises(ValueError, match="expected a stream's name"):
        log.append(stream, [b"one"])
    with pytest.raises(ValueError, match="expected a stream's name"):
        log.end(stream)


def test_a_read_ends_where_the_stream_ended_when_it_began(log):
    log.append("input", [b"one", b"two"])
    entries = log.read("input", 0)
    log.append("input", [b"three"])
    assert contents(entries) == [b"one", b"two"]


def test_processes_append_at_the_same_time(log, url):
    seeds = [1, 2, 3]
    appenders = [start_appender(url, seed, 150) for seed in seeds]
    lines = [
        appender.communicate(timeout=60)[0].splitlines(keepends=True) for appender in appenders
    ]
    counts = check_whole(list(log.read("input", 0)), seeds)
    assert [counts[seed] for seed in seeds] == [acknowledged(said) for said in lines]
    assert min(counts.values()) >= 150


def test_threads_append_at_the_same_time(log):
    def append(name):
        for number in range(50):
            log.append("input", [b"%d %d" % (name, number)])

    threads = [threading.Thread(target=append, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = contents(log.read("input", 0))
    assert len(found) == 200
    for name in range(4):
        mine = [content for content in found if content.startswith(b"%d " % name)]
        assert mine == [b"%d %d" % (name, number) for number in range(50)]


def test_one_of_many_wins_a_register(log):
    wins = []

    def count_up():
        for _ in range(20):
            while True:
                register = log.register("count")
                value = int(register.content) if register else 0
                try:
                    log.put("count", b"%d" % (value + 1), register.revision if register else 0)
                except Moved:
                    continue
                wins.append(value + 1)
                break

    threads = [threading.Thread(target=count_up) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(wins) == list(range(1, 61))


def test_reading_while_another_process_appends(log, url):
    appender = start_appender(url, 7, 300)
    seen = []
    while True:
        ended = appender.poll() is not None
        seen += log.read("input", len(seen))
        if ended:
            break
    assert check_whole(seen, [7])[7] >= 300
    appender.stdout.close()


def test_a_forked_process_uses_the_log_that_it_was_given(log):
    log.append("input", [b"parent"])

    def child():
        log.append("input", [b"child"])
        assert contents(log.read("input", 0)) == [b"parent", b"child"]

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(30)
    assert process.exitcode == 0
    assert log.append("input", [b"parent again"]) == 3


def test_a_closed_log_opens_again(log):
    log.append("input", [b"one"])
    log.close()
    assert log.end("input") == 1
