"""What is particular to the log on a NATS server."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from scripts.nats_server import NatsServer
from shortlist.log.base import LogUnavailable, Moved
from shortlist.log.nats import MOST_AT_ONCE, Message, NatsLog, NatsNames, _ask_until_heard, _batches


@pytest.fixture
def log(server, request):
    log = NatsLog(f"{server.url}/{request.node.name}", patience=10)
    yield log
    log.close()


def test_names_of_one_server_are_apart(server):
    one, other = NatsLog(f"{server.url}/one"), NatsLog(f"{server.url}/other")
    one.append("input", [b"one"])
    one.put("manifest", b"one", 0)
    assert other.end("input") == 0
    assert other.register("manifest") is None
    one.close()
    other.close()


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("nats://", "HOST:PORT"),
        ("http://localhost:4222", "HOST:PORT"),
        ("nats://localhost:4222/a.b", "a name of letters"),
        ("nats://localhost:4222/a/b", "a name of letters"),
        ("nats://localhost:4222/a?b=c", "HOST:PORT"),
    ],
)
def test_an_address_that_is_none(url, found):
    with pytest.raises(ValueError, match=f"expected .*{found}.*, found"):
        NatsLog(url)


def test_a_password_is_not_part_of_the_address():
    names = NatsNames.of_url("nats://ann:p%40ss@localhost:4222")
    assert names == NatsNames("nats://localhost:4222", "shortlist", "ann", "p@ss")


def test_batches_are_as_large_as_the_server_allows():
    messages = [Message("s", b"x")] * (2 * MOST_AT_ONCE + 1)
    assert [len(batch) for batch in _batches(messages)] == [MOST_AT_ONCE, MOST_AT_ONCE, 1]
    large = [Message("s", bytes(20 * 2**20))] * 3 + [Message("s", b"")]
    assert [len(batch) for batch in _batches(large)] == [1, 1, 2]


def test_an_entry_that_is_too_large_is_refused_before_any_other_is_taken(log):
    with pytest.raises(ValueError, match="expected at most 8387584 bytes at once, found 8388608"):
        log.append("input", [b"small"] * 1500 + [bytes(8 * 2**20)])
    assert log.end("input") == 0
    with pytest.raises(ValueError, match="expected at most"):
        log.put("manifest", bytes(8 * 2**20), 0)


def test_a_large_append_that_is_overtaken_says_what_was_acknowledged(log, monkeypatch):
    attempt = log._attempt
    overtaken = threading.Event()

    async def overtaking(client, batch, expected_end):
        if expected_end == MOST_AT_ONCE and not overtaken.is_set():
            overtaken.set()
            await attempt(client, [Message(batch[0].subject, b"another's")], None)
        return await attempt(client, batch, expected_end)

    monkeypatch.setattr(log, "_attempt", overtaking)
    with pytest.raises(Moved, match="found it at 1001; the first 1000 of 2500 entries were"):
        log.append("input", [b"mine"] * 2500, expected_end=0)
    assert log.end("input") == 1001


def test_a_question_that_was_not_heard_is_asked_again(log):
    """A server that has just started may drop it."""
    heard = []

    async def asked(client):
        async def answer(message):
            heard.append(message.data)
            if len(heard) > 1:
                await client.publish(message.reply, b"", headers={"Status": "204"})

        await client.subscribe("deaf.at.first", cb=answer)
        return await _ask_until_heard(
            lambda: log._answers(client, "deaf.at.first", b"who is there?")
        )

    (answer,) = log._connection.run(asked)
    assert answer.headers["Status"] == "204"
    assert heard == [b"who is there?"] * 2


def test_an_append_waits_while_the_server_takes_no_more_batches(log):
    """It keeps at most 50 unfinished batches of a stream."""

    async def send(client, batch, number, **commit):
        headers = {"Nats-Batch-Id": f"left-{batch}", "Nats-Batch-Sequence": str(number), **commit}
        await client.request(log._names.subject("input"), b"", headers=headers, timeout=5)

    assert log.append("input", [b"first"]) == 1
    for batch in range(50):
        log._connection.run(send, batch, 1)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(log.append, "input", [b"one", b"two"])
        time.sleep(0.3)
        assert not waiting.done()
        log._connection.run(send, 0, 2, **{"Nats-Batch-Commit": "1"})
        assert waiting.result(10) == 5


def test_the_server_lets_nobody_delete(log):
    log.append("input", [b"one", b"two"])

    async def delete(client):
        await client.jetstream().delete_msg(log._names.stream("input"), 1)

    with pytest.raises(LogUnavailable, match="not permitted"):
        log._connection.run(delete)


def test_a_stream_that_somebody_else_made_is_not_used(log):
    async def make(client):
        await client.jetstream().add_stream(name=log._names.stream("input"), subjects=["elsewhere"])

    log._connection.run(make)
    with pytest.raises(LogUnavailable, match="different configuration"):
        log.append("input", [b"one"])


def test_a_closed_one_leaves_no_thread_though_a_name_was_looked_up(server):
    before = {*threading.enumerate()}
    log = NatsLog(f"{server.url.replace('127.0.0.1', 'localhost')}/threads")
    assert log.end("input") == 0
    log.close()
    assert {*threading.enumerate()} <= before


def check_all_fail_soon(log):
    """Each of many calls waiting for itself would keep the last one for half a minute."""
    began = time.monotonic()
    with ThreadPoolExecutor(2) as threads:
        calls = [threads.submit(log.end, "input") for _ in range(60)]
        found = [type(call.exception()) for call in calls]
    assert {*found} == {LogUnavailable}
    assert time.monotonic() - began < 20


def check_it_is_reached_again(log):
    deadline = time.monotonic() + 20
    while True:
        try:
            assert log.end("input") == 1
            return
        except LogUnavailable:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_a_server_that_is_gone_is_waited_for_once_by_all_calls(tmp_path):
    server = NatsServer(tmp_path)
    log = NatsLog(server.url, patience=1)
    log.append("input", [b"one"])
    server.kill()
    check_all_fail_soon(log)
    with NatsServer(tmp_path, server.port):
        check_it_is_reached_again(log)
        log.close()


def test_a_server_that_falls_silent_is_found_out_once_for_all_calls(tmp_path):
    with NatsServer(tmp_path) as server:
        log = NatsLog(server.url, patience=1)
        log.append("input", [b"one"])
        os.kill(server.pid, signal.SIGSTOP)
        os.waitpid(server.pid, os.WUNTRACED)  # until it has stopped
        try:
            check_all_fail_soon(log)
        finally:
            os.kill(server.pid, signal.SIGCONT)
        check_it_is_reached_again(log)
        log.close()
