"""Why, from the state of a deployment: what a batch over its whole log says, without that batch."""

import json
import os
from contextlib import suppress

import pytest

from shortlist.engine.explanation import Question
from shortlist.engine.replay import replay
from shortlist.intake.files import registry_from_documents
from shortlist.live import audiences
from shortlist.live import manifest as manifests
from shortlist.live.asking import Asked, NoSuchShortlist
from shortlist.live.replaying import explain
from shortlist.log.base import INPUT
from shortlist.model.publication import Publication
from shortlist.model.settings import Settings
from tests.live.deployments import Deployment, drawn, numbered
from tests.strategies import OWN_IDS, SHORTLIST_IDS, cuts, seeded

COMPETITION = ("place", "of", "chosen")
"""What is known only to who sees all shortlists."""


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch):
    """The machine stays up, so that files need not be durable."""
    monkeypatch.setattr(os, "fsync", lambda file: None)


def asked(deployment, shortlist):
    driver = deployment.driver
    return Asked(driver.manifest, deployment.files, deployment.registers, shortlist)


def as_a_shard_says(explanation):
    audience = explanation.get("audience", {})
    for name in COMPETITION:
        audience.pop(name, None)
    return explanation


def in_order(explanations):
    return sorted(explanations, key=lambda each: (each["time"], each["reason"]))


def named_in(lines):
    """The publications among lines, the last ones first."""
    for line in reversed(lines):
        with suppress(ValueError):
            document = json.loads(line)
            if isinstance(document, dict) and {"id", "source"} <= document.keys():
                yield document["source"], document["id"]


def check(pick, deployment, lines):
    """Asks about some publications; how many answers there were."""
    named = [*named_in(lines)][:12]
    if not named:
        return 0
    manifest, settings = deployment.driver.manifest, deployment.settings
    rejects = replay(deployment.registry, lines, settings).rejects
    turned_away = {"expired on arrival", "unadvertised", *(each.reason for each in rejects)}
    answers = 0
    for _ in range(4):
        shortlist, (source, name) = pick([*SHORTLIST_IDS, *OWN_IDS]), pick(named)
        question = Question(publication=name, source=source, shortlist=shortlist)
        try:
            found = asked(deployment, shortlist).happened(question)
        except NoSuchShortlist:
            continue
        answers += len(found)
        told = explain(deployment.registers, manifest, deployment.registry, settings, question)
        history = [as_a_shard_says(each) for each in told if each["reason"] not in turned_away]
        if found:
            assert in_order(found) == in_order(history)[-len(found) :]
    return answers


def play(seed):
    pick = seeded(seed)
    made, settings, lines = drawn(pick)
    deployment = Deployment(made, settings, shards=pick([1, 2]))
    answers = read = 0
    for batch in cuts(pick, numbered(lines)):
        if batch:
            deployment.registers.append(INPUT, [line.encode() for _, line in batch])
        deployment.run(batch)
        read += len(batch)
        if pick([False, False, True]):
            answers += check(pick, deployment, lines[:read])
    return answers


@pytest.mark.parametrize(
    "seeds", [range(10), pytest.param(range(10, 200), marks=pytest.mark.soak)], ids=["few", "many"]
)
def test_what_became_of_publications_is_what_a_batch_says(monkeypatch, seeds):
    monkeypatch.setattr(manifests, "MOST_BATCHES", 9)
    assert sum(map(play, seeds)) > 10


REGISTRY = {
    "shortlists": [
        {
            "id": "best",
            "subscriber": "you",
            "policy": {"kind": "window", "k": 1, "window": "1h"},
        },
        {
            "id": "daily",
            "subscriber": "you",
            "policy": {"kind": "digest", "k": 1, "every": "day"},
        },
        {"id": "others", "subscriber": "you"},
    ],
    "subscriptions": [
        {"id": name, "shortlist": name, "where": "rent < 900", "score": "-rent"}
        for name in ("best", "daily", "others")
    ],
}


def flat(name, rent, minute):
    time = f"2026-03-01T09:{minute:02}:00.000Z"
    return f'{{"id": "{name}", "source": "ads", "time": "{time}", "data": {{"rent": {rent}}}}}'


