"""What operators are told of a deployment."""

import json

import pytest

from shortlist.client.deployment import MARGIN, last_before
from shortlist.client.fates import trace_deliveries
from shortlist.client.keys import Holder, add_key
from shortlist.engine.shard import Shard
from shortlist.log.base import DELIVERIES
from shortlist.service.state import Options, now
from tests.service.servers import (
    caller,
    event,
    eventually,
    join_sites,
    problem,
    publish,
    served,
)


def test_what_matched_and_was_held_back_is_counted_by_policy(client):
    publish(client, *(event(f"f{n}", 1210 + 40 * n) for n in range(6)))
    found = eventually(lambda: client.get("/status").json(), lambda found: found["published"] == 6)
    assert found["suppressed"] == {"top-k": 3}


def test_metrics_of_a_deployment_that_does_not_answer_keep_ours_from_nobody(deployment):
    options = Options(deployment_metrics={None: "http://127.0.0.1:9/metrics"})
    with served(deployment.log, options) as url, caller(url) as client:
        assert "shortlist_service_lag_entries" in client.get("/metrics").text


def test_usage_tells_who_takes_most_and_how_evenly(client):
    assert client.get("/usage").json()["fairness"] == 1
    publish(client, event("f1", 900), event("f2", 9000), event("f3", 9001))
    found = eventually(lambda: client.get("/usage").json(), lambda found: found["deliveries"] == 4)
    assert found["subscriptions"] == [
        {"id": "any", "shortlist": "others", "where": None, "deliveries": 3},
        {"id": "cheap", "shortlist": "flats", "where": "rent is cheap", "deliveries": 1},
    ]
    assert found["fairness"] == pytest.approx(16 / 20)
    assert (found["entropy"], found["most entropy"]) == (pytest.approx(0.811278), 1)
    assert client.delete("/subscriptions/any").status_code == 200
    assert [each["id"] for each in client.get("/usage").json()["subscriptions"]] == ["cheap"]


def test_only_operators_are_told(deployment):
    key = add_key(deployment.log, Holder("you", "subscriber", "you"))
    with served(deployment.log) as url, caller(url, key) as client:
        trace = "/events/trace?source=ads&id=f1"
        told = ("/status", "/usage", "/rejects", "/metrics", "/network", "/quarantine", trace)
        for path in told:
            problem(client.get(path), 403)


def test_who_got_a_publication_is_told_in_pages(client):
    publish(client, event("f1", 900), event("f2", 800), event("f1", 900))
    asked = {"source": "ads", "id": "f1"}
    eventually(
        lambda: client.get("/events/trace", params=asked).json(),
        lambda found: len(found["deliveries"]) == 2 and found["entries"][-1]["fate"] == "duplicate",
    )
    first = client.get("/events/trace", params=asked | {"limit": 1}).json()
    assert [each["fate"] for each in first["entries"]] == ["let in", "duplicate"]
    second = client.get("/events/trace", params=asked | {"limit": 1, "after": first["next"]}).json()
    got = [each["delivery"]["shortlist"] for page in (first, second) for each in page["deliveries"]]
    assert got == ["flats", "others"]
    assert "entries" not in second
    last = client.get("/events/trace", params=asked | {"after": second["next"]}).json()
    assert last == {"deliveries": [], "next": None}
    problem(client.get("/events/trace", params=asked | {"id": "f9"}), 404)


def test_a_page_of_a_trace_looks_at_so_many_deliveries_at_most(deployment, client):
    publish(client, *(event(f"f{n}", 1000 - n) for n in range(8)))
    eventually(lambda: deployment.log.end(DELIVERIES), lambda end: end == 16)
    seen, after = [], 0
    while after is not None:
        page = trace_deliveries(deployment.log, "ads", "f6", after, limit=100, most=3)
        assert len(page["deliveries"]) <= 2
        seen += [each["delivery"]["shortlist"] for each in page["deliveries"]]
        after = page["next"]
    assert seen == ["flats", "others"]
    assert [last_before(deployment.log, DELIVERIES, now() + each) for each in (0, 2 * MARGIN)] == [
        0,
        16,
    ]


def test_what_is_in_quarantine_arrives_anew_or_is_forgotten(deployment, client, monkeypatch):
    works, harmful = Shard._arrive, {"f1", "f2"}

    def arrive(shard, items, *rest):
        if {*items.values("id")} & harmful:
            raise ArithmeticError("poison")
        return works(shard, items, *rest)

    monkeypatch.setattr(Shard, "_arrive", arrive)
    publish(client, event("f1", 900), event("f2", 800), event("f3", 700))
    held = eventually(lambda: client.get("/quarantine").json()["items"], lambda it: len(it) == 2)
    assert [json.loads(each["line"])["id"] for each in held] == ["f1", "f2"]
    harmful.clear()
    one, other = (each["position"] for each in held)
    assert client.post("/quarantine/retry", json={"positions": [one]}).json()["items"][0]["offset"]
    (done,) = client.post("/quarantine/drop", json={"positions": [other]}).json()["items"]
    assert "rejected" not in done
    (again,) = client.post("/quarantine/drop", json={"positions": [other]}).json()["items"]
    assert again["rejected"] == f"{other} is not in quarantine"
    assert client.get("/quarantine").json() == {"items": []}
    assert client.post("/quarantine/drop", json={"positions": []}).json() == {"items": []}
    problem(client.post("/quarantine/drop", json={"positions": ["all"]}), 422)
    shown = eventually(
        lambda: client.get("/shortlists/others/content").json()["shows"],
        lambda shows: len(shows) == 2,
    )
    assert {each["publication"] for each in shown} == {"f1", "f3"}


def test_the_network_is_told_where_there_is_one(deployment, client):
    assert client.get("/network").json() == {"site": None, "running": False, "links": {}}
    join_sites(deployment.log)
    found = client.get("/network").json()
    assert (found["site"], found["running"]) == ("oslo", True)
    states = {name: link["state"] for name, link in found["links"].items()}
    assert states == {"bergen": "up", "hamar": "out"}
    assert found["links"]["hamar"]["waiting"] == 40
