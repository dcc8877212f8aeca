"""Previews and explanations: what must not be read there, and how much work they may be."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from shortlist.client import recent
from shortlist.client.deployment import Deployment as Known
from shortlist.client.keys import Holder, add_key
from shortlist.client.recent import read_backwards, recent_publications
from shortlist.engine.replay import CHECKED_AT_ONCE, replay
from shortlist.intake.files import registry_from_documents
from shortlist.log.base import INPUT, REJECTS
from shortlist.log.sqlite import SqliteLog
from shortlist.model.times import format_time, now
from shortlist.service.problems import Refused
from shortlist.service.state import Options
from shortlist.service.turns import MAX_WAITING, Turns
from tests.service.servers import (
    caller,
    event,
    eventually,
    problem,
    publish,
    served,
)

LONG_AGO = "2001-01-01T00:00:00Z"


def shown_by(client, body=None):
    found = client.post("/try", json=body or {"where": "rent exists"}).json()
    return [each["publication"] for each in found["deliveries"]]


def explained(client, name, shortlist="flats"):
    answer = client.get(f"/shortlists/{shortlist}/explanations", params={"publication": name})
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


def test_what_was_withdrawn_is_not_previewed(client):
    publish(
        client,
        event("kept", 900),
        event("retracted", 800),
        event("replaced", 700),
        event("dead", 600, expirytime=LONG_AGO),
        event("hidden", 500, audience=0),
        event("newer", 400, replaces="replaced"),
    )
    assert client.delete("/events", params={"source": "ads", "id": "retracted"}).status_code == 200
    assert shown_by(client) == ["kept", "newer"]
    client.put("/subscriptions/later", json={"where": "rent exists", "subscriber": "you"})
    for name, reason in [
        ("retracted", "retracted by its publisher"),
        ("replaced", "replaced by 'newer'"),
    ]:
        *_, last = explained(client, name, "later")
        assert (last["delivered"], last["reason"]) == (False, reason)
    assert "expired" in explained(client, "dead", "later")[-1]["reason"]


def test_no_explanation_tells_the_content_of_what_was_taken_back(client):
    publish(client, event("secret", 2000))
    eventually(lambda: explained(client, "secret"), bool)
    assert "subscriptions" in explained(client, "secret")[0]
    client.delete("/events", params={"source": "ads", "id": "secret"})
    found = explained(client, "secret")
    assert all("subscriptions" not in each and "score" not in each for each in found)
    assert found[-1]["reason"] == "retracted by its publisher"


def test_a_retraction_is_known_though_much_was_published_since(client, monkeypatch):
    """The state tells of publications that the end of the log does not have any more."""
    publish(client, event("secret", 1210), *(event(f"f{n}", 900) for n in range(3)))
    eventually(lambda: explained(client, "secret"), bool)
    client.delete("/events", params={"source": "ads", "id": "secret"})
    publish(client, event("replaced", 1220), event("newer", 1230, replaces="replaced"))
    publish(client, *(event(f"later{n}", 1400) for n in range(12)))
    eventually(lambda: explained(client, "later11"), bool)
    monkeypatch.setattr(recent, "MAX_PUBLICATIONS", 5)
    for name, reason in [
        ("secret", "retracted by its publisher"),
        ("replaced", "replaced by 'newer'"),
    ]:
        answer = client.get("/shortlists/flats/explanations", params={"publication": name})
        if answer.status_code == 404:  # it is in the last snapshot, and so forgotten
            continue
        found = answer.json()["items"]
        assert all("subscriptions" not in each and "score" not in each for each in found)
        assert found[-1]["reason"] == reason
    held = client.get("/shortlists/flats/held-back").json()["items"]
    assert {each["publication"] for each in held}.isdisjoint({"secret", "replaced"})


def test_an_id_that_is_published_anew_can_be_read_again(client):
    publish(client, event("again", 900))
    client.delete("/events", params={"source": "ads", "id": "again"})
    assert shown_by(client) == []
    # a duplicate until `dedup` has passed: what is rejected is not shown either
    publish(client, event("again", 901), event("other", 902))
    eventually(lambda: shown_by(client), lambda names: names == ["other"])


def test_what_was_rejected_is_not_previewed(client, deployment):
    publish(client, event("good", 900), event("good", 901))
    eventually(lambda: deployment.log.end(REJECTS), bool)
    assert shown_by(client) == ["good"]


@pytest.fixture
def log(tmp_path):
    log = SqliteLog(f"{tmp_path}/city.log")
    yield log
    log.close()


def lines_of(*documents):
    return [json.dumps(each).encode() for each in documents]


def test_a_replay_is_bounded_in_publications_and_bytes(log, monkeypatch):
    monkeypatch.setattr(recent, "MAX_PUBLICATIONS", 5)
    log.append(INPUT, lines_of(*(event(f"f{n}", n) for n in range(20))))
    entries = recent_publications(Known(log), now()).entries
    assert [each.offset for each in entries] == [16, 17, 18, 19, 20]
    size = len(entries[0].content)
    monkeypatch.setattr(recent, "MAX_REPLAYED_BYTES", 3 * size)
    assert [each.offset for each in recent_publications(Known(log), now()).entries] == [18, 19, 20]


def test_entries_are_read_backwards_within_bounds(log):
    log.append(INPUT, [b"x" * 10] * 3000)
    assert [each.offset for each in read_backwards(log, INPUT)] == [*range(3000, 0, -1)]
    assert [each.offset for each in read_backwards(log, INPUT, entries=2)] == [3000, 2999]
    assert len([*read_backwards(log, INPUT, size=55)]) == 5
    log.append("keyed", [b"x"] * 6, keys=["a", "b"] * 3)
    assert [each.offset for each in read_backwards(log, "keyed", 4, key="b")] == [6, 4]


class Pausing:
    """Work that goes on when it is told to, and says in which order it ran."""

    def __init__(self):
        self.ran, self.goes_on = [], threading.Event()

    def __call__(self, name):
        def work(_check):
            self.ran.append(name)
            assert self.goes_on.wait(30)
            return name

        return work


def test_callers_take_turns():
    """Eight of one caller wait for each other; another caller waits for one of them."""

    async def story():
        turns, pausing = Turns(), Pausing()
        asked = []
        for name in ["ann"] * MAX_WAITING + ["bob"]:
            asked.append(asyncio.ensure_future(turns.run(name, 30, pausing(name))))
            await asyncio.sleep(0)
        with pytest.raises(Refused, match="8 previews") as refused:
            await turns.run("ann", 30, pausing("ann"))
        assert refused.value.answer().status_code == 429
        pausing.goes_on.set()
        assert await asyncio.gather(*asked) == ["ann"] * 8 + ["bob"]
        assert pausing.ran.index("bob") <= 2
        assert await turns.run("ann", 30, pausing("ann")) == "ann"

    asyncio.run(story())


def test_one_piece_of_work_runs_at_a_time_though_callers_leave():
    async def story():
        turns, pausing = Turns(), Pausing()
        first = asyncio.ensure_future(turns.run("ann", 30, pausing("first")))
        await asyncio.sleep(0.05)
        first.cancel()
        waiting = asyncio.ensure_future(turns.run("ann", 30, pausing("gave up")))
        second = asyncio.ensure_future(turns.run("bob", 30, pausing("second")))
        await asyncio.sleep(0.05)
        waiting.cancel()
        assert pausing.ran == ["first"]
        pausing.goes_on.set()
        assert await second == "second"
        assert pausing.ran == ["first", "second"]

    asyncio.run(story())


def test_no_caller_waits_for_ever():
    async def story():
        turns, pausing = Turns(), Pausing()
        first = asyncio.ensure_future(turns.run("ann", 30, pausing("first")))
        await asyncio.sleep(0)
        with pytest.raises(Refused, match="no turn") as refused:
            await turns.run("bob", 0.01, pausing("second"))
        assert refused.value.answer().status_code == 503
        pausing.goes_on.set()
        await first
        assert await turns.run("bob", 30, pausing("third")) == "third"

    asyncio.run(story())


def test_work_that_takes_too_long_is_given_up_between_its_steps(deployment):
    publishing = Options(heartbeat=0.2, patience=20, work_seconds=0.0)
    with served(deployment.log, publishing) as url, caller(url) as client:
        publish(client, event("f1", 900))
        eventually(lambda: deployment.log.end("deliveries"), bool)
        body = {"shortlist": "flats", "publication": {"data": {"rent": 1350}}}
        problem(client.post("/explain", json=body), 503)
        detail = problem(client.get("/shortlists/flats/held-back"), 503)["detail"]
        assert "expected an answer within 0 s" in detail
        problem(client.post("/try", json={"where": "rent exists"}), 503)


def test_a_publishers_choice_among_all_shards_is_told(tmp_path):
    """`/explain` once said "delivered" to a shortlist that the publisher's k leaves out."""
    from tests.cli.programs import ARRIVAL, Deployment

    registry = {
        "advertisements": [{"id": "a", "source": "ads", "k": 2, "score": "subscription.profile.x"}],
        "subscriptions": [{"id": f"s{n}", "profile": {"x": n}} for n in range(9)],
    }
    deployment = Deployment(tmp_path, registry, shards=3, settings=ARRIVAL)
    with deployment.running(), served(deployment.log) as url, caller(url) as client:
        publish(client, event("f1", 900))
        eventually(lambda: deployment.log.end("deliveries"), lambda end: end == 2)
        # one that joins later competes, too
        client.put("/subscriptions/s9", json={"subscriber": "you", "profile": {"x": 9}})

        def outcome(name, **more):
            publication = {"source": "ads", "data": {"rent": 1}, **more}
            body = {"shortlist": name, "publication": publication}
            return client.post("/explain", json=body).json()["outcome"]

        told = {name: outcome(name) for name in (f"s{n}" for n in range(10))}
        assert [name for name, made in told.items() if made["delivered"]] == ["s8", "s9"]
        assert told["s7"]["reason"] == "not in the publisher's audience"
        assert not outcome("s8", audience=1)["delivered"]
        assert outcome("s0", source="news")["delivered"]


