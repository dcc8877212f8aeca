"""Shortlists, subscriptions and advertisements as resources: made, changed and ended."""

import json

import pytest

from shortlist.log.base import INPUT
from tests.service.servers import problem

FILMS = {"subscriber": "you", "policy": {"kind": "top-k", "k": 2}}


def commands(deployment):
    documents = (json.loads(entry.content) for entry in deployment.log.read(INPUT, 0))
    return [each for each in documents if not each.keys() & {"id", "heartbeat"}]


def test_put_makes_changes_and_leaves(deployment, client):
    made = client.put("/shortlists/films", json=FILMS)
    assert (made.status_code, made.json()["id"]) == (201, "films")
    again = client.put("/shortlists/films", json=FILMS)
    assert (again.status_code, again.json()["effect"]) == (200, "it is so already")
    smaller = client.put("/shortlists/films", json=FILMS | {"policy": {"kind": "top-k", "k": 1}})
    assert smaller.status_code == 200
    assert smaller.json()["effect"] == "shortlist 'films' keeps what it holds"
    assert [[*each][1] for each in commands(deployment)] == ["open", "update"]
    assert client.get("/shortlists/films").json()["policy"]["k"] == 1


def test_patch_says_whether_a_shortlist_keeps_what_it_holds(client):
    larger = client.patch("/shortlists/flats", json={"policy": {"kind": "top-k", "k": 9}})
    assert larger.json()["effect"] == "shortlist 'flats' starts over: k grows from 3 to 9"
    weight = client.patch("/subscriptions/cheap", json={"weight": 2})
    assert weight.json()["effect"] == "shortlist 'flats' keeps what it holds"
    found = client.get("/subscriptions/cheap").json()
    assert (found["weight"], found["where"]) == (2, "rent is cheap")
    client.patch("/subscriptions/cheap", json={"weight": None})
    assert client.get("/subscriptions/cheap").json()["weight"] == 1


def test_delete_ends_it_and_its_subscriptions(client):
    assert client.delete("/shortlists/flats").status_code == 200
    assert problem(client.get("/subscriptions/cheap"), 404)["detail"] == (
        "there is no live subscription 'cheap'"
    )
    problem(client.delete("/shortlists/flats"), 404)


def test_an_advertisement_is_withdrawn_and_made_again(client):
    advertisement = {"source": "ads", "k": 2, "where": "rent < 1000"}
    assert client.put("/advertisements/offers", json=advertisement).status_code == 201
    changed = client.put("/advertisements/offers", json=advertisement | {"k": 3})
    assert changed.status_code == 200
    assert client.get("/advertisements/offers").json()["k"] == 3
    assert client.delete("/advertisements/offers").status_code == 200
    assert client.get("/advertisements").json() == {"items": [], "next": None}


def test_lists_have_pages_and_filters(client):
    client.put("/subscriptions/own", json={"where": "rent < 1", "subscriber": "you"})
    names = [each["id"] for each in client.get("/shortlists").json()["items"]]
    assert names == ["flats", "others", "own"]
    first = client.get("/shortlists", params={"limit": 2}).json()
    assert ([each["id"] for each in first["items"]], first["next"]) == (
        ["flats", "others"],
        "others",
    )
    rest = client.get("/shortlists", params={"limit": 2, "after": first["next"]}).json()
    assert ([each["id"] for each in rest["items"]], rest["next"]) == (["own"], None)
    mine = client.get("/shortlists", params={"subscriber": "you", "policy": "everything"}).json()
    assert [each["id"] for each in mine["items"]] == ["own"]
    assert client.get("/vocabulary").json()["rent"]["terms"].keys() == {"cheap"}


@pytest.mark.parametrize(
    ("path", "body", "status", "problems"),
    [
        (
            "/subscriptions/near",
            {"where": "rent is dear"},
            422,
            [
                {
                    "id": "subscription 'near'",
                    "field": "where",
                    "column": 9,
                    "message": "'dear' is not a term of 'rent'; its terms are cheap",
                }
            ],
        ),
        (
            "/subscriptions/near",
            {"where": "rent <", "wher": 1, "weight": 0},
            422,
            ["where", "wher", "weight"],
        ),
        ("/shortlists/films", {}, 422, ["subscriber"]),
        ("/shortlists/films", {"id": "other", "subscriber": "you"}, 422, None),
        ("/subscriptions/cheap", {"shortlist": "others"}, 409, None),
        ("/subscriptions/near", {"shortlist": "nowhere"}, 409, None),
    ],
)
def test_what_is_wrong_has_its_place(client, path, body, status, problems):
    found = problem(client.put(path, json=body), status)
    if problems is None:
        return
    if isinstance(problems[0], str):
        assert {each["field"] for each in found["problems"]} == {*problems}
    else:
        assert found["problems"] == problems


def test_what_the_deployment_refuses_is_told_with_its_offset(deployment, client):
    found = problem(client.put("/subscriptions/near", json={"shortlist": "nowhere"}), 409)
    assert found["detail"] == "there is no live shortlist 'nowhere'"
    (entry,) = deployment.log.read(INPUT, found["offset"] - 1, found["offset"])
    assert json.loads(entry.content)["subscribe"]["id"] == "near"


def test_terms_are_defined_and_it_is_said_who_changes_its_meaning(deployment, client):
    dearer = {"terms": {"cheap": {"trapezoid": [None, None, 1900, 2000]}}}
    done = client.patch("/vocabulary/rent", json=dearer).json()
    assert done.pop("offset") > 0
    assert done == {
        "id": "rent",
        "effect": "1 subscription changes its meaning, from the next publication on",
        "subscriptions": ["cheap"],
        "advertisements": [],
    }
    assert client.patch("/vocabulary/rent", json=dearer).json() == {
        "id": "rent",
        "effect": "it is so already",
    }
    assert [[*each][1] for each in commands(deployment)] == ["define"]
    found = client.get("/vocabulary").json()["rent"]["terms"]["cheap"]["trapezoid"]
    assert found == [None, None, 1900, 2000]


def test_a_new_term_can_be_asked_for_and_one_that_is_used_stays(client):
    dear = {"terms": {"dear": {"trapezoid": [2000, 3000, None, None]}}}
    assert client.patch("/vocabulary/rent", json=dear).json()["effect"] == (
        "nobody changes its meaning"
    )
    assert client.put("/subscriptions/far", json={"where": "rent is dear"}).status_code == 201
    gone = {"terms": {"dear": None}}
    assert problem(client.patch("/vocabulary/rent", json=gone), 409)["detail"] == (
        "the term 'dear' of 'rent' is used by subscription 'far'"
    )
    client.delete("/subscriptions/far")
    assert client.patch("/vocabulary/rent", json=gone).status_code == 200


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "terms: expected an object, found null"),
        ({"terms": {"cheap": {"values": {"x": 1}}}}, "expected a trapezoid for the type number"),
        ({"type": "string"}, "define: type: expected only attribute and terms"),
        ({"attribute": "size", "terms": {}}, "attribute: expected 'rent' as in the path"),
    ],
)
def test_what_no_vocabulary_could_have_is_refused(client, body, detail):
    assert detail in problem(client.patch("/vocabulary/rent", json=body), 422)["detail"]


@pytest.mark.parametrize(
    ("content", "media", "status"),
    [
        ("{}", "text/plain", 415),
        ("{", "application/json", 400),
        ("[]", "application/json", 422),
        ('{"subscriber": NaN}', "application/json", 400),
    ],
)
def test_bodies_are_json_objects(client, content, media, status):
    answer = client.put("/shortlists/s", content=content, headers={"content-type": media})
    problem(answer, status)
