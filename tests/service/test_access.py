"""Who may do what, and what hostile callers are told."""

import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from shortlist.client.keys import Holder, add_key, known_keys, remove_key
from shortlist.log.base import INPUT
from shortlist.service.serving import NoKeys, check_keys
from shortlist.service.state import Options
from tests.service.servers import (
    SINGLE,
    caller,
    event,
    events_of,
    eventually,
    problem,
    publish,
    served,
)

HOLDERS = {
    "operator": Holder("op", "operator"),
    "publisher": Holder("pub", "publisher"),
    "ads": Holder("ads' own", "publisher", "ads"),
    "you": Holder("your phone", "subscriber", "you"),
}


@pytest.fixture
def keys(deployment):
    return {name: add_key(deployment.log, holder) for name, holder in HOLDERS.items()}


@pytest.fixture
def closed(deployment, keys):
    """A service that asks for keys."""
    with served(deployment.log) as url:
        yield url


@contextmanager
def as_(url, keys, name):
    with caller(url, keys[name]) as client:
        yield client


def test_keys_are_kept_as_hashes(deployment, keys):
    stored = deployment.log.register("service/keys").content.decode()
    assert not any(key in stored for key in keys.values())
    assert {*known_keys(deployment.log).values()} == {*HOLDERS.values()}


def test_on_other_addresses_keys_are_needed(deployment):
    with pytest.raises(NoKeys, match=r"0.0.0.0: expected keys, found none"):
        check_keys(deployment.log, "0.0.0.0")
    assert not check_keys(deployment.log, "127.0.0.1")
    add_key(deployment.log, HOLDERS["operator"])
    assert check_keys(deployment.log, "0.0.0.0")


@pytest.mark.parametrize("header", [None, "Bearer", "Bearer wrong", "Basic eDp5"])
def test_without_a_key_there_is_nothing(closed, header):
    headers = {} if header is None else {"authorization": header}
    with caller(closed) as client:
        for method, path in [("GET", "/shortlists"), ("POST", "/events"), ("GET", "/metrics")]:
            answer = client.request(method, path, headers=headers)
            problem(answer, 401)
            assert answer.headers["www-authenticate"] == "Bearer"
        assert client.get("/healthz").status_code == 200
        assert client.get("/").status_code == 200


def test_a_publisher_publishes_and_no_more(closed, keys):
    with as_(closed, keys, "publisher") as client:
        publish(client, event("f1", 900))
        for path in ("/shortlists", "/shortlists/flats/content", "/status", "/rejects", "/metrics"):
            problem(client.get(path), 403)
        problem(client.put("/shortlists/s", json={"subscriber": "you"}), 403)


def test_a_publisher_with_a_name_publishes_under_it(closed, keys):
    with as_(closed, keys, "ads") as client:
        publish(client, event("f1", 900))
        other = json.dumps(event("f2", 900, source="news"))
        problem(client.post("/events", content=other, headers=SINGLE), 403)
        problem(client.delete("/events", params={"source": "news", "id": "f2"}), 403)
        problem(client.put("/advertisements/a", json={"source": "news", "k": 1}), 403)
        assert client.put("/advertisements/a", json={"source": "ads", "k": 9}).status_code == 201


def test_a_subscriber_sees_and_changes_only_its_own(closed, keys):
    with as_(closed, keys, "operator") as operator:
        assert len(operator.get("/shortlists").json()["items"]) == 2
        own = {"subscriber": "somebody", "where": "rent < 1"}
        assert operator.put("/subscriptions/theirs", json=own).status_code == 201
    with as_(closed, keys, "you") as client:
        assert [each["id"] for each in client.get("/shortlists").json()["items"]] == ["flats"]
        assert [each["id"] for each in client.get("/subscriptions").json()["items"]] == ["cheap"]
        for path in (
            "",
            "/content",
            "/deliveries",
            "/events",
            "/held-back",
            "/explanations?publication=f",
        ):
            found = problem(client.get(f"/shortlists/others{path}"), 404)
            assert found["detail"] == "there is no live shortlist 'others'"
        problem(client.delete("/shortlists/others"), 404)
        problem(client.patch("/subscriptions/any", json={"weight": 9}), 404)
        problem(client.put("/subscriptions/any", json={"where": "rent < 1"}), 409)
        problem(client.put("/shortlists/others", json={"subscriber": "you"}), 409)
        problem(client.put("/subscriptions/spy", json={"shortlist": "others"}), 403)
        problem(client.put("/shortlists/s", json={"subscriber": "somebody"}), 403)
        problem(client.patch("/shortlists/flats", json={"subscriber": "somebody"}), 403)
        problem(client.post("/try", json={"shortlist": "others"}), 404)
        explain = {"shortlist": "others", "publication": {}}
        problem(client.post("/explain", json=explain), 404)
        problem(client.post("/events", content="{}", headers=SINGLE), 422)
        problem(client.post("/events", content=json.dumps(event("f", 1)), headers=SINGLE), 403)
        problem(client.get("/advertisements"), 403)
        problem(client.patch("/vocabulary/rent", json={"terms": {"cheap": None}}), 403)
        # what it makes is its own
        assert client.put("/subscriptions/mine", json={"where": "rent < 1"}).status_code == 201
        assert client.get("/shortlists/mine").json()["subscriber"] == "you"
        assert client.get("/me").json()["owner"] == "you"


