"""What was acknowledged survives the end of any process, at any moment."""

import random
import threading
import time

import pytest

from scripts.nats_server import NatsServer
from shortlist.log.base import LogUnavailable
from shortlist.log.consumer import Consumer
from shortlist.log.nats import NatsLog
from shortlist.log.opening import open_log
from tests.log.processes import acknowledged, check_whole, start_appender

ROUNDS = 5


def test_an_appender_is_killed(url):
    """Its batches are whole, what it was told is there, and the next one goes on."""
    rng = random.Random(3)
    seeds = []
    for seed in range(ROUNDS):
        appender = start_appender(url, seed, 1_000_000)
        first = appender.stdout.readline()
        time.sleep(rng.uniform(0, 0.2))
        appender.kill()
        told = acknowledged([first, *appender.stdout.readlines()])
        appender.wait()
        appender.stdout.close()
        seeds.append(seed)
        log = open_log(url)
        counts = check_whole(list(log.read("input", 0)), seeds)
        log.close()
        assert counts[seed] >= told > 0


class OnlyWriter(threading.Thread):
    """Appends as the only writer of its stream, which can therefore find out what was taken when
    the log has become unavailable."""

    def __init__(self, log, rng):
        super().__init__()
        self.log, self.rng = log, rng
        self.end = self.interruptions = 0
        self.enough = threading.Event()

    def run(self):
        while not self.enough.is_set():
            size = self.rng.choice([1, 3, 100, 1500])
            self.append([b"%d" % number for number in range(self.end + 1, self.end + size + 1)])

    def append(self, contents):
        while contents:
            try:
                end = self.log.append("input", contents, expected_end=self.end)
            except LogUnavailable:
                self.interruptions += 1
                end = self.log.end("input")
            contents = contents[end - self.end :]
            self.end = end


def test_the_server_is_killed(tmp_path):
    """Nothing is lost, and nothing is there twice, though acknowledgements are."""
    rng = random.Random(4)
    server = NatsServer(tmp_path)
    log = NatsLog(server.url, patience=20)
    writer = OnlyWriter(log, random.Random(5))
    writer.start()
    for _ in range(ROUNDS):
        time.sleep(rng.uniform(0.1, 0.5))
        server.kill()
        server = NatsServer(tmp_path, server.port)
    writer.enough.set()
    writer.join(60)
    with server:
        found = [entry.content for entry in log.read("input", 0)]
        assert found == [b"%d" % number for number in range(1, writer.end + 1)]
        assert writer.interruptions > 0
        log.close()


def test_a_server_that_does_not_come_back(tmp_path):
    server = NatsServer(tmp_path)
    log = NatsLog(server.url, patience=0.5)
    log.append("input", [b"one"])
    server.kill()
    for call in (
        lambda: log.append("input", [b"two"]),
        lambda: log.end("input"),
        lambda: list(log.read("input", 0)),
        lambda: log.put("manifest", b"", 0),
    ):
        with pytest.raises(LogUnavailable, match=f"127.0.0.1:{server.port}"):
            call()
    log.close()


@pytest.mark.parametrize("cut", [True, False], ids=["cut", "garbled"])
def test_the_files_of_a_server_are_damaged(tmp_path, cut):
    """The stream then ends before the damage, without a gap, and a consumer notices."""
    rng = random.Random(8)
    with NatsServer(tmp_path) as server:
        log = NatsLog(server.url)
        expected = [b"%d" % number * 20 for number in range(3000)]
        log.append("input", expected)
        Consumer(log, "input", "ann").seen(3000)
        server.kill()
    (block,) = tmp_path.rglob("streams/shortlist-input/msgs/*.blk")
    content = bytearray(block.read_bytes())
    place = rng.randrange(len(content))
    content[place] ^= 255
    block.write_bytes(content[:place] if cut else content)
    with NatsServer(tmp_path, server.port):
        found = [entry.content for entry in log.read("input", 0)]
        assert 0 < len(found) < 3000
        assert found == expected[: len(found)]
        with pytest.raises(LogUnavailable, match="lost entries"):
            Consumer(log, "input", "ann").entries()
        assert log.append("input", [b"next"]) == len(found) + 1
        log.close()