@pytest.fixture
def flats():
    deployment = Deployment(registry_from_documents(REGISTRY), Settings(lateness=0), shards=2)
    lines = [flat("attic", 700, 0), flat("bedsit", 800, 1), flat("castle", 9000, 2)]
    deployment.registers.append(INPUT, [line.encode() for line in lines])
    deployment.run([*numbered(lines), (4, '{"time": "2026-03-01T09:03:00Z", "heartbeat": true}')])
    return deployment


def stands(deployment, shortlist, name):
    (found,) = asked(deployment, shortlist).stands(Question(publication=name, shortlist=shortlist))
    return found


def test_what_a_shortlist_holds_says_how_it_stands(flats):
    first = stands(flats, "best", "attic")
    assert first["reason"] == "on the shortlist now, at rank 1, until 2026-03-01T10:00:00.000Z"
    assert (first["rank"], first["score"], first["above"]) == (1, -700.0, [])
    assert first["subscriptions"][0]["predicates"][0]["text"] == "rent < 900"
    second = stands(flats, "best", "bedsit")
    assert not second["delivered"]
    assert second["reason"].startswith("held, but not among the best")
    assert [each["publication"] for each in second["above"]] == ["attic"]
    assert stands(flats, "daily", "attic")["reason"].startswith("waits to be delivered")
    nothing = Question(publication="castle", shortlist="best")
    assert asked(flats, "best").happened(nothing)[0]["reason"] == "no subscription matches"


def test_what_was_taken_back_is_known_as_far_as_the_state_reaches(flats):
    assert asked(flats, "best").taken_back() == {}
    replacing = flat("villa", 300, 5).removesuffix("}") + ', "replaces": "bedsit"}'
    retract = '{"time": "2026-03-01T09:04:00Z", "retract": {"source": "ads", "id": "attic"}}'
    lines = [retract, replacing]
    flats.registers.append(INPUT, [line.encode() for line in lines])
    beat = (7, '{"time": "2026-03-01T09:06:00Z", "heartbeat": true}')
    flats.run([(5, retract), (6, replacing), beat])
    for shortlist in ("best", "daily", "others"):
        assert asked(flats, shortlist).taken_back() == {
            ("ads", "attic"): "retracted by its publisher",
            ("ads", "bedsit"): "replaced by 'villa'",
        }


def test_what_would_become_of_a_publication_changes_nothing(flats):
    before = flats.driver.manifest
    time = before.reached
    for rent, delivered, reason in [
        (600, True, "delivered at arrival"),
        (750, False, "a better one is in the window"),
        (9000, False, "no subscription matches"),
    ]:
        new = Publication(id="n", source="s", time=time, position=9, data={"rent": rent})
        told = asked(flats, "best").would(new, Settings())
        assert (told["delivered"], told["reason"]) == (delivered, reason)
    dead = Publication(id="n", source="s", time=time, position=9, expiry=time - 1)
    assert asked(flats, "best").would(dead, Settings())["reason"] == "expired on arrival"
    required = Settings(advertised="required")
    assert asked(flats, "best").would(new, required)["reason"] == "unadvertised"
    _, entries = Asked(before, flats.files, flats.registers, "best").shown()
    assert [entry.publication.id for entry in entries] == ["attic"]


def test_opening_the_shards_of_a_publishers_choice_can_be_given_up(monkeypatch):
    advertised = REGISTRY | {"advertisements": [{"id": "a", "source": "ads", "k": 1}]}
    deployment = Deployment(registry_from_documents(advertised), Settings(lateness=0), shards=2)
    line = '{"time": "2026-03-01T09:03:00Z", "heartbeat": true}'
    deployment.registers.append(INPUT, [line.encode()])
    deployment.run([(1, line)])
    manifest, read, opened = deployment.driver.manifest, [], []
    read_state, opened_shard = audiences.read_state, audiences.opened_shard
    monkeypatch.setattr(audiences, "read_state", lambda *all: read.append(1) or read_state(*all))
    monkeypatch.setattr(
        audiences, "opened_shard", lambda *all: opened.append(1) or opened_shard(*all)
    )

    def give_up():
        if read:
            raise TimeoutError

    question = Asked(manifest, deployment.files, deployment.registers, "best", give_up)
    flat = Publication(id="n", source="ads", time=manifest.reached, position=2, data={"rent": 1})
    with pytest.raises(TimeoutError):
        question.would(flat, Settings())
    assert (len(read), opened) == (1, [])
