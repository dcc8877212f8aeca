"""A name that is free again: nothing of its former owner's stays with it, in either direction."""

import asyncio
import json
from collections import Counter

import pytest

from shortlist.client.keys import Holder, add_key, remove_key
from shortlist.client.openings import Openings
from shortlist.client.webhooks import CLOSED, FORBIDDEN, known_webhooks
from shortlist.log.base import DELIVERIES, HANDOVERS, INPUT
from shortlist.log.sqlite import SqliteLog
from shortlist.service.notifying import Notifier
from shortlist.service.state import Options
from tests.cli.programs import shortlist
from tests.service.receivers import Receiver
from tests.service.servers import caller, event, events_of, eventually, problem, publish, served
from tests.service.test_sockets import closed_with, listening, messages_of

QUICK = Options(heartbeat=60, patience=60, private_webhooks=True, webhook_pauses=(0.05,))
ALL = {"where": "rent > 0"}


@pytest.fixture
def keys(deployment):
    holders = {name: Holder(name, "subscriber", name) for name in ("ann", "bob")}
    holders["op"] = Holder("op", "operator")
    holders["ads"] = Holder("ads", "publisher")
    return {name: add_key(deployment.log, holder) for name, holder in holders.items()}


@pytest.fixture
def quick(deployment, keys):
    with served(deployment.log, QUICK) as url:
        yield url


def subscribe(client, name="bargains", status=201):
    answer = client.put(f"/subscriptions/{name}", json=ALL)
    assert answer.status_code == status, answer.text


def post_to(client, receiver, hook, name="bargains"):
    body = {"shortlist": name, "url": receiver.url}
    answer = client.put(f"/webhooks/{hook}", json=body)
    assert answer.status_code == 201, answer.text


def delivered(client, name="bargains"):
    items = client.get(f"/shortlists/{name}/deliveries").json()["items"]
    return [each["delivery"]["publication"] for each in items]


def ended(client, hook):
    """The reason for which a webhook has ended, once it has."""
    found = eventually(lambda: client.get(f"/webhooks/{hook}").json(), lambda it: "disabled" in it)
    return found["disabled"]


def test_the_next_owner_of_a_name_and_the_former_one_have_nothing_of_each_other(quick, keys):
    with (
        Receiver(500, 500) as anns,
        Receiver() as bobs,
        caller(quick, keys["ann"]) as ann,
        caller(quick, keys["bob"]) as bob,
        caller(quick, keys["ads"]) as ads,
        ann.stream("GET", "/shortlists/bargains/events") as early,
    ):
        early.read()
        problem(early, 404)  # there is none yet, and no trap for whoever comes
        trap = {"shortlist": "bargains", "url": anns.url}
        problem(ann.put("/webhooks/trap", json=trap), 404)
        subscribe(ann)
        post_to(ann, anns, "anns")
        with (
            ann.stream("GET", "/shortlists/bargains/events") as stream,
            listening(quick, "bargains", key=keys["ann"]) as socket,
        ):
            lines = stream.iter_lines()
            events_of(lines, 1)
            messages_of(socket, 1)
            publish(ads, event("a1", 700), event("a2", 800))
            assert [each[2]["publication"] for each in events_of(lines, 2)] == ["a1", "a2"]
            eventually(lambda: anns.publications, lambda found: found[2:] == ["a2"])
            (letter,) = ann.get("/webhooks/anns/dead-letters").json()["items"]
            assert delivered(ann) == ["a1", "a2"]

            assert ann.delete("/subscriptions/bargains").status_code == 200
            subscribe(bob)
            post_to(bob, bobs, "bobs")
            publish(ads, event("b1", 600))
            eventually(lambda: bobs.publications, lambda found: found == ["b1"])

            assert events_of(lines, 1) == []
            assert [each[2]["publication"] for each in messages_of(socket, 2)] == ["a1", "a2"]
            assert closed_with(socket) == (4404, "the shortlist was closed")
        # ann's are hers alone, and have ended
        assert ended(ann, "anns") == CLOSED
        assert anns.publications == ["a1", "a1", "a2"]
        assert [each["id"] for each in ann.get("/webhooks").json()["items"]] == ["anns"]
        again = {"numbers": [letter["number"]]}
        assert (
            CLOSED
            in problem(ann.post("/webhooks/anns/dead-letters/replay", json=again), 409)["detail"]
        )
        for path in ("content", "deliveries", "events", "held-back", "explanations?publication=b1"):
            problem(ann.get(f"/shortlists/bargains/{path}"), 404)
        # bob's are his, from his beginning on
        assert [each["id"] for each in bob.get("/webhooks").json()["items"]] == ["bobs"]
        assert anns.url not in bob.get("/webhooks").text
        for path in ("anns", "anns/dead-letters"):
            problem(bob.get(f"/webhooks/{path}"), 404)
        problem(bob.post("/webhooks/anns/dead-letters/replay", json=again), 404)
        problem(bob.delete("/webhooks/anns"), 404)
        assert delivered(bob) == ["b1"]
        with bob.stream(
            "GET", "/shortlists/bargains/events", headers={"last-event-id": "0.0"}
        ) as stream:
            assert events_of(stream.iter_lines(), 2)[1][2]["publication"] == "b1"
        shows = bob.get("/shortlists/bargains/content").json()["shows"]
        assert [each["publication"] for each in shows] in ([], ["b1"])
        explained = "/shortlists/bargains/explanations"
        for name in ("a1", "a2"):
            problem(bob.get(explained, params={"publication": name}), 404)
        (item, *_) = bob.get(explained, params={"publication": "b1"}).json()["items"]
        assert item["delivered"]
        assert bob.get("/shortlists/bargains/held-back").json()["items"] == []
        # what has ended can be put away, and the name taken once more
        assert ann.delete("/webhooks/anns").status_code == 200
        assert bob.delete("/subscriptions/bargains").status_code == 200
        subscribe(ann)
        assert delivered(ann) == []


