"""Publishing over HTTP: the forms of CloudEvents, what is durable, what is refused."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from shortlist.client.keys import Holder, add_key
from shortlist.log.base import INPUT
from shortlist.model.times import format_time
from shortlist.service.state import now
from tests.cli.programs import ARRIVAL, Deployment
from tests.service.servers import (
    BATCH,
    REGISTRY,
    SINGLE,
    caller,
    event,
    eventually,
    problem,
    publish,
    served,
)


def sent(deployment):
    documents = (json.loads(entry.content) for entry in deployment.log.read(INPUT, 0))
    return [each for each in documents if "id" in each]


def test_a_structured_event_is_in_the_log_when_it_is_acknowledged(deployment, client):
    answer = client.post("/events", content=json.dumps(event("f1", 900)), headers=SINGLE)
    assert answer.status_code == 202
    (entry,) = deployment.log.read(INPUT, answer.json()["first"] - 1, answer.json()["last"])
    document = json.loads(entry.content)
    assert document == event("f1", 900)


def test_on_event_time_those_without_a_time_get_one_when_they_are_written(tmp_path):
    deployment = Deployment(tmp_path, REGISTRY, shards=1)
    with deployment.running(), served(deployment.log) as url, caller(url) as client:
        publish(client, event("f1", 900), event("f2", 900, time=None))
        first, second = sent(deployment)
        assert first["time"] == second["time"] > "2026"
        wrong = json.dumps(event("f3", 900, time="soon"))
        found = problem(client.post("/events", content=wrong, headers=SINGLE), 422)
        assert found["detail"].startswith("event #1: time: 'soon' is not an RFC 3339 time")
        eventually(lambda: client.get("/shortlists/flats/content").json()["shows"], bool)
        assert client.post("/try", json={}).json()["publications"] == 2
        assert client.patch("/subscriptions/cheap", json={"weight": 2}).status_code == 200


def test_a_batch_gets_offsets_without_gaps(deployment, client):
    receipt = publish(client, *(event(f"f{n}", n) for n in range(5)))
    assert receipt["acknowledged"] == 5
    assert receipt["last"] - receipt["first"] == 4
    assert [each["id"] for each in sent(deployment)] == [f"f{n}" for n in range(5)]


def test_a_binary_event_has_its_context_in_headers(deployment, client):
    headers = {
        "content-type": "application/json",
        "ce-specversion": "1.0",
        "ce-id": "caf%C3%A9",
        "ce-source": "ads",
        "ce-type": "flat",
        "ce-time": "2026-03-01T12:00:00Z",
        "ce-audience": "3",
    }
    assert client.post("/events", content='{"rent": 1}', headers=headers).status_code == 202
    (document,) = sent(deployment)
    assert document == {
        "specversion": "1.0",
        "id": "café",
        "source": "ads",
        "type": "flat",
        "time": "2026-03-01T12:00:00Z",
        "audience": 3,
        "data": {"rent": 1},
    }


def test_an_event_that_comes_twice_is_delivered_once(client):
    for _ in range(3):
        publish(client, event("f1", 900))
    publish(client, event("f2", 800))

    def delivered():
        return client.get("/shortlists/flats/deliveries").json()["items"]

    found = eventually(delivered, lambda items: len(items) >= 2)
    assert [each["delivery"]["publication"] for each in found] == ["f1", "f2"]

    def duplicates():
        items = client.get("/rejects").json()["items"]
        return [json.loads(each["line"])["id"] for each in items if each["reason"] == "duplicate"]

    assert eventually(duplicates, lambda names: len(names) == 2) == ["f1", "f1"]


def test_a_publication_that_is_taken_back_leaves(client):
    publish(client, event("f1", 900))
    content = "/shortlists/flats/content"
    eventually(lambda: client.get(content).json()["shows"], bool)
    assert client.delete("/events", params={"source": "ads", "id": "f1"}).status_code == 200
    assert eventually(lambda: client.get(content).json()["shows"], lambda shows: not shows) == []


@pytest.mark.parametrize(
    ("headers", "body", "status", "detail"),
    [
        (SINGLE, "{", 400, "not JSON: column 2"),
        (SINGLE, "[]", 422, "event #1: expected a JSON object, found []"),
        (SINGLE, '{"source": "ads"}', 422, "event #1: id: is missing"),
        (SINGLE, '{"id": "f1"}', 422, "event #1: source: is missing"),
        (SINGLE, '{"id": "f", "source": "a", "specversion": "2.0"}', 422, "event #1: specversion"),
        (SINGLE, '{"subscribe": {"id": "s"}}', 422, "event #1: expected a publication, found the"),
        (BATCH, "{}", 400, "expected a list of events"),
        (BATCH, "[]", 400, "expected at least one event"),
        (BATCH, json.dumps([event("f1", 1), {}]), 422, "event #2: expected an id"),
        ({"content-type": "text/plain"}, "{}", 415, "expected application/cloudevents+json"),
        ({}, "{}", 415, "expected application/cloudevents+json"),
        ({"ce-id": "f", "content-type": "text/xml"}, "<a/>", 415, "expected data that is "),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_sent(
    deployment, client, headers, body, status, detail
):
    found = problem(client.post("/events", content=body, headers=headers), status)
    assert found["detail"].startswith(detail)
    assert sent(deployment) == []


def test_many_at_once_are_appended_together(deployment, client):
    def one(number):
        return publish(client, event(f"f{number}", number))["first"]

    with ThreadPoolExecutor(8) as pool:
        offsets = [*pool.map(one, range(200))]
    assert len({*offsets}) == 200
    assert sorted(each["id"] for each in sent(deployment)) == sorted(f"f{n}" for n in range(200))


def fates(client, first, last, **params):
    return client.get("/events/fates", params={"first": first, "last": last, **params})


def test_what_became_of_publications_is_told_to_their_publisher_alone(deployment, url, client):
    receipt = publish(client, event("f1", 900), event("f1", 900), event("f2", 9000))
    found = fates(client, receipt["first"], receipt["last"], wait=20).json()["items"]
    assert [(each["id"], each.get("rejected"), each["deliveries"]) for each in found] == [
        ("f1", None, 2),
        ("f1", "duplicate", 0),
        ("f2", None, 1),
    ]
    problem(fates(client, receipt["last"] + 1, receipt["last"] + 1000), 404)
    problem(fates(client, 2, 1), 422)
    problem(fates(client, 1, 1001), 422)
    for owner, status in (("ads", 200), ("other", 403)):
        key = add_key(deployment.log, Holder(owner, "publisher", owner))
        with served(deployment.log) as again, caller(again, key) as publisher:
            assert fates(publisher, receipt["first"], receipt["last"]).status_code == status


def test_what_is_not_known_yet_is_said(tmp_path):
    deployment = Deployment(tmp_path, REGISTRY, shards=1, settings=ARRIVAL)
    with served(deployment.log) as url, caller(url) as client:
        receipt = publish(client, event("f1", 900))
        found = problem(fates(client, receipt["first"], receipt["last"]), 504)
        assert "the deployment has read up to 0, and this is at 1" in found["detail"]
        deployment.beat(format_time(now()))
        deployment.step()
        assert fates(client, 1, 1, wait=5).json()["items"][0]["deliveries"] == 2
