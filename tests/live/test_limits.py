"""A limit is asked when something is accepted, and not again: whatever it is later, a deployment
goes on with what it has, and a replay of its log says the same."""

import json
from dataclasses import replace

import pytest

from shortlist.live.driver import Driver
from shortlist.live.outlets import LogOutlet
from shortlist.log.base import DELIVERIES, REJECTS
from shortlist.model.settings import Limits, Settings
from tests.cli.programs import Deployment, answer, flat

SMALL = Limits(
    expression_length=12,
    expression_depth=1,
    predicates=1,
    audience_length=5,
    mentions=1,
    policies=1,
    held=1,
    diverse_k=1,
    diverse_attributes=1,
    id_length=2,
    attributes=1,
    elements=1,
    nesting=1,
    payload_bytes=60,
)
LARGE = Limits(id_length=40, predicates=4, elements=6, attributes=5, held=50, policies=4)
FLAGS = [
    part
    for name in SMALL.__slots__
    if (number := getattr(SMALL, name)) is not None
    for part in ("--limit", f"{name}={number}")
]
DIVERSE = {"kind": "diverse", "k": 3, "window": "1h", "over": {"area": None, "rent": 100}}
REGISTRY = {
    "shortlists": [{"id": "flats of Ada", "subscriber": "Ada Lovelace", "policy": DIVERSE}],
    "subscriptions": [
        {
            "id": "cheap and large",
            "shortlist": "flats of Ada",
            "where": "rent < 900 and (size > 20 or area = 'north') and rent > 1",
            "score": "min(size, 100) - abs(rent) / 10",
        },
        {"id": "chained", "score": "-rent", "policy": [{"kind": "top-k", "k": 4}] * 3},
    ],
    "advertisements": [
        {"id": "advert", "source": "ads", "k": 3, "score": "subscription.score * 2"}
    ],
}


def published(number, time):
    data = {"rent": 100 + number, "size": 30, "area": "north", "tags": [1, [2, 3]]}
    return {**flat(f"flat number {number}", 0, time), "data": data}


def over_limits(time):
    """What is over the large limits, too, each in its own way."""
    where = " and ".join(f"rent > {number}" for number in range(5))
    yield {**published(90, time), "id": "x" * 41}
    yield {**published(91, time), "data": {"a": [0] * 7}}
    yield {**published(92, time), "data": {str(number): 1 for number in range(6)}}
    yield {"time": time, "subscribe": {"id": "too many", "where": where}}
    yield {"time": time, "open": {"id": "o", "subscriber": "b" * 41}}
    yield {"time": time, "open": {"id": "o", "subscriber": "b", "policy": [DIVERSE] * 5}}
    yield {"time": time, "update": {"subscription": "chained", "where": where}}
    yield {
        "time": time,
        "update": {"subscription": "chained", "policy": {"kind": "top-k", "k": 51}},
    }


def restarted(deployment, limits):
    """The same deployment, under other limits."""
    made = deployment.driver
    settings = Settings(
        time=deployment.settings.time, lateness=deployment.settings.lateness, limits=limits
    )
    files, every = made._files, deployment.everywhere
    deployment.driver = Driver(deployment.log, files, settings, every, LogOutlet(deployment.log))


@pytest.fixture(params=["arrival", "event"])
def deployment(request, tmp_path):
    lateness = None if request.param == "arrival" else 0
    settings = Settings(time=request.param, lateness=lateness, limits=LARGE)
    made = Deployment(tmp_path, REGISTRY, settings=settings)
    made.publish(*(published(number, f"2026-03-01T12:00:0{number}Z") for number in range(3)))
    made.publish(*over_limits("2026-03-01T12:00:03Z"))
    update = {"subscription": "chained", "score": "-rent - size - abs(rent)"}
    made.publish({"time": "2026-03-01T12:00:04Z", "update": update})
    made.publish(published(4, "2026-03-01T12:00:05Z"))
    made.step()
    return made


def put_out(deployment, stream):
    return [json.loads(entry.content) for entry in deployment.log.read(stream, 0)]


def test_a_replay_under_smaller_limits_says_the_same(deployment):
    assert deployment.driver.manifest.rejects.end == len([*over_limits("")])
    assert deployment.driver.manifest.deliveries.end > 3
    found = answer("replay", "--compare", *FLAGS, log=deployment.url)
    assert found["differences"] == []
    assert found["rejects"] == len([*over_limits("")])
    # nor do larger ones let in what was rejected
    flags = [
        part for name in ("id_length", "elements", "held") for part in ("--limit", f"{name}=99")
    ]
    assert answer("replay", "--compare", *flags, log=deployment.url)["differences"] == []


def test_a_deployment_goes_on_under_smaller_limits(deployment):
    restarted(deployment, replace(SMALL, payload_bytes=1_000, attributes=4, nesting=2))
    before = len(put_out(deployment, REJECTS))
    cancelled = {"time": "2026-03-01T12:00:06Z", "unsubscribe": "cheap and large"}
    changed = {"time": "2026-03-01T12:00:06Z", "update": {"subscription": "chained", "weight": 2}}
    deployment.publish(published(5, "2026-03-01T12:00:06Z"), cancelled, changed)
    deployment.beat("2026-03-01T12:00:08Z")
    deployment.step()
    (refused,) = put_out(deployment, REJECTS)[before:]
    assert refused["reason"] == "id: expected at most 2 characters, found 13"
    live = deployment.driver._admission.roster.subscriptions
    assert "cheap and large" not in live
    assert live["chained"].weight == 2
    delivered = [each["publication"] for each in put_out(deployment, DELIVERIES)]
    assert "flat number 4" in delivered
    assert answer("replay", "--compare", log=deployment.url)["differences"] == []


def test_what_changes_is_judged_and_what_stays_is_not(deployment):
    restarted(deployment, Limits(id_length=2, policies=1, mentions=1, expression_length=3))
    before = len(put_out(deployment, REJECTS))
    time = "2026-03-01T12:00:06Z"
    changes = [{"weight": 2}, {"where": "rent > 5"}, {"score": 0.5}, {"refresh": "1h"}]
    deployment.publish(
        *({"time": time, "update": {"subscription": "chained", **each}} for each in changes)
    )
    deployment.publish({"time": time, "update": {"shortlist": "flats of Ada", "combine": "sum"}})
    deployment.beat("2026-03-01T12:00:08Z")
    deployment.step()
    reasons = [each["reason"] for each in put_out(deployment, REJECTS)[before:]]
    assert reasons == [
        "subscription 'chained': where: column 4: the text has 8 characters; at most 3 are allowed;"
        " subscription 'chained': where, score and policy: expected at most 1 different attributes,"
        " found 2"
    ]
