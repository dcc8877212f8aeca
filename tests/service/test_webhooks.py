"""Webhooks: signed, in order, again until they are taken, and never into somebody's network."""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from shortlist.client.keys import Holder, add_key
from shortlist.client.webhooks import known_webhooks, signature
from shortlist.service.notifying import ForbiddenTarget, check_target
from shortlist.service.state import Options
from tests.service.servers import caller, event, eventually, problem, publish, served

QUICK = Options(heartbeat=0.2, patience=60, private_webhooks=True, webhook_pauses=(0.05, 0.05))


class Receiver:
    """Somebody's server, which answers as it is told: with these statuses, then with 200."""

    def __init__(self, *statuses):
        self.requests = []
        answers = iter(statuses)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(handler):  # noqa: N805
                body = handler.rfile.read(int(handler.headers["content-length"]))
                self.requests.append((dict(handler.headers), body))
                handler.send_response(next(answers, 200))
                handler.send_header("location", "/elsewhere")
                handler.send_header("content-length", "0")
                handler.end_headers()

            def log_message(handler, *_):  # noqa: N805
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/flats"

    def __enter__(self):
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def publications(self):
        return [json.loads(body)["publication"] for _, body in self.requests]


@pytest.fixture
def quick(deployment):
    with served(deployment.log, QUICK) as url:
        yield url


def put(client, url, name="phone", shortlist="flats", status=201):
    answer = client.put(f"/webhooks/{name}", json={"shortlist": shortlist, "url": url})
    assert answer.status_code == status, answer.text
    return answer.json()


def test_deliveries_are_posted_signed_and_in_order(quick):
    with Receiver() as receiver, caller(quick) as client:
        publish(client, event("before", 700))
        eventually(lambda: client.get("/shortlists/flats/content").json()["shows"], bool)
        secret = put(client, receiver.url)["secret"]
        publish(client, event("f1", 1000), event("f2", 900), event("f3", 9000))
        eventually(lambda: receiver.publications, lambda found: len(found) == 2)
        assert receiver.publications == ["f1", "f2"]  # from now on, and what comes to it alone
        for headers, body in receiver.requests:
            names = ("webhook-id", "webhook-timestamp", "webhook-signature")
            id, timestamp, signed = (headers[name] for name in names)
            assert id == json.loads(body)["id"]
            assert signed == signature(secret, id, int(timestamp), body)
        assert "secret" not in put(client, receiver.url, status=200)  # it is so already
        assert "secret" not in client.get("/webhooks/phone").json()


def test_what_is_not_taken_is_sent_again(quick):
    with Receiver(500, 429) as receiver, caller(quick) as client:
        put(client, receiver.url)
        publish(client, event("f1", 1000), event("f2", 900))
        eventually(lambda: receiver.publications, lambda found: len(found) == 4)
        assert receiver.publications == ["f1", "f1", "f1", "f2"]
        assert len({headers["webhook-id"] for headers, _ in receiver.requests}) == 2


def test_what_fails_too_often_is_a_dead_letter_that_can_be_sent_again(quick):
    with Receiver(500, 302, 500) as receiver, caller(quick) as client:
        put(client, receiver.url)
        publish(client, event("f1", 1000), event("f2", 900))
        eventually(lambda: receiver.publications, lambda found: found[3:] == ["f2"])
        (letter,) = eventually(
            lambda: client.get("/webhooks/phone/dead-letters").json()["items"], bool
        )
        assert letter["delivery"]["publication"] == "f1"
        assert (letter["reason"], letter["attempts"]) == ("it answered 500", 3)
        path, numbers = "/webhooks/phone/dead-letters/replay", {"numbers": [letter["number"]]}
        (done,) = client.post(path, json=numbers).json()["items"]
        assert (done["taken"], receiver.publications[-1]) == (True, "f1")
        assert receiver.requests[-1][0]["webhook-id"] == receiver.requests[0][0]["webhook-id"]