def test_a_key_that_is_removed_ends_its_streams_and_lets_nobody_else_in(deployment, closed, keys):
    with (
        as_(closed, keys, "you") as client,
        client.stream("GET", "/shortlists/flats/events") as stream,
    ):
        lines = stream.iter_lines()
        events_of(lines, 1)
        remove_key(deployment.log, "your phone")
        assert events_of(lines, 1) == []
        for holder in ("op", "pub", "ads' own"):
            remove_key(deployment.log, holder)
        eventually(lambda: client.get("/shortlists").status_code, lambda status: status == 401)


def test_on_loopback_without_keys_only_loopback_is_answered(client):
    assert client.get("/me").json()["is_open"]
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example"):
        problem(client.get("/shortlists", headers={"host": host}), 421)


def test_bodies_are_bounded(deployment, client):
    large = json.dumps(event("f1", "x" * 300_000))
    problem(client.post("/events", content=large, headers=SINGLE), 413)

    def parts():
        for _ in range(40):
            yield b" " * 10_000

    problem(client.post("/events", content=parts(), headers=SINGLE), 413)
    problem(client.put("/shortlists/s", json={"subscriber": "x" * 300_000}), 413)
    assert not any(b"f1" in entry.content for entry in deployment.log.read(INPUT, 0))