def test_a_list_of_own_nouns_looks_at_no_others(deployment, monkeypatch):
    """Of 60,000 subscriptions each list of somebody with none took 0.3 s, under a lock."""
    from shortlist.client import nouns

    looked = []
    owner_of = nouns.owner_of

    def counting(roster, noun):
        looked.append(noun.id)
        return owner_of(roster, noun)

    monkeypatch.setattr(nouns, "owner_of", counting)
    you = add_key(deployment.log, Holder("you", "subscriber", "you"))
    with served(deployment.log) as url, caller(url, you) as client:
        assert [each["id"] for each in client.get("/subscriptions").json()["items"]] == ["cheap"]
        assert [each["id"] for each in client.get("/shortlists").json()["items"]] == ["flats"]
        assert {*looked} == {"cheap", "flats"}
        assert client.get("/shortlists", params={"subscriber": "others"}).json()["items"] == []


def test_eight_previews_of_one_key_hold_up_no_other(deployment, monkeypatch):
    """Over HTTP: another key's preview comes after one of them."""
    keys = {name: add_key(deployment.log, Holder(name, "subscriber", name)) for name in "ab"}
    ran, goes_on = [], threading.Event()

    def slow(*_, **__):
        ran.append(1)
        assert goes_on.wait(60)
        return {"publications": len(ran)}

    monkeypatch.setattr("shortlist.service.receiving.tried", slow)
    with served(deployment.log) as url, ThreadPoolExecutor(9) as threads:

        def preview(name):
            with caller(url, keys[name]) as client:
                return client.post("/try", json={}).json()["publications"]

        asked = [threads.submit(preview, "a") for _ in range(8)]
        eventually(lambda: len(ran), bool)
        other = threads.submit(preview, "b")
        threading.Event().wait(0.5)  # until it waits
        goes_on.set()
        assert other.result() <= 3
        assert [each.result() for each in asked]


