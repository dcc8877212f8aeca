"""`status` and `trace`: how a deployment is doing, and what became of one publication."""

import json

import pytest

from shortlist.log.base import INPUT
from shortlist.model.trace import trace_id
from tests.cli.programs import NOON, Deployment, answer, flat, shortlist

REGISTRY = {
    "shortlists": [{"id": "flats", "subscriber": "you", "policy": {"kind": "top-k", "k": 1}}],
    "subscriptions": [
        {"id": "cheap", "shortlist": "flats", "where": "rent < 900", "score": "-rent"},
        {"id": "all"},
    ],
}
WARNINGS = [
    "rent: 1 times of another type than a predicate asks for",
    "2 rejected in the last minute, the last: source: is missing (entry 4)",
]
TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def deployment(tmp_path):
    made = Deployment(tmp_path, REGISTRY)
    made.publish(
        flat("f1", 800) | {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"},
        flat("f2", 850),
        flat("f1", 700),
        {"id": "broken"},
        flat('"é', "dear", time="2026-03-01T12:00:00.5Z"),
    )
    made.beat("2026-03-01T12:00:01Z")
    made.step()
    return made


def test_status_counts_what_happened(deployment):
    deployment.publish(flat("f9", 1), flat("f10", 1))
    found = answer("status", log=deployment.url)
    assert found["lag"]["entries"] == 2
    assert found["lag"]["seconds"] >= 0
    assert (found["read"], found["time"]) == (6, "2026-03-01T12:00:01.000Z")
    assert (found["shards"], found["plan"], found["commits"]) == (2, "replicate", 1)
    assert (found["subscriptions"], found["shortlists"]) == (2, 2)
    assert (found["published"], found["matched"], found["deliveries"]) == (3, 5, 4)
    assert found["rejects"] == {"duplicate": 1, "unreadable": 1}
    assert found["state bytes"] == deployment.driver.manifest.state_bytes
    assert found["rates"]["input"] > 0
    assert found["warnings"] == WARNINGS


def test_status_follows_the_registry(deployment):
    subscribe = {"time": "2026-03-01T12:00:02Z", "subscribe": {"id": "more"}}
    deployment.publish(subscribe)
    deployment.beat("2026-03-01T12:00:03Z")
    deployment.step()
    assert answer("status", log=deployment.url)["subscriptions"] == 3


def test_status_for_people(deployment):
    done = shortlist("status", log=deployment.url)
    assert done.exit_code == 0
    said = {line.split()[0]: " ".join(line.split()[1:]) for line in done.stdout.splitlines()}
    assert said["lag"] == "0 entries, 0.0 s"
    assert said["registry"] == "2 subscriptions of 2 shortlists"
    assert said["rejected"] == "1 duplicate, 1 unreadable"
    assert done.stderr.splitlines() == [f"warning: {warning}" for warning in WARNINGS]


def test_rejects_are_a_warning_as_long_as_they_are_new(deployment, monkeypatch):
    from shortlist.client import status

    monkeypatch.setattr(status, "RECENT_SECONDS", 0.0)
    assert answer("status", log=deployment.url)["warnings"] == WARNINGS[:1]


def test_status_warns_of_a_standstill(deployment, monkeypatch):
    from shortlist.client import status

    monkeypatch.setattr(status, "STANDSTILL_SECONDS", -1.0)
    deployment.publish(flat("f9", 1))
    first = answer("status", log=deployment.url)["warnings"][0]
    assert first.startswith("1 entries wait, and nothing was committed for ")


def test_status_needs_a_deployment(tmp_path, deployment):
    done = shortlist("status")
    assert done.exit_code == 2
    assert "or --service, found neither" in " ".join(done.stderr.split())
    url = f"sqlite:{tmp_path}/new.log"
    shortlist("publish", "--create", log=url, text=json.dumps(flat("a", 1)))
    done = shortlist("status", log=url)
    assert done.exit_code == 2
    assert done.stderr == "no deployment works on this log, in which 1 entries wait\n"


def test_a_trace_has_all_that_became_of_a_publication(deployment):
    found = answer("trace", "ads", "f1", log=deployment.url)
    assert found["trace"] == TRACE
    assert [(one["offset"], one["fate"]) for one in found["entries"]] == [
        (1, "let in"),
        (3, "duplicate"),
    ]
    delivered = [one["delivery"] for one in found["deliveries"]]
    assert [(one["shortlist"], one["publication"]) for one in delivered] == [
        ("all", "f1"),
        ("flats", "f1"),
    ]


def test_names_are_found_however_they_are_written(deployment):
    found = answer("trace", "ads", '"é', log=deployment.url)
    assert found["trace"] == trace_id("ads", '"é')
    assert [one["offset"] for one in found["entries"]] == [5]
    assert len(found["deliveries"]) == 1


def test_what_is_on_its_way_has_a_trace_too(deployment):
    deployment.publish(flat("f7", 1, time="2026-03-01T12:00:02Z"))
    deployment.step()
    deployment.publish(flat("f8", 1, time="2026-03-01T12:00:02Z"))
    fates = [
        answer("trace", "ads", name, log=deployment.url)["entries"][0]["fate"]
        for name in ("f7", "f8")
    ]
    assert fates == ["waits until time has passed it", "not read yet"]


def test_a_trace_for_people(deployment):
    done = shortlist("trace", "ads", "f2", log=deployment.url)
    head, entry, delivery = done.stdout.splitlines()
    assert head == f"trace {trace_id('ads', 'f2')}"
    assert entry.endswith("  input 2: let in")
    assert delivery.endswith("f2 (ads), by all")


def test_there_may_be_no_such_publication(deployment):
    for name in ("nothing", "f"):
        done = shortlist("trace", "ads", name, log=deployment.url)
        assert done.exit_code == 2
        assert done.stderr == f"there is no publication {name!r} of 'ads' in the log\n"
    deployment.log.append(INPUT, [b"not JSON: f", b'"f"'])
    assert shortlist("trace", "ads", "f", log=deployment.url).exit_code == 2


def test_status_warns_of_what_looks_like_a_mistake(tmp_path):
    deployment = Deployment(tmp_path, {"subscriptions": [{"id": "near", "where": "adress = 'x'"}]})
    deployment.publish({"id": "a", "source": "s", "time": NOON, "address": "x"})
    deployment.beat("2026-03-01T12:00:01Z")
    deployment.step()
    assert answer("status", log=deployment.url)["warnings"] == []
    assert answer("status", "--mistakes", log=deployment.url)["warnings"] == [
        "adress: none of the last 1 publications has it",
        "1 publications have no data, and address beside it: attributes belong into data",
        "1 of 1 subscriptions match none of the last 1 publications: near",
    ]
