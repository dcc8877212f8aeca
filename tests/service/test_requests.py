"""What callers may send before they are known: so many bytes, within so many seconds."""

import json
import random
import socket
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import urlsplit

import pytest

from shortlist.log.base import INPUT
from shortlist.log.sqlite import SqliteLog
from shortlist.service.requests import HEAD_BYTES
from shortlist.service.state import Options
from tests.service.servers import BATCH, SINGLE, caller, event, eventually, problem, served

OPTIONS = Options(head_seconds=0.5, body_seconds=0.5)
# a hang is the fault here: far more than any deadline of these tests
PATIENCE = 60


@pytest.fixture
def log(tmp_path):
    log = SqliteLog(tmp_path / "city.log")
    yield log
    log.close()


@pytest.fixture
def url(log):
    with served(log, OPTIONS) as url:
        yield url


@contextmanager
def connected(url):
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), timeout=PATIENCE) as connection:
        yield connection


def answers(connection):
    """Status and document of what comes until the other side closes."""
    received = b""
    try:
        while some := connection.recv(65536):
            received += some
    except ConnectionResetError:
        pass
    if not received:
        return None
    head, _, body = received.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head.lower()
    assert b"connection: close" in head.lower()
    found = json.loads(body)
    assert head.split()[1] == b"%d" % found["status"]
    return found["status"], found["detail"]


START = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
LONG = (431, f"expected a head of at most {HEAD_BYTES} bytes, found more")


HEADS = {
    "path": b"GET /" + b"x" * 2 * HEAD_BYTES,
    "value": START + b"X: " + b"x" * 2 * HEAD_BYTES,
    "headers": START + b"x: y\r\n" * HEAD_BYTES,
    "name": START + b"x" * 2 * HEAD_BYTES,
    "complete": START + b"X: " + b"x" * 2 * HEAD_BYTES + b"\r\n\r\n",
}


def test_a_head_is_bounded(log):
    with served(log) as url:
        for name, head in HEADS.items():
            for size in (len(head), 1000):
                with connected(url) as connection, suppress(BrokenPipeError, ConnectionResetError):
                    # it may be closed before all was sent
                    for start in range(0, len(head), size):
                        connection.sendall(head[start : start + size])
                    assert answers(connection) in (LONG, None), name


def is_cut_off(connection, block):
    """Whether the other side closes before it has taken 100 MB."""
    try:
        for _ in range(100_000_000 // len(block)):
            connection.sendall(block)
    except (BrokenPipeError, ConnectionResetError):
        return True
    return False


def test_what_never_ends_is_given_up(log):
    with served(log) as url:
        with connected(url) as connection:
            connection.sendall(START)
            assert is_cut_off(connection, b"X: " + b"x" * 1000 + b"\r\n")
        with connected(url) as connection:
            connection.sendall(b"POST /events HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            connection.sendall(b"Transfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\nX: ")
            assert is_cut_off(connection, b"x" * 1000)
        assert log.end(INPUT) == 0


def test_half_a_head_is_not_waited_for(url):
    slow = (408, "expected the head of a request within 0.5 s, found less")
    with ExitStack() as stack:
        sent = {b"": None, b"GE": slow, START: slow, START + b"X: y": slow}
        waiting = {head: stack.enter_context(connected(url)) for head in sent}
        for head, connection in waiting.items():
            connection.sendall(head)
        second = stack.enter_context(connected(url))
        second.sendall(START + b"\r\n")
        assert second.recv(65536).startswith(b"HTTP/1.1 200 OK")
        second.sendall(START)
        assert {head: answers(connection) for head, connection in waiting.items()} == sent
        assert answers(second) == slow


def test_half_a_body_is_not_waited_for(log, url, capfd):
    with connected(url) as one, connected(url) as other:
        for connection, route in ((one, b"/events"), (other, b"/check")):
            connection.sendall(b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\n" % route)
            connection.sendall(b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
        for connection in (one, other):
            status, said = answers(connection)
            assert (status, said[:30]) == (408, "expected the body of a request")
    assert log.end(INPUT) == 0
    assert capfd.readouterr().err == ""


def test_a_thousand_that_wait_lock_nobody_out(url):
    with caller(url) as client:
        waiting = []
        try:
            for number in range(1000):
                place = urlsplit(url)
                waiting.append(socket.create_connection((place.hostname, place.port), 60))
                waiting[-1].sendall(START if number % 2 else b"")
            assert client.get("/healthz").status_code == 200
            assert all(answers(each) is None or number % 2 for number, each in enumerate(waiting))
        finally:
            for each in waiting:
                each.close()
        assert client.get("/healthz").status_code == 200


def test_requests_in_any_pieces_are_answered_as_ever(log):
    """Several on one connection, cut anywhere, with bodies of a length or in chunks."""
    rng = random.Random(5)
    sent = b""
    for number in range(12):
        body = json.dumps(event(f"e{number}", number, extra="x" * rng.randrange(3000))).encode()
        sent += b"POST /events HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"y" * rng.randrange(20_000)
        sent += b"\r\nContent-Type: " + SINGLE["content-type"].encode() + b"\r\n"
        if number % 2:
            sent += b"Content-Length: %d\r\n\r\n" % len(body) + body
            continue
        sent += b"Transfer-Encoding: chunked\r\n\r\n"
        while body:
            size = rng.choice((1, 7, 500))
            sent += b"%x\r\n" % len(body[:size]) + body[:size] + b"\r\n"
            body = body[size:]
        sent += b"0\r\n" + (b"X-Behind: x\r\n" if number % 4 else b"") + b"\r\n"
    with served(log, Options()) as url, connected(url) as connection:
        while sent:
            size = rng.choice((1, 10, 1000, 100_000))
            connection.sendall(sent[:size])
            sent = sent[size:]
        eventually(lambda: log.end(INPUT), lambda end: end == 12)
        received = b""
        while received.count(b'"acknowledged":1') < 12:
            received += connection.recv(65536)
        assert received.count(b"HTTP/1.1 202 Accepted") == 12
    names = [json.loads(entry.content)["id"] for entry in log.read(INPUT, 0)]
    assert names == [f"e{number}" for number in range(12)]


def test_a_body_that_is_too_large_is_refused_as_before(url):
    with caller(url) as client:
        answer = client.post("/events", content=b"[" + b" " * 300_000, headers=BATCH)
        assert "at most 262144 bytes" in problem(answer, 413)["detail"]
