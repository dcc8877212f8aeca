"""Commands to a deployment: what is sent, what is refused, and what became of it."""

import json

import pytest

from shortlist.log.base import INPUT
from shortlist.log.sqlite import SqliteLog
from shortlist.model.times import parse_time
from tests.cli.programs import NOON, Deployment, answer, json_lines, shortlist

REGISTRY = {
    "vocabulary": {"rent": {"terms": {"cheap": {"trapezoid": [None, None, 1200, 1500]}}}},
    "shortlists": [{"id": "flats", "subscriber": "you", "policy": {"kind": "top-k", "k": 2}}],
    "subscriptions": [{"id": "all", "shortlist": "flats"}],
}


@pytest.fixture
def deployment(tmp_path):
    return Deployment(tmp_path, REGISTRY)


def sent(deployment):
    return [json.loads(entry.content) for entry in deployment.log.read(INPUT, 0)]


@pytest.mark.parametrize(
    ("verb", "noun"),
    [
        ("subscribe", {"id": "near", "shortlist": "flats", "where": "rent is cheap"}),
        ("open", {"id": "films", "subscriber": "you"}),
        ("advertise", {"id": "offers", "source": "ads", "k": 1}),
        ("update", {"shortlist": "flats", "policy": {"kind": "top-k", "k": 1}}),
    ],
)
def test_nouns_are_sent_one_a_line(deployment, verb, noun):
    done = shortlist(verb, "--time", NOON, log=deployment.url, text=json_lines(noun))
    assert (done.exit_code, done.stdout) == (0, "1 acknowledged; offsets 1 to 1\n"), done.output
    assert sent(deployment) == [{"time": "2026-03-01T12:00:00.000Z", verb: noun}]


@pytest.mark.parametrize("verb", ["unsubscribe", "close", "unadvertise"])
def test_names_are_sent_one_by_one(deployment, verb):
    assert answer(verb, "a", "b", "--time", NOON, log=deployment.url)["last"] == 2
    assert [each[verb] for each in sent(deployment)] == ["a", "b"]


def test_retractions_name_a_source(deployment):
    answer("retract", "ads", "f1", "f2", log=deployment.url)
    assert [each["retract"]["id"] for each in sent(deployment)] == ["f1", "f2"]
    assert {each["retract"]["source"] for each in sent(deployment)} == {"ads"}
    assert parse_time(sent(deployment)[0]["time"]) > parse_time(NOON)


def test_a_registry_becomes_commands_in_an_order_that_can_be_carried_out(tmp_path, deployment):
    registry = tmp_path / "more.yaml"
    registry.write_text(
        "advertisements: [{id: offers, source: ads, k: 1}]\n"
        "subscriptions:\n"
        "- {id: second, shortlist: own}\n"
        "- {id: own, where: rent is cheap}\n"
        "- {id: third, shortlist: films}\n"
        "shortlists: [{id: films, subscriber: you}]\n"
    )
    with deployment.running():
        done = answer("subscribe", registry, "--wait", log=deployment.url)
    assert (done["carried out"], done["rejected"]) == (5, [])
    roster = deployment.driver._admission.roster
    assert {*roster.subscriptions} == {"all", "second", "own", "third"}
    assert {*roster.advertisements} == {"offers"}


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.yaml", "vocabulary: {}\n", "a.yaml: expected a mapping with some of the keys "),
        ("a.yaml", "- 1\n", "a.yaml: expected a mapping with some of the keys "),
        ("a.yaml", "a: [\n", "a.yaml: not YAML: line 2"),
        ("a.json", "{", "a.json: not JSON: column 2: "),
        ("a.yaml", "subscriptions: [{id: s, wher: x}]", "a.yaml: subscription 's': wher: is not "),
        ("a.yaml", "subscriptions: 7", "a.yaml: subscriptions: expected a list, found 7"),
        ("a.jsonl", "broken", "a.jsonl:1: not JSON"),
        ("a.jsonl", "[]", "a.jsonl:1: subscribe: expected an object, found []"),
        ("a.jsonl", '{"id": "s", "where": "rent is dear"}', "a.jsonl:1: subscription 's': where: "),
    ],
)
def test_if_anything_is_bad_nothing_is_sent(tmp_path, deployment, name, text, problem):
    good, bad = tmp_path / "good.jsonl", tmp_path / name
    good.write_text(json_lines({"id": "good"}))
    bad.write_text(text)
    done = shortlist("subscribe", good, bad, log=deployment.url)
    assert done.exit_code == 2
    assert done.stderr.startswith(problem)
    assert len(done.stderr.splitlines()) == 1
    assert sent(deployment) == []


