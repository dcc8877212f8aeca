"""A consumer's place only moves on, whoever moves it."""

import random
import threading

import pytest

from shortlist.log.base import LogUnavailable
from shortlist.log.consumer import Consumer
from shortlist.log.opening import open_log


def contents(consumer):
    return [entry.content for entry in consumer.entries()]


def test_it_goes_on_behind_what_was_seen(log, url):
    log.append("deliveries", [b"1", b"2", b"3"])
    consumer = Consumer(log, "deliveries", "ann")
    assert contents(consumer) == contents(consumer) == [b"1", b"2", b"3"]
    consumer.seen(2)
    assert contents(consumer) == [b"3"]
    other = open_log(url)
    assert contents(Consumer(other, "deliveries", "ann")) == [b"3"]
    assert contents(Consumer(other, "deliveries", "bob")) == [b"1", b"2", b"3"]
    other.close()
    log.append("deliveries", [b"4"])
    assert contents(consumer) == [b"3", b"4"]


def test_it_does_not_go_back(log):
    log.append("deliveries", [b"x"] * 9)
    one, other = Consumer(log, "deliveries", "ann"), Consumer(log, "deliveries", "ann")
    one.seen(7)
    other.seen(3)
    assert one.position == other.position == 7


def test_readers_of_one_name_move_it_only_on(log):
    log.append("deliveries", [b"x"] * 100)
    positions = []

    def read(seed):
        rng, consumer = random.Random(seed), Consumer(log, "deliveries", "ann")
        for _ in range(30):
            offset = rng.randint(1, 100)
            consumer.seen(offset)
            position = consumer.position
            assert position >= offset
            positions.append(offset)

    readers = [threading.Thread(target=read, args=(seed,)) for seed in range(3)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert len(positions) == 90
    assert Consumer(log, "deliveries", "ann").position == max(positions)


def test_only_one_key(log):
    log.append("deliveries", [b"1", b"2", b"3"], keys=["s", "t", "s"])
    consumer = Consumer(log, "deliveries", "ann", key="s")
    assert contents(consumer) == [b"1", b"3"]
    consumer.seen(1)
    assert contents(consumer) == [b"3"]


def test_a_log_that_ends_before_what_was_seen_has_lost_entries(log):
    log.append("deliveries", [b"1"])
    consumer = Consumer(log, "deliveries", "ann")
    consumer.seen(2)
    with pytest.raises(LogUnavailable, match=r"lost entries: consumer/ann .* 2, and it ends at 1"):
        consumer.entries()


def test_a_name_reads_one_stream(log):
    Consumer(log, "deliveries", "ann").seen(1)
    with pytest.raises(ValueError, match="expected a reader of rejects, found that consumer/ann"):
        Consumer(log, "rejects", "ann").entries()


def test_it_begins_behind_a_place(log):
    log.append("deliveries", [b"1", b"2", b"3"])
    consumer = Consumer(log, "deliveries", "ann", after=2)
    assert (consumer.position, contents(consumer)) == (2, [b"3"])
    consumer.seen(1)
    assert consumer.position == 2
    consumer.seen(3)
    assert Consumer(log, "deliveries", "ann", after=1).position == 3