def commands(*documents):
    return [json.dumps(each).encode() for each in documents]


def test_a_name_changes_hands_in_one_batch_between_deliveries(keys, deployment, monkeypatch):
    # a stream ends by what comes, too, before anything looks whether it has to
    monkeypatch.setattr("shortlist.service.listening.LOOK_SECONDS", 60)
    with (
        Receiver() as anns,
        served(deployment.log, QUICK) as quick,
        caller(quick, keys["ann"]) as ann,
        caller(quick, keys["bob"]) as bob,
    ):
        subscribe(ann)
        post_to(ann, anns, "anns")
        with ann.stream("GET", "/shortlists/bargains/events") as stream:
            lines = stream.iter_lines()
            events_of(lines, 1)
            taken = {"id": "bargains", "subscriber": "bob", **ALL}
            deployment.log.append(
                INPUT,
                commands(
                    event("a1", 1),
                    {"unsubscribe": "bargains"},
                    {"subscribe": taken},
                    event("b1", 2),
                ),
            )
            eventually(lambda: bob.get("/shortlists/bargains").status_code, lambda it: it == 200)
            eventually(lambda: delivered(bob), lambda found: found == ["b1"])
            assert [each[2]["publication"] for each in events_of(lines, 9)] == ["a1"]
        assert ended(ann, "anns") == CLOSED
        assert "b1" not in anns.publications
        # both stand in the log
        assert len([*deployment.log.read(DELIVERIES, 0, key="bargains")]) == 2


def test_a_sender_that_nothing_has_ended_yet_sends_nothing_of_the_next_owner(
    quick, keys, deployment
):
    with (
        Receiver() as receiver,
        caller(quick, keys["ann"]) as ann,
        caller(quick, keys["bob"]) as bob,
    ):
        subscribe(ann)
        post_to(ann, receiver, "anns")
        webhook = known_webhooks(deployment.log)["anns"]
        assert ann.delete("/subscriptions/bargains").status_code == 200
        subscribe(bob)
        publish_as(quick, keys, event("b1", 1))
        eventually(lambda: delivered(bob), lambda found: found == ["b1"])
        notifier = Notifier(deployment.log, Openings(deployment.log), private=True)
        asyncio.run(asyncio.wait_for(notifier._send_all(webhook), 20))
        assert receiver.publications == []