def test_without_a_deployment_every_term_may_be_meant(tmp_path):
    url = f"sqlite:{tmp_path}/new.log"
    SqliteLog(tmp_path / "new.log")
    line = json_lines({"id": "s", "where": "rent is dear"})
    assert shortlist("subscribe", log=url, text=line).exit_code == 0


def test_a_log_that_is_not_there_is_an_error_that_says_which_are(tmp_path, deployment):
    made = "`shortlist up` makes one, and so does `publish --create`"
    for command in (["close", "flats"], ["publish"], ["watch"], ["status"], ["trace", "a", "b"]):
        done = shortlist(*command, log=f"sqlite:{tmp_path}/cty.log", text="")
        assert (done.exit_code, done.stderr) == (
            2,
            f"{tmp_path}/cty.log: expected a log, found none; did you mean 'city.log'?\n",
        )
        done = shortlist(*command, log=f"sqlite:{tmp_path}/none/city.log", text="")
        assert done.stderr.endswith(f"expected a log, found none; {made}\n")
    assert not (tmp_path / "cty.log").exists()


def test_waiting_tells_what_was_carried_out_and_what_was_not(deployment):
    with deployment.running():
        done = shortlist("unsubscribe", "all", "nobody", "--wait", log=deployment.url)
        assert done.exit_code == 1
        assert done.stderr == "unsubscribe 'nobody': there is no live subscription 'nobody'\n"
        acknowledged, verdict = done.stdout.splitlines()
        assert acknowledged.startswith("2 acknowledged; offsets ")
        assert verdict == "1 carried out, 1 rejected"
        done = shortlist("close", "flats", "films", "--wait", "--json", log=deployment.url)
        found = json.loads(done.stdout)
        assert (done.exit_code, found["carried out"]) == (1, 1)
        assert [(one["place"], one["offset"]) for one in found["rejected"]] == [
            ("close 'films'", found["last"])
        ]


def test_an_update_tells_what_keeps_its_state(deployment):
    smaller = {"shortlist": "flats", "policy": {"kind": "top-k", "k": 1}}
    larger = {"shortlist": "flats", "policy": {"kind": "top-k", "k": 3}}
    weight = {"subscription": "all", "weight": 3}
    with deployment.running():
        text = json_lines(smaller, larger, weight)
        done = shortlist("update", "--wait", log=deployment.url, text=text)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[1:] == [
        "stdin:1: shortlist 'flats' keeps what it holds",
        "stdin:2: shortlist 'flats' starts over: k grows from 1 to 3",
        "stdin:3: shortlist 'flats' keeps what it holds",
        "3 carried out, 0 rejected",
    ]


def test_a_command_that_comes_too_late_is_rejected(deployment):
    deployment.beat("2026-03-01T12:00:01Z")
    with deployment.running():
        done = shortlist("close", "flats", "--time", NOON, "--wait", log=deployment.url)
    assert done.exit_code == 1
    assert done.stderr.startswith("close 'flats': late by ")


def test_waiting_has_an_end(tmp_path, deployment):
    patience = ("--wait", "--patience", 0)
    done = shortlist("close", "flats", *patience, log=deployment.url)
    assert done.exit_code == 2
    assert done.stderr == (
        "not known after 0 s: the deployment has read up to 0, and this is at 1\n"
    )
    deployment.step()
    done = shortlist("close", "flats", *patience, log=deployment.url)
    assert "has read up to 1, and this is at 2" in done.stderr
    SqliteLog(tmp_path / "other.log")
    done = shortlist("close", "flats", *patience, log=f"sqlite:{tmp_path}/other.log")
    assert done.stderr == "not known after 0 s: no deployment works on this log\n"


def test_a_time_is_one(deployment):
    done = shortlist("close", "flats", "--time", "soon", log=deployment.url)
    assert done.exit_code == 2
    assert "'soon' is not an RFC 3339 time" in " ".join(done.stderr.split())
