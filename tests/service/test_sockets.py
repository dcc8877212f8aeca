"""WebSockets: the same events as streams, the same places, and an end that says why."""

import json
import socket
from contextlib import contextmanager
from urllib.parse import urlencode

import pytest
import websocket

from shortlist.client.keys import Holder, add_key, remove_key
from shortlist.service.state import Options
from tests.service.servers import caller, event, events_of, eventually, problem, publish, served


@contextmanager
def listening(url, shortlist="flats", *, key=None, headers=(), options=(), **params):
    address = f"{url.replace('http', 'ws', 1)}/shortlists/{shortlist}/socket?{urlencode(params)}"
    sent = [*headers, *([] if key is None else [f"Authorization: Bearer {key}"])]
    found = websocket.create_connection(
        address, header=sent, timeout=60, suppress_origin=True, sockopt=options
    )
    try:
        yield found
    finally:
        found.close()


def messages_of(listener, count):
    """The next events, without the signs of life: id, kind, data."""
    found = []
    while len(found) < count:
        message = json.loads(listener.recv())
        if message["event"] != "silence":
            found.append((message["id"], message["event"], message["data"]))
    return found


def closed_with(listener):
    """The code and the reason that it ends with."""
    while True:
        opcode, content = listener.recv_data()
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            return int.from_bytes(content[:2], "big"), content[2:].decode()


def refused(status, url, *arguments, **more):
    with (
        pytest.raises(websocket.WebSocketBadStatusException) as error,
        listening(url, *arguments, **more),
    ):
        pass
    assert error.value.status_code == status
    return json.loads(error.value.resp_body)["detail"]


def test_it_says_what_a_stream_says_and_goes_on_behind_every_place(url, client):
    with listening(url) as listener:
        ((start, kind, told),) = messages_of(listener, 1)
        assert (kind, told) == ("ready", {"after": start})
        publish(client, event("f1", 1350), event("f2", 900), event("f3", 800))
        heard = messages_of(listener, 3)
    path, behind = "/shortlists/flats/events", {"last-event-id": start}
    with client.stream("GET", path, headers=behind) as stream:
        assert events_of(stream.iter_lines(), 4)[1:] == heard
    for number, (place, _, _) in enumerate(heard):
        for more in ({"after": place}, {"headers": [f"Last-Event-ID: {place}"]}):
            with listening(url, **more) as listener:
                assert messages_of(listener, 3 - number)[1:] == heard[number + 1 :]


def test_silence_has_a_sign_of_life(url):
    with listening(url) as listener:
        kinds = [json.loads(listener.recv())["event"] for _ in range(3)]
    assert kinds == ["ready", "silence", "silence"]


def test_who_may_not_listen_is_told_so(deployment, url):
    assert "expected a place" in refused(400, url, after="soon")
    assert "is it of another log?" in refused(409, url, after="99.0")
    assert refused(404, url, "nobody") == "there is no live shortlist 'nobody'"
    elsewhere = ["Origin: http://evil.example"]
    assert "expected a page of this service" in refused(403, url, headers=elsewhere)
    with listening(url, headers=[f"Origin: {url}"]) as listener:
        assert messages_of(listener, 1)
    key = add_key(deployment.log, Holder("your phone", "subscriber", "you"))
    with served(deployment.log) as url:
        assert "expected a key" in refused(401, url)
        refused(404, url, "others", key=key)
        with caller(url, key) as client:
            ticket = client.post("/tickets").json()["ticket"]
            socket = f"/shortlists/flats/socket?ticket={ticket}"
        with caller(url) as client:
            problem(client.get(socket), 401)  # it is for WebSockets alone
        assert "expected a ticket" in refused(401, url, ticket=f"{ticket}x")
        with listening(url, ticket=ticket) as listener:
            assert messages_of(listener, 1)


def test_its_end_says_why(deployment):
    key = add_key(deployment.log, Holder("your phone", "subscriber", "you"))
    add_key(deployment.log, Holder("op", "operator"))
    with served(deployment.log) as url, listening(url, key=key) as listener:
        remove_key(deployment.log, "your phone")
        assert closed_with(listener) == (4401, "the key is not known any more")
    key = add_key(deployment.log, Holder("your phone", "subscriber", "you"))
    with served(deployment.log) as url:
        with listening(url, key=key) as listener:
            listener.send("hello")
            assert closed_with(listener)[0] == 1003
        with listening(url, key=key) as listener:
            listener.send("x" * 5000)
            assert closed_with(listener)[0] == 1009
        opened = listening(url, key=key)
        listener = opened.__enter__()
    assert closed_with(listener)[0] == 1012
    listener.close()


def test_who_reads_nothing_is_cut_off_behind_what_was_sent(deployment, monkeypatch):
    monkeypatch.setattr("shortlist.service.sockets.SLOW_SECONDS", 0.5)
    small = [(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)]
    with served(deployment.log, unread=4096) as url, caller(url) as client:
        long = "s" * 500
        publish(client, *(event(f"{number:0500}", 1, source=long) for number in range(200)))
        with (
            listening(url, "others", after="0.0", options=small) as slow,
            listening(url, "others", after="0.0") as quick,
        ):
            assert len(messages_of(quick, 201)) == 201
            streams = "shortlist_service_streams 1.0"
            eventually(lambda: client.get("/metrics").text, lambda text: streams in text)
            code, reason = closed_with(slow)
    assert (code, reason.startswith("expected a reader that takes something")) == (4408, True)


def test_they_count_as_streams(deployment):
    options = Options(heartbeat=0.2, most_streams=1)
    with served(deployment.log, options) as url, caller(url) as client:
        with listening(url) as listener:
            messages_of(listener, 1)
            problem(client.get("/shortlists/flats/events"), 503)
            refused(503, url)
        eventually(lambda: client.get("/metrics").text, lambda text: "streams 0.0" in text)


def test_each_key_has_a_share_of_both_kinds_and_takes_nobody_elses(deployment):
    keys = [add_key(deployment.log, Holder(name, "subscriber", "you")) for name in ("one", "two")]
    options = Options(heartbeat=0.2, most_streams=4, most_streams_of_key=2)
    path = "/shortlists/flats/events"
    with (
        served(deployment.log, options) as url,
        caller(url, keys[0]) as one,
        caller(url, keys[1]) as two,
    ):
        with listening(url, key=keys[0]) as listener, one.stream("GET", path) as stream:
            messages_of(listener, 1)
            lines = stream.iter_lines()
            events_of(lines, 1)
            for _ in range(3):
                found = problem(one.get(path), 429)
                assert found["detail"] == "expected at most 2 streams of one key, found more"
                assert "2 streams of one key" in refused(429, url, key=keys[0])
            assert one.get("/shortlists/flats").status_code == 200
            with listening(url, key=keys[1]) as other, two.stream("GET", path) as another:
                assert messages_of(other, 1)
                others = another.iter_lines()  # the stream ends with this
                assert events_of(others, 1)
                problem(two.get(path), 429)

        # what ends gives its place back
        def opened():
            with one.stream("GET", path) as stream:
                return stream.status_code

        eventually(opened, lambda status: status == 200)
