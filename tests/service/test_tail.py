"""What the feed keeps in memory, and that it does not matter to those who follow."""

import asyncio
import json
import random

import pytest

from shortlist.client.following import Place
from shortlist.log.base import DELIVERIES
from shortlist.log.sqlite import SqliteLog
from shortlist.service.tail import MOST_BYTES, Tail, next_of, size_of


def line(shortlist, number, length):
    time = f"2026-03-01T12:00:00.{number:06}Z"
    said = {"shortlist": shortlist, "time": time, "publication": f"{number}", "data": "x" * length}
    return json.dumps(said).encode()


@pytest.fixture
def log(tmp_path):
    log = SqliteLog(tmp_path / "city.log")
    yield log
    log.close()


def read(tail, log, entries):
    lines = [line(name, n, length) for n, (name, length) in enumerate(entries)]
    log.append(DELIVERIES, lines, keys=[name for name, _ in entries])
    has_more = True
    while has_more:
        found, has_more = next_of(tail._following)
        tail._take(found)


async def followed(tail, shortlist, place):
    found = []
    async for _, news in tail.follow(shortlist, place, heartbeat=0.01):
        if news is None:
            break
        found.append(json.loads(news.line)["publication"])
    return found


@pytest.mark.parametrize("seed", range(5))
def test_news_are_kept_up_to_so_many_bytes_and_none_is_missing(log, seed):
    rng = random.Random(seed)
    most = rng.choice([1, 5_000, 50_000])
    tail = Tail(log, most_kept=rng.choice([3, 1000]), most_bytes=most)
    entries = [(rng.choice("ab"), rng.choice([0, 100, 20_000])) for _ in range(60)]
    read(tail, log, entries)
    assert tail._bytes == sum(map(size_of, tail._kept)) <= most
    for start in range(0, 61, 7):
        expected = [str(n) for n, (name, _) in enumerate(entries) if name == "a" and n >= start]
        assert asyncio.run(followed(tail, "a", Place(start, 0))) == expected


def test_long_news_do_not_fill_the_memory(log):
    tail = Tail(log)
    read(tail, log, [("a", 1_000_000)] * 60)
    assert sum(len(news.line) for news in tail._kept) <= MOST_BYTES
    assert len(tail._kept) < 60


def test_few_long_ones_are_read_at_once(log):
    tail = Tail(log)
    log.append(DELIVERIES, [line("a", n, 600_000) for n in range(9)], keys=["a"] * 9)
    found, has_more = next_of(tail._following)
    assert (len(found), has_more) == (2, True)