def test_what_was_closed_while_no_service_ran_has_ended(deployment, keys):
    with Receiver() as receiver:
        with served(deployment.log, QUICK) as url, caller(url, keys["ann"]) as ann:
            for name in ("bargains", "kept"):
                subscribe(ann, name)
                post_to(ann, receiver, name, name)
        openings = Openings(deployment.log)
        before = openings.last("bargains")
        own = {"id": "bargains", "subscriber": "ann", **ALL}
        deployment.log.append(
            INPUT, commands({"unsubscribe": "bargains"}, {"subscribe": own}, event("f1", 5))
        )
        eventually(lambda: deployment.log.end(DELIVERIES), lambda end: end >= 2)
        after = openings.last("bargains")
        assert (before.subscriber, after.subscriber) == ("ann", "ann")
        assert before.position < after.position
        # another service, which has seen nothing of it, goes by the log
        with served(deployment.log, QUICK) as url, caller(url, keys["ann"]) as ann:
            assert ended(ann, "bargains") == CLOSED
            eventually(lambda: receiver.publications, bool)
            publish_as(url, keys, event("f2", 6))
            eventually(lambda: receiver.publications, lambda found: len(found) > 1)
            assert receiver.publications == ["f1", "f2"]  # by "kept" alone
            assert {json.loads(body)["shortlist"] for _, body in receiver.requests} == {"kept"}
            assert delivered(ann) == ["f1", "f2"]


def publish_as(url, keys, *events):
    with caller(url, keys["ads"]) as ads:
        publish(ads, *events)


def test_an_update_by_its_owner_is_no_new_opening(quick, keys):
    with Receiver() as receiver, caller(quick, keys["ann"]) as ann:
        subscribe(ann)
        post_to(ann, receiver, "anns")
        with ann.stream("GET", "/shortlists/bargains/events") as stream:
            lines = stream.iter_lines()
            events_of(lines, 1)
            publish_as(quick, keys, event("f1", 5))
            assert events_of(lines, 1)
            for changes in (
                {"where": "rent > 1"},
                {"policy": {"kind": "top-k", "k": 2}},
                {"subscriber": "ann", "weight": 2},
            ):
                assert ann.patch("/subscriptions/bargains", json=changes).status_code == 200
            publish_as(quick, keys, event("f2", 6))
            assert events_of(lines, 1)[0][2]["publication"] == "f2"
        eventually(lambda: receiver.publications, lambda found: found == ["f1", "f2"])
        assert delivered(ann) == ["f1", "f2"]


def test_a_forbidden_key_ends_its_webhooks_and_streams(quick, keys, deployment):
    log = deployment.log
    second = add_key(log, Holder("ann's phone", "subscriber", "ann"))
    with (
        Receiver() as phones,
        Receiver() as others,
        caller(quick, keys["ann"]) as ann,
        caller(quick, keys["op"]) as op,
    ):
        eventually(lambda: as_key(quick, second), lambda status: status == 200)
        with caller(quick, second) as phone:
            subscribe(phone)
            post_to(phone, phones, "phone")
            post_to(phone, phones, "phone too")
            post_to(ann, others, "anns")
            with phone.stream("GET", "/shortlists/bargains/events") as stream:
                lines = stream.iter_lines()
                events_of(lines, 1)
                said = shortlist("forbid", "ann's phone", "--log", deployment.url).stdout
                assert said.split() == [
                    "webhooks",
                    "that",
                    "have",
                    "ended:",
                    "'phone',",
                    "'phone",
                    "too'",
                ]
                # a listener is told, though nothing comes for a minute
                assert events_of(lines, 1) == []
        # a key of that name is another key
        add_key(log, Holder("ann's phone", "subscriber", "ann"))
        publish_as(quick, keys, event("f1", 5))
        eventually(lambda: others.publications, bool)
        assert (phones.publications, ended(ann, "phone")) == ([], FORBIDDEN)
        # one that goes without the program's knowing is found out
        remove_key(log, "ann")
        found = eventually(
            lambda: op.get("/webhooks/anns").json(), lambda webhook: "disabled" in webhook
        )
        assert found["disabled"] == FORBIDDEN


