"""Webhooks: signed, in order, again until they are taken, and never into somebody's network."""

import asyncio
import json
import socket
import threading
from dataclasses import replace

import pytest

from shortlist.client.keys import Holder, add_key
from shortlist.client.openings import FIRST, Opening, Openings
from shortlist.client.webhooks import (
    CLOSED,
    FORBIDDEN,
    REGISTER,
    TakenWebhook,
    Webhook,
    forbid_key,
    known_webhooks,
    put_webhook,
    signature,
)
from shortlist.log.base import DELIVERIES
from shortlist.log.consumer import Consumer
from shortlist.log.sqlite import SqliteLog
from shortlist.service import notifying
from shortlist.service.notifying import (
    MAX_ANSWER_BYTES,
    CheckedNetwork,
    ForbiddenTarget,
    Notifier,
    SendingTurns,
    check_target,
    is_public,
    post,
)
from shortlist.service.state import Options
from tests.service.receivers import Endless, Receiver, dripping, many
from tests.service.servers import caller, event, eventually, problem, publish, served

QUICK = Options(heartbeat=0.2, patience=60, private_webhooks=True, webhook_pauses=(0.05, 0.05))


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


SLOW = replace(QUICK, webhook_seconds=0.4, webhook_pauses=(0.05,))


def test_receivers_that_drip_delay_only_themselves(deployment, monkeypatch):
    """More of them than there are turns: the others get everything, and nobody is given up for
    what was never tried."""
    monkeypatch.setattr(notifying, "MAX_OTHERS", 3)
    with (
        many(dripping() for _ in range(12)) as slow,
        many(Receiver() for _ in range(3)) as prompt,
        served(deployment.log, SLOW) as url,
        caller(url) as client,
    ):
        for number, receiver in enumerate([*slow, *prompt]):
            put(client, receiver.url, name=f"hook{number}", shortlist="others")
        publish(client, *(event(f"f{number}", 1) for number in range(4)))
        names = ["f0", "f1", "f2", "f3"]
        for receiver in prompt:
            eventually(lambda: receiver.publications, lambda found: len(found) >= 4)  # noqa: B023
            assert receiver.publications == names
        # each of the slow ones has its turn, and ends up with the reason
        (letter, *_) = eventually(
            lambda: client.get("/webhooks/hook11/dead-letters").json()["items"], bool
        )
        assert (letter["reason"], letter["attempts"]) == ("it took longer than 0.4 s", 2)
        eventually(lambda: [each.connections for each in slow], all)
        # once they are known to answer, the prompt ones wait for none of them
        publish(client, *(event(f"g{number}", 1) for number in range(20)))
        for receiver in prompt:
            eventually(lambda: receiver.publications, lambda found: len(found) == 24)  # noqa: B023


def test_a_name_server_that_does_not_answer_keeps_nobody_waiting(deployment, monkeypatch):
    answers, look_up = threading.Event(), socket.getaddrinfo

    def slow(host, *arguments, **more):
        if str(host).endswith(".test"):
            answers.wait(60)
            raise socket.gaierror(host)
        return look_up(host, *arguments, **more)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    with Receiver() as receiver, served(deployment.log, SLOW) as url, caller(url) as client:
        try:
            for number in range(20):
                target = f"http://ns{number}.test/"
                put_webhook(deployment.log, f"slow{number}", "others", target, FIRST, None)
            put(client, receiver.url, shortlist="others")
            publish(client, event("f1", 1), event("f2", 2))
            eventually(lambda: receiver.publications, lambda found: found == ["f1", "f2"])
            letters = "/webhooks/slow19/dead-letters"
            (letter, *_) = eventually(lambda: client.get(letters).json()["items"], bool)
            assert letter["reason"] == "it took longer than 0.4 s"
        finally:
            answers.set()


