"""Tenants: whoever has a key of one learns nothing of another, and changes nothing there."""

import json
from contextlib import ExitStack

import pytest

from shortlist.client.keys import Holder, add_key
from shortlist.client.webhooks import known_webhooks
from shortlist.log.base import DELIVERIES, INPUT
from shortlist.log.sqlite import SqliteLog
from shortlist.service.serving import NoKeys, check_tenants
from shortlist.service.state import Options
from tests.cli.programs import ARRIVAL, Deployment, shortlist
from tests.service.servers import (
    REGISTRY,
    caller,
    event,
    events_of,
    eventually,
    problem,
    publish,
    served,
)
from tests.service.test_sockets import listening, messages_of, refused

NAMES = ("acme", "zoo")


@pytest.fixture
def deployments(tmp_path):
    """One for each tenant; in both are nouns of the same names."""
    with ExitStack() as stack:
        found = {}
        for name in NAMES:
            (tmp_path / name).mkdir()
            found[name] = Deployment(tmp_path / name, REGISTRY, shards=1, settings=ARRIVAL)
            stack.enter_context(found[name].running())
        yield found


@pytest.fixture
def keys(deployments):
    """An operator of each tenant, and in both somebody who is called you."""
    owners = {"operator": None, "subscriber": "you"}
    return {
        (name, role): add_key(deployment.log, Holder(f"{role} of {name}", role, owner))
        for name, deployment in deployments.items()
        for role, owner in owners.items()
    }


@pytest.fixture
def house(deployments, keys):
    logs = {name: deployment.log for name, deployment in deployments.items()}
    options = Options(heartbeat=0.2, patience=20, private_webhooks=True)
    with served(logs, options) as url:
        yield url


@pytest.fixture
def acme(house, keys):
    with caller(house, keys["acme", "operator"]) as client:
        yield client


@pytest.fixture
def zoo(house, keys):
    with caller(house, keys["zoo", "operator"]) as client:
        yield client


def test_a_key_tells_whose_tenant_it_is(acme, zoo):
    assert [client.get("/me").json()["tenant"] for client in (acme, zoo)] == ["acme", "zoo"]


def test_what_one_publishes_nobody_else_receives(deployments, acme, zoo):
    publish(acme, event("secret", 900))
    path = "/shortlists/others"
    eventually(lambda: acme.get(f"{path}/content").json()["shows"], bool)
    publish(zoo, event("own", 800))
    found = eventually(lambda: zoo.get(f"{path}/content?with_data=true").json()["shows"], bool)
    assert [each["publication"] for each in found] == ["own"]
    history = eventually(lambda: zoo.get(f"{path}/deliveries").json()["items"], bool)
    assert {each["delivery"]["publication"] for each in history} == {"own"}
    assert zoo.post("/try", json={}).json()["publications"] == 1
    with zoo.stream("GET", f"{path}/events", params={"after": "0.0"}) as stream:
        assert events_of(stream.iter_lines(), 2)[1][2]["publication"] == "own"
    for stream in (INPUT, DELIVERIES):
        entries = deployments["zoo"].log.read(stream, 0)
        assert not any(b"secret" in entry.content for entry in entries)


def test_names_are_of_a_tenant_and_what_is_changed_stays_there(acme, zoo):
    own = {"subscriber": "you", "where": "rent < 1"}
    assert acme.put("/subscriptions/mine", json=own).status_code == 201
    problem(zoo.get("/subscriptions/mine"), 404)
    problem(zoo.patch("/subscriptions/mine", json={"weight": 2}), 404)
    problem(zoo.delete("/subscriptions/mine"), 404)
    problem(zoo.post("/explain", json={"shortlist": "mine", "publication": {}}), 404)
    # the name is free there, and what is made under it is another
    assert zoo.put("/subscriptions/mine", json=own | {"where": "rent < 2"}).status_code == 201
    assert zoo.delete("/shortlists/flats").status_code == 200
    assert acme.get("/subscriptions/mine").json()["where"] == "rent < 1"
    assert acme.get("/shortlists/flats").status_code == 200
    assert zoo.put("/advertisements/a", json={"source": "ads", "k": 0}).status_code == 201
    assert acme.get("/advertisements").json()["items"] == []