BOMBS = {
    "predicates": " or ".join(f"a{n} = {n}" for n in range(200)),
    "length": "rent = '" + "x" * 9000 + "'",
    "depth": "(" * 60 + "a = 1" + ")" * 60,
    "regex-like": "a contains '" + "(a+)+$" * 50 + "'" + " and a contains '(a*)*b'" * 200,
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_costly_subscriptions_are_refused(client, bomb):
    body = {"where": BOMBS[bomb]}
    for answer in (client.put("/subscriptions/s", json=body), client.post("/try", json=body)):
        assert "where" in problem(answer, 422)["problems"][0]["field"]


DIVERSE = {"kind": "diverse", "k": 3, "window": "1h", "over": {"a": 1}}
LARGE = {
    "a long chain": ({"policy": [{"kind": "cap", "most": 5, "per": "1h"}] * 17}, "policy"),
    "many of diverse": ({"policy": {**DIVERSE, "k": 65}}, "policy.k"),
    "diverse over many": (
        {"policy": {**DIVERSE, "over": {f"a{n}": 1 for n in range(9)}}},
        "policy.over",
    ),
    "a large window": ({"policy": {**DIVERSE, "window": 10_001}}, "policy.window"),
    "many attributes": (
        {"score": "min(" + ", ".join(f"a{n}" for n in range(129)) + ")"},
        "where, score and policy",
    ),
}


@pytest.mark.parametrize("large", LARGE)
def test_large_subscriptions_are_refused(client, large):
    body, field = LARGE[large]
    for answer in (client.put("/subscriptions/s", json=body), client.post("/try", json=body)):
        assert problem(answer, 422)["problems"][0]["field"] == field


def test_long_ids_and_lists_and_scores_of_advertisements_are_refused(client):
    for field in ("id", "source"):
        document = {**event("f1", 5), field: "x" * 513}
        answer = client.post("/events", content=json.dumps(document), headers=SINGLE)
        assert "expected at most 512 characters, found 513" in answer.json()["detail"]
    document = {**event("f1", 5), "data": {"a": [[]] * 4_097}}
    answer = client.post("/events", content=json.dumps(document), headers=SINGLE)
    assert "expected at most 4096 elements of lists" in answer.json()["detail"]
    problem(client.put("/subscriptions/" + "x" * 513, json={}), 422)
    body = {"source": "a", "k": 1, "score": "+".join(["1"] * 300)}
    found = problem(client.put("/advertisements/a", json=body), 422)
    assert found["problems"][0]["field"] == "score"


@pytest.mark.parametrize(
    "content",
    [
        '{"a":' * 5_000 + "1" + "}" * 5_000,
        "[" * 100_000,
        '{"id": "f", "source": "a", "data": ' + '{"a":' * 60 + "1" + "}" * 61,
        '{"id": "f", "source": "a", "data": {"n": ' + "9" * 5000 + "}}",
        json.dumps({"id": "f", "source": "a", "data": {f"a{number}": 1 for number in range(2000)}}),
        '{"id": "f", "source": "a", "data": {"n": "\\ud800"}}',
        "\x00",
    ],
)
def test_hostile_json_is_refused(client, content):
    answer = client.post("/events", content=content.encode(), headers=SINGLE)
    assert answer.status_code in (400, 422)
    assert answer.json()["detail"]


@pytest.mark.parametrize("path", ["/shortlists/%00", "/shortlists/" + "x" * 2000, "/nothing"])
def test_strange_paths_are_refused(client, path):
    assert client.get(path).status_code in (404, 422)
    assert client.get(path).headers["content-type"] == "application/problem+json"


def test_nobody_reads_files_beside_the_page(client):
    assert client.get("/page/page.js").status_code == 200
    for path in ("/page/../app.py", "/page/%2e%2e/app.py", "/page/..%2fapp.py", "/page/"):
        assert client.get(path).status_code == 404


def test_callers_are_slowed_one_by_one(deployment, keys):
    options = Options(per_second=5, heartbeat=0.2)
    with served(deployment.log, options) as url:
        with as_(url, keys, "you") as client:
            answers = [client.get("/me") for _ in range(30)]
            assert {answer.status_code for answer in answers} == {200, 429}
            slowed = next(answer for answer in answers if answer.status_code == 429)
            assert int(slowed.headers["retry-after"]) >= 1
        with as_(url, keys, "operator") as other:
            assert other.get("/me").status_code == 200


def test_a_reader_that_does_not_read_slows_nobody(deployment, url):
    """It fills its own connection, and no more."""
    host, port = url.removeprefix("http://").split(":")
    slow = socket.create_connection((host, int(port)))
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    slow.sendall(b"GET /shortlists/others/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    try:
        with caller(url) as client:
            publish(client, *(event(f"f{n}", n, data={"rent": n}) for n in range(300)))
            answers = [client.get("/healthz").status_code for _ in range(20)]
            assert {*answers} == {200}
            eventually(lambda: client.get("/shortlists/flats/content").json()["shows"], bool)
    finally:
        slow.close()


def test_who_asks_for_many_previews_waits_for_its_own(deployment, closed, keys, monkeypatch):
    """One is computed at a time; what else is asked for is answered meanwhile."""
    goes_on = threading.Event()

    def slow(*_, **__):
        assert goes_on.wait(60)
        return {}

    monkeypatch.setattr("shortlist.service.receiving.tried", slow)

    def preview():
        with as_(closed, keys, "you") as client:
            return client.post("/try", json={})

    with ThreadPoolExecutor(12) as threads:
        asked = [threads.submit(preview) for _ in range(12)]
        eventually(lambda: sum(each.done() for each in asked), lambda done: done == 4)
        with as_(closed, keys, "you") as client:
            assert client.get("/shortlists/flats").status_code == 200
        goes_on.set()
        answers = [each.result() for each in asked]
    assert sorted(answer.status_code for answer in answers) == [200] * 8 + [429] * 4
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert "previews and explanations" in problem(refused, 429)["detail"]


def test_a_ticket_lets_in_to_streams_alone_and_for_a_minute(deployment, monkeypatch):
    you = add_key(deployment.log, Holder("you", "subscriber", "you"))
    with served(deployment.log) as url:
        with caller(url, you) as client:
            ticket = client.post("/tickets").json()["ticket"]
        with caller(url) as client:
            events = f"/shortlists/flats/events?ticket={ticket}"
            with client.stream("GET", events) as stream:
                assert next(stream.iter_lines()).startswith("id: ")
            problem(client.get(f"/shortlists/others/events?ticket={ticket}"), 404)
            problem(client.get(f"/shortlists/flats/content?ticket={ticket}"), 401)
            problem(client.post(f"/tickets?ticket={ticket}"), 401)
            for wrong in (ticket[:-2], f"{ticket}x", "", "a.b", ticket.replace(".", "")):
                problem(client.get(f"/shortlists/flats/events?ticket={wrong}"), 401)
            monkeypatch.setattr("shortlist.service.access.TICKET_SECONDS", -1)
            with caller(url, you) as own:
                over = own.post("/tickets").json()["ticket"]
            problem(client.get(f"/shortlists/flats/events?ticket={over}"), 401)