def as_key(url, key):
    with caller(url, key) as client:
        return client.get("/shortlists").status_code


def test_an_operators_webhook_is_seen_by_operators_alone_and_ends_with_the_shortlist(quick, keys):
    with (
        Receiver() as receiver,
        caller(quick, keys["ann"]) as ann,
        caller(quick, keys["op"]) as op,
    ):
        subscribe(ann)
        post_to(op, receiver, "audit")
        assert ann.get("/webhooks").json() == {"items": []}
        problem(ann.get("/webhooks/audit"), 404)
        problem(ann.delete("/webhooks/audit"), 404)
        publish_as(quick, keys, event("f1", 5))
        eventually(lambda: receiver.publications, lambda found: found == ["f1"])
        # to give it to another subscriber begins anew for that one
        gives = {"subscriber": "bob"}
        assert op.patch("/subscriptions/bargains", json=gives).status_code == 200
        assert ended(op, "audit") == CLOSED
        with caller(quick, keys["bob"]) as bob:
            assert delivered(bob) == []


def test_webhooks_without_keys_go_on_when_keys_are_asked_for(deployment):
    with (
        Receiver() as receiver,
        served(deployment.log, QUICK) as url,
        caller(url) as client,
    ):
        assert client.put("/webhooks/h", json={"shortlist": "flats", "url": receiver.url})
        ads = {"ads": add_key(deployment.log, Holder("ads", "publisher"))}
        eventually(lambda: client.get("/me").status_code, lambda status: status == 401)
        publish_as(url, ads, event("f1", 1000))
        eventually(lambda: receiver.publications, lambda found: found == ["f1"])
        assert known_webhooks(deployment.log)["h"].disabled is None


class CountingLog(SqliteLog):
    """A log that counts how it is read, and whether the openings' lock is held meanwhile."""

    openings = None

    def __init__(self, path):
        super().__init__(path)
        self.reads, self.locked = Counter(), 0

    def read(self, stream, after, until=None, *, key=None):
        self.reads["whole" if key is None else "keyed"] += 1
        self.locked += self.openings is not None and self.openings._lock.locked()
        return super().read(stream, after, until, key=key)


def handed_over(log, *names):
    """Give shortlists to subscribers; the position is the offset of the entry."""
    end = log.end(HANDOVERS)
    entries = [
        {"shortlist": name, "subscriber": "ann", "position": at, "deliveries": 0, "departures": 0}
        for at, name in enumerate(names, end + 1)
    ]
    log.append(HANDOVERS, [json.dumps(each).encode() for each in entries], keys=names)


def test_many_unknown_names_are_looked_up_in_one_reading_without_the_lock(tmp_path):
    """10,000 webhooks were once 10,000 keyed reads under a lock that every request needs."""
    log = CountingLog(f"{tmp_path}/city.log")
    handed_over(log, *(f"s{n % 60}" for n in range(150)))
    openings = log.openings = Openings(log)
    wanted = {f"s{n}": n + 121 if n < 30 else n + 61 for n in range(60)} | {"never": 0}
    found = openings.last_of(wanted)
    assert {name: opening.position for name, opening in found.items()} == wanted
    assert (log.reads, log.locked) == ({"whole": 1}, 0)
    assert openings.last_of(wanted) == found
    assert log.reads == {"whole": 1}
    assert Openings(log).last("s3").position == 124
    assert log.reads == {"whole": 1, "keyed": 1}
    handed_over(log, "never")
    assert openings.last("never").position == 151
    log.close()


def test_what_comes_while_a_name_is_looked_up_is_not_missed(tmp_path):
    log = SqliteLog(f"{tmp_path}/city.log")
    handed_over(log, "flats", "others")
    openings = Openings(log)
    looked_up = openings._looked_up

    def slowly(names, end):
        found = looked_up(names, end)
        if names == {"flats"}:
            handed_over(log, "flats")
            openings.last("others")  # another thread reads on meanwhile
        return found

    openings._looked_up = slowly
    assert openings.last("flats").position == 3
    assert openings.last("flats").position == 3
    log.close()