def test_of_webhooks_that_have_ended_the_last_ones_are_listed(deployment, monkeypatch):
    monkeypatch.setattr("shortlist.client.webhooks.MAX_ENDED", 2)
    log = deployment.log
    for number in range(5):
        key = Holder("phone" if number < 4 else "other", "subscriber", "you")
        put_webhook(log, f"hook{number}", "flats", "https://a.example/", FIRST, key)
    add_key(log, Holder("phone", "subscriber", "you"))
    assert forbid_key(log, "phone") == ["hook0", "hook1", "hook2", "hook3"]
    known = known_webhooks(log)
    assert {name: webhook.disabled for name, webhook in known.items()} == {
        "hook2": FORBIDDEN,
        "hook3": FORBIDDEN,
        "hook4": None,
    }


def test_of_two_who_take_a_name_at_the_same_time_one_has_it(deployment):
    log, url = deployment.log, "https://a.example/"
    first = put_webhook(log, "hook", "flats", url, FIRST, Holder("a", "subscriber", "you"))
    with pytest.raises(TakenWebhook, match="'hook' in use"):
        put_webhook(log, "hook", "others", url, FIRST, Holder("b", "subscriber", "somebody"))
    second = put_webhook(log, "hook", "flats", url, FIRST, None, first)
    with pytest.raises(TakenWebhook):
        put_webhook(log, "hook", "flats", url, FIRST, None, first)
    assert known_webhooks(log) == {"hook": second}


async def attempt(url, seconds=20):
    webhook = Webhook("hook", "flats", url, "whsec_c2VjcmV0")
    return await post(CheckedNetwork(private=True), webhook, "id", b"{}", seconds)


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (b"HTTP/1.1 200 OK\r\nx-long: ", b"x" * 4096),
        (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100),
        (b"", b"x" * 4096),
    ],
)
def test_an_answer_is_read_up_to_a_bound(start, more):
    with Endless(start, more, 0) as receiver:
        made = asyncio.run(attempt(receiver.url))
    assert made.status is None
    # that of the protocol for one line may be reached before
    assert "65,536 bytes" in made.reason or "ProtocolError" in made.reason
    assert MAX_ANSWER_BYTES == 65_536


def test_a_body_that_does_not_end_is_not_waited_for():
    with Endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x", 0.01) as receiver:
        assert asyncio.run(attempt(receiver.url)).is_taken


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\nx-drip: "])
def test_the_deadline_is_for_the_whole_attempt(start):
    with Endless(start, b"x" if start else b"", 0.01) as receiver:
        made = asyncio.run(attempt(receiver.url, 0.3))
    assert (made.status, made.reason) == (None, "it took longer than 0.3 s")


def test_turns_are_bounded_by_origin_and_prompt_receivers_have_their_own(monkeypatch):
    monkeypatch.setattr(notifying, "MAX_OTHERS", 4)
    monkeypatch.setattr(notifying, "MAX_TO_ORIGIN", 2)

    async def most_at_once():
        turns, present, most = SendingTurns(), 0, {}
        goes_on = asyncio.Event()

        async def take(group, number, origin):
            nonlocal present
            hook = Webhook(f"{group}{number}", "flats", f"https://{origin}/{number}", "")
            if group == "prompt":
                turns.took(hook, promptly=True)
            async with turns.turn(hook):
                most[group] = most.get(group, 0) + 1
                await goes_on.wait()

        tasks = [
            *(asyncio.create_task(take("same", n, "a.example")) for n in range(5)),
            *(asyncio.create_task(take("other", n, f"b{n}.example")) for n in range(5)),
            *(asyncio.create_task(take("prompt", n, f"c{n}.example")) for n in range(5)),
        ]
        for _ in range(10):
            await asyncio.sleep(0)
        begun = dict(most)
        goes_on.set()
        await asyncio.gather(*tasks)
        return begun, most, turns

    begun, most, turns = asyncio.run(most_at_once())
    assert begun == {"same": 2, "other": 2, "prompt": 5}
    assert most == {"same": 5, "other": 5, "prompt": 5}
    assert turns._origins == {}


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("8.8.8.8", True),
        ("2a00:1450::1", True),
        ("64:ff9b::808:808", True),
        ("2002:808:808::1", True),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b::a00:1", False),
        ("64:ff9b::a9fe:a9fe", False),
        ("64:ff9b:1::808:808", False),
        ("2002:7f00:1::", False),
        ("2002:c0a8:101::1", False),
        ("2001:0:53aa:64c::1", False),
        ("::7f00:1", False),
        ("::ffff:0:a00:1", False),
        ("::ffff:10.0.0.1", False),
        ("2a00::5efe:a00:1", False),
        ("2a00::200:5efe:a00:1", False),
        ("2a00::200:5efe:808:808", True),
        ("fec0::1", False),
        ("fe80::1%eth0", False),
    ],
)
def test_an_address_is_public_with_all_that_it_embeds(address, expected):
    assert is_public(address) is expected


