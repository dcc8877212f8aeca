"""The service stops quietly, whatever is under way."""

import socket
import threading
from contextlib import ExitStack
from urllib.parse import urlsplit

import httpx

from shortlist.log.base import DELIVERIES, INPUT
from tests.cli.programs import ARRIVAL, Deployment
from tests.service.servers import REGISTRY, caller, eventually, served


def asks_for_events(url):
    """A connection on which events come that nobody reads."""
    place = urlsplit(url)
    connection = socket.create_connection((place.hostname, place.port))
    head = "GET /shortlists/flats/events?after=0.0 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    connection.sendall(head.encode())
    return connection


def test_streams_commands_and_who_reads_nothing_end_with_it(tmp_path, capfd):
    deployment = Deployment(tmp_path, REGISTRY, shards=1, settings=ARRIVAL)
    long = b'{"shortlist": "flats", "n": "%s"}' % (b"x" * 100_000)
    deployment.log.append(DELIVERIES, [long] * 200, keys=["flats"] * 200)
    answers = []

    def command(url):
        with caller(url) as client:
            answers.append(client.patch("/subscriptions/cheap", json={"weight": 2}))

    with ExitStack() as stack:
        with served(deployment.log, unread=4096) as url:
            stack.enter_context(asks_for_events(url))
            client = stack.enter_context(httpx.Client(base_url=url, timeout=30))
            stream = stack.enter_context(client.stream("GET", "/shortlists/others/events"))
            lines = stream.iter_lines()
            assert next(lines).startswith("id: ")
            # nobody carries it out
            waiting = threading.Thread(target=command, args=(url,))
            waiting.start()
            eventually(lambda: deployment.log.end(INPUT), lambda end: end == 1)
        waiting.join()
        assert [line for line in lines if line.startswith("data")] == ['data: {"after": "0.0"}']
    (answer,) = answers
    assert (answer.status_code, answer.json()["detail"]) == (503, "the service stops: come again")
    assert capfd.readouterr().err == ""