def test_webhooks_are_of_a_tenant(deployments, acme, zoo):
    hook = {"shortlist": "flats", "url": "http://127.0.0.1:9/"}
    assert acme.put("/webhooks/phone", json=hook).status_code == 201
    assert zoo.get("/webhooks").json() == {"items": []}
    for path in ("/webhooks/phone", "/webhooks/phone/dead-letters"):
        problem(zoo.get(path), 404)
    problem(zoo.delete("/webhooks/phone"), 404)
    assert {*known_webhooks(deployments["acme"].log)} == {"phone"}
    assert known_webhooks(deployments["zoo"].log) == {}


def test_an_operator_operates_one_tenant(acme, zoo):
    publish(acme, event("f1", 900), event("f1", 900))
    eventually(lambda: acme.get("/rejects").json()["items"], bool)
    assert zoo.get("/rejects").json()["items"] == []
    assert (acme.get("/status").json()["published"], zoo.get("/status").json()["published"]) == (
        1,
        0,
    )
    acknowledged = "shortlist_service_acknowledged_total"
    assert f"{acknowledged} 2.0" in acme.get("/metrics").text
    assert f"{acknowledged} 0.0" in zoo.get("/metrics").text


def test_a_ticket_is_of_a_tenant(house, keys, acme, zoo):
    assert acme.put("/shortlists/secrets", json={"subscriber": "you"}).status_code == 201
    with caller(house, keys["zoo", "subscriber"]) as client:
        ticket = client.post("/tickets").json()["ticket"]
    assert refused(404, house, "secrets", ticket=ticket)
    assert refused(404, house, "secrets", key=keys["zoo", "subscriber"])
    publish(acme, event("f1", 900))
    publish(zoo, event("f2", 900))
    with listening(house, ticket=ticket, after="0.0") as listener:
        assert messages_of(listener, 2)[1][2]["publication"] == "f2"


def test_without_a_key_there_is_nothing_on_loopback_either(house):
    with caller(house) as client:
        for path in ("/me", "/shortlists", "/status"):
            problem(client.get(path), 401)
        problem(client.post("/events", content=json.dumps(event("f", 1))), 401)
        assert client.get("/").status_code == client.get("/readyz").status_code == 200
    with caller(house, "shortlist_wrong") as client:
        problem(client.get("/shortlists"), 401)


def test_it_is_ready_when_all_are(deployments, keys, tmp_path):
    new = SqliteLog(tmp_path / "new.log")
    logs = {"acme": deployments["acme"].log, "new": new}
    with served(logs) as url, caller(url) as client:
        problem(client.get("/readyz"), 503)
    with pytest.raises(NoKeys, match="tenant 'new': expected keys, found none"):
        check_tenants(logs)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "expected --log, or --tenant for each of several"),
        (("--log", "sqlite:a.log", "--tenant", "b=sqlite:b.log"), "expected --log, or --tenant"),
        (("r.yaml", "--tenant", "a=sqlite:a.log"), "expected --log, or --tenant"),
        (("--tenant", "acme"), "--tenant: expected NAME=LOG, found 'acme'"),
        (
            ("--tenant", "a=sqlite:a.log", "--tenant", "b=sqlite:a.log"),
            "--tenant: expected each name and each log once",
        ),
        (("--tenant", "a=sqlite:a.log"), "expected a log, found none"),
    ],
)
def test_each_tenant_has_a_name_and_a_log_of_its_own(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = shortlist("serve", *arguments)
    assert done.exit_code == 2
    assert said in " ".join(done.output.replace("│", " ").split())