def test_who_says_gone_gets_no_more(quick, deployment):
    with Receiver(410) as receiver, caller(quick) as client:
        put(client, receiver.url)
        publish(client, event("f1", 1000))
        eventually(lambda: client.get("/webhooks/phone").json().get("disabled"), bool)
        publish(client, event("f2", 900))
        again = put(client, receiver.url)  # it is made anew, and begins now
        assert again["secret"]
        publish(client, event("f3", 800))
        eventually(lambda: receiver.publications, lambda found: found[-1] == "f3")


def test_a_service_that_comes_again_goes_on(deployment):
    with Receiver() as receiver:
        with served(deployment.log, QUICK) as url, caller(url) as client:
            put(client, receiver.url)
            publish(client, event("f1", 1000))
            eventually(lambda: receiver.publications, lambda found: found == ["f1"])
        with served(deployment.log, Options(private_webhooks=True)) as url, caller(url) as client:
            publish(client, event("f2", 900))
            eventually(lambda: receiver.publications, lambda found: len(found) > 1)
            assert receiver.publications == ["f1", "f2"]
            client.delete("/webhooks/phone")
            assert known_webhooks(deployment.log) == {}
            problem(client.get("/webhooks/phone"), 404)


def test_others_learn_nothing_of_a_webhook(deployment):
    you = add_key(deployment.log, Holder("you", "subscriber", "you"))
    other = add_key(deployment.log, Holder("other", "subscriber", "somebody"))
    with Receiver() as receiver, served(deployment.log, QUICK) as url:
        with caller(url, you) as client:
            problem(
                client.put("/webhooks/x", json={"shortlist": "others", "url": "https://a"}), 404
            )
            put(client, receiver.url)
        with caller(url, other) as client:
            assert client.get("/webhooks").json() == {"items": []}
            for path in ("/webhooks/phone", "/webhooks/phone/dead-letters"):
                problem(client.get(path), 404)
            problem(client.delete("/webhooks/phone"), 404)
            taken = {"shortlist": "others", "url": receiver.url}
            problem(client.put("/webhooks/phone", json=taken), 409)


@pytest.mark.parametrize(
    "target",
    [
        "http://93.184.216.34/",
        "ftp://93.184.216.34/",
        "https://",
        "https://user:secret@93.184.216.34/",
        "https://93.184.216.34:99999/",
        "https://127.0.0.1/",
        "https://localhost/",
        "https://10.0.0.1/",
        "https://192.168.1.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[fd00::1]/",
        "https://0.0.0.0/",
        "https://224.0.0.1/",
        "https://0x7f000001/",
        "https://93.184.216.34/" + "a" * 2_000,
    ],
)
def test_nothing_is_sent_into_a_network(target, deployment):
    with pytest.raises(ForbiddenTarget, match="url: expected"):
        asyncio.run(check_target(target))


def test_a_public_address_may_be_sent_to():
    asyncio.run(check_target("https://93.184.216.34/hook"))


def test_a_target_is_checked_when_it_is_registered(url):
    with caller(url) as client:
        bad = {"shortlist": "flats", "url": "https://127.0.0.1/"}
        assert "public addresses" in problem(client.put("/webhooks/x", json=bad), 422)["detail"]


def test_a_target_is_checked_again_when_it_is_sent_to(deployment):
    """A name may lead elsewhere by then: here, what was allowed is not any more."""
    with Receiver() as receiver:
        with served(deployment.log, QUICK) as url, caller(url) as client:
            put(client, receiver.url)
        strict = Options(private_webhooks=False, webhook_pauses=(0.05,))
        with served(deployment.log, strict) as url, caller(url) as client:
            publish(client, event("f1", 1000))
            (letter,) = eventually(
                lambda: client.get("/webhooks/phone/dead-letters").json()["items"], bool
            )
        assert "public addresses" in letter["reason"]
        assert receiver.requests == []