@pytest.mark.parametrize("host", ["[64:ff9b::a00:1]", "[2002:a00:1::]", "[::7f00:1]"])
def test_nothing_is_sent_by_way_of_a_translator(host):
    with pytest.raises(ForbiddenTarget, match="public addresses"):
        asyncio.run(check_target(f"https://{host}/"))


@pytest.mark.parametrize("target", ["https://host/\u00e9", "https://[::1", "https://ho\nst/"])
def test_a_url_that_cannot_be_sent_to_is_a_failed_attempt(target):
    with pytest.raises(ForbiddenTarget, match="url: expected https://"):
        asyncio.run(check_target(target))
    # as a register may have it from before
    assert not asyncio.run(attempt(target)).is_taken


@pytest.fixture
def log(tmp_path):
    log = SqliteLog(f"{tmp_path}/city.log")
    yield log
    log.close()


def test_a_webhook_begins_at_its_place_without_a_register(log):
    """One that did not get its name once left a register behind."""
    log.append(DELIVERIES, [b"{}"] * 3, keys=["flats"] * 3)
    made = put_webhook(log, "hook", "flats", "https://a.example/", FIRST, None)
    assert (made.after, made.consumer(log).position) == (3, 3)
    assert log.register(f"consumer/webhook/{made.serial}") is None
    log.append(DELIVERIES, [b"{}"] * 2, keys=["flats", "others"])
    assert [each.offset for each in made.consumer(log).entries()] == [4]
    made.consumer(log).seen(4)
    assert made.consumer(log).position == 4


def notifier(log):
    openings = Openings(log)
    return Notifier(log, openings), openings


def test_webhooks_that_have_ended_are_disabled_in_one_change(log):
    url, other = "https://a.example/", Holder("gone", "subscriber", "you")
    for number in range(5):
        put_webhook(log, f"closed{number}", "flats", url, Opening(7, None, FIRST.after), None)
        put_webhook(log, f"forbidden{number}", "flats", url, FIRST, other)
    going = put_webhook(log, "going", "flats", url, FIRST, None)
    before = log.register(REGISTER).revision
    sending, _ = notifier(log)
    assert sending._wanted() == [going]
    assert log.register(REGISTER).revision == before + 1
    reasons = [webhook.disabled for webhook in known_webhooks(log).values()]
    assert reasons == [CLOSED, FORBIDDEN] * 5 + [None]


def test_an_idle_webhook_does_not_ask_for_its_opening(log, monkeypatch):
    monkeypatch.setattr(notifying, "POLL_SECONDS", 0.001)
    webhook = put_webhook(log, "hook", "flats", "https://a.example/", FIRST, None)
    sending, openings = notifier(log)
    asked, looked = [], []
    monkeypatch.setattr(openings, "last", lambda name: asked.append(name) or FIRST)
    entries = Consumer.entries
    monkeypatch.setattr(Consumer, "entries", lambda self: looked.append(1) or entries(self))

    async def story():
        task = asyncio.create_task(sending._send_all(webhook))
        while len(looked) < 5:
            await asyncio.sleep(0.001)
        task.cancel()

    asyncio.run(story())
    assert asked == []


def test_a_sender_that_failed_is_told_in_the_log_of_the_service(log, monkeypatch, caplog):
    put_webhook(log, "hook", "flats", "https://a.example/", FIRST, None)
    sending, _ = notifier(log)

    async def failing(self, webhook):
        raise TypeError("no such thing")

    monkeypatch.setattr(Notifier, "_send_all", failing)

    async def story():
        await sending._look()
        await asyncio.sleep(0)
        await sending._look()
        await asyncio.sleep(0)

    asyncio.run(story())
    assert "webhook hook: its sender failed" in caplog.text
    assert "no such thing" in caplog.text
