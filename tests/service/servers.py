"""A service in this process, beside a deployment that reads by itself."""

import json
import socket
import threading
import time
from contextlib import contextmanager

import httpx
import pytest

from shortlist.log.json_register import change_json
from shortlist.service.serving import bound_socket, make_server
from shortlist.service.state import Options
from shortlist.sites.identity import STATUS, join
from shortlist.sites.metrics import COUNTED, MEASURED
from tests.cli.programs import ARRIVAL, Deployment

REGISTRY = {
    "vocabulary": {
        "rent": {"type": "number", "terms": {"cheap": {"trapezoid": [None, None, 1200, 1500]}}}
    },
    "shortlists": [
        {"id": "flats", "subscriber": "you", "policy": {"kind": "top-k", "k": 3}},
        {"id": "others", "subscriber": "somebody", "policy": {"kind": "top-k", "k": 3}},
    ],
    "subscriptions": [
        {"id": "cheap", "shortlist": "flats", "where": "rent is cheap"},
        {"id": "any", "shortlist": "others"},
    ],
}
SINGLE = {"content-type": "application/cloudevents+json"}
BATCH = {"content-type": "application/cloudevents-batch+json"}


@contextmanager
def served(log, options=None, port=0, unread=None):
    """The URL of a service, on loopback; the machine keeps so many bytes for who does not read."""
    server = make_server(log, options or Options(heartbeat=0.2, patience=20))
    with bound_socket("127.0.0.1", port) as listening:
        if unread is not None:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, unread)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            deadline = time.monotonic() + 20
            while not server.started:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(20)


@pytest.fixture
def deployment(tmp_path):
    deployment = Deployment(tmp_path, REGISTRY, shards=1, settings=ARRIVAL)
    with deployment.running():
        yield deployment


@pytest.fixture
def url(deployment):
    with served(deployment.log) as url:
        yield url


@contextmanager
def caller(url, key=None):
    headers = {} if key is None else {"authorization": f"Bearer {key}"}
    with httpx.Client(base_url=url, headers=headers, timeout=30) as client:
        yield client


@pytest.fixture
def client(url):
    with caller(url) as client:
        yield client


def event(name, rent, **more):
    return {
        "specversion": "1.0",
        "id": name,
        "source": "ads",
        "type": "flat",
        "data": {"rent": rent},
        **more,
    }


def publish(client, *events):
    answer = client.post("/events", content=json.dumps(events), headers=BATCH)
    assert answer.status_code == 202, answer.text
    return answer.json()


def problem(answer, status):
    """The problem details of a refusal."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.json()
    assert found["status"] == status
    return found


def eventually(ask, is_right, seconds=120):
    """What is answered once it is as it should be."""
    deadline = time.monotonic() + seconds
    while not is_right(found := ask()):
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    return found


def join_sites(log):
    """The deployment on a log is a site of a network, as a process for it would say."""
    join(log, "oslo", ["bergen", "hamar"])
    moment = time.time_ns() // 1000
    link = dict.fromkeys([*COUNTED, *MEASURED], 0) | {"error": None, "heard": moment, "sites": []}
    links = {
        "bergen": link | {"sites": ["bergen", "tromso", "bodo"], "sent": 1234, "received": 87},
        "hamar": link
        | {
            "sites": ["hamar"],
            "waiting": 40,
            "withheld": 7,
            "error": "the server nats://hamar.example:4222 cannot be reached",
            "heard": moment - 95_000_000,
        },
    }
    change_json(log, STATUS, lambda known: {"told": moment, "links": links})


def events_of(stream, count):
    """The next events of a stream: id, kind, data."""
    found = []
    block = {}
    for line in stream:
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(": ")
            block[name] = value
            continue
        if block:
            found.append((block["id"], block["event"], json.loads(block["data"])))
            block = {}
            if len(found) == count:
                return found
    return found