def test_requests_that_gave_up_waiting_do_not_count():
    """Eight aborted requests once kept the ninth out with 429."""

    async def story():
        turns, pausing = Turns(), Pausing()
        first = asyncio.ensure_future(turns.run("ann", 30, pausing("first")))
        await asyncio.sleep(0)
        for _ in range(MAX_WAITING):
            waiting = asyncio.ensure_future(turns.run("ann", 30, pausing("aborted")))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            with pytest.raises(Refused, match="no turn"):
                await turns.run("bob", 0.001, pausing("too late"))
        # two that gave up just before the turn would have been theirs
        gone = [
            asyncio.ensure_future(turns.run(name, 30, pausing("gone"))) for name in ("ann", "bob")
        ]
        await asyncio.sleep(0)
        for each in gone:
            each.cancel()
        turns._next()
        ended = await asyncio.gather(*gone, return_exceptions=True)
        assert [type(each) for each in ended] == [asyncio.CancelledError] * 2
        turns._running = "ann"
        last = asyncio.ensure_future(turns.run("ann", 30, pausing("last")))
        pausing.goes_on.set()
        assert await asyncio.gather(first, last) == ["first", "last"]
        assert pausing.ran == ["first", "last"]

    asyncio.run(story())


@pytest.mark.parametrize("where", [None, "rent > 3"])
def test_a_replay_in_checked_steps_has_the_same_results(where, monkeypatch):
    """On the basis event everything waits for the end of time: it is checked behind that, too."""
    lines = lines_of(*(event(f"f{n}", n % 7, time=format_time(n)) for n in range(100)))
    subscription = {"id": "s", "where": where, "policy": {"kind": "top-k", "k": 5}}
    registry = registry_from_documents({"subscriptions": [subscription]})
    calls = []
    checked = replay(registry, lines, check=lambda: calls.append(1))
    assert checked == replay(registry, lines)
    assert checked.deliveries
    assert len(calls) >= 100 / CHECKED_AT_ONCE


def test_rejects_need_not_be_in_order(log, monkeypatch):
    """An item that waited is rejected behind items that came after it."""
    log.append(INPUT, lines_of({}) * 20)
    positions = [20, None, 3, 18]
    rejects = [json.dumps({"position": each}).encode() for each in positions]
    log.append(REJECTS, rejects)
    assert recent._rejected_offsets(log, 0, 10) == ({20, 18}, 10)
    monkeypatch.setattr(recent, "read_backwards", partial(read_backwards, entries=3))
    assert recent._rejected_offsets(log, 0, 10) == ({18}, 10)
    monkeypatch.setattr(recent, "read_backwards", partial(read_backwards, entries=1))
    assert recent._rejected_offsets(log, 0, 10) == ({18}, 18)
