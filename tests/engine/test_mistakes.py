"""Registries and publications that do not speak of the same things."""

import json

from shortlist.engine.mistakes import likely_mistakes
from shortlist.intake.files import registry_from_documents
from shortlist.model.items import Wanted
from shortlist.model.settings import Limits


def warnings(subscriptions, *publications, **how):
    registry = registry_from_documents({"subscriptions": subscriptions})
    lines = [
        json.dumps({"id": f"p{number}", "source": "s", **each}).encode()
        for number, each in enumerate(publications)
    ]
    return likely_mistakes(registry, lines, Limits(), **how)


CHEAP = {"id": "cheap", "where": "rent < 900"}


def test_nothing_to_say():
    assert warnings([CHEAP, {"id": "all"}], {"data": {"rent": 800}}) == []
    assert warnings([CHEAP]) == []
    assert warnings([], {"data": {"rent": 800}}) == []
    assert warnings([{"id": "s", "where": "event.type = 'flat'"}], {"type": "flat"}) == []
    assert warnings([{"id": "all"}], {"subject": "a", "traceparent": "b"}) == []


def test_attributes_that_no_publication_has():
    near = {"id": "near", "where": "adress.city = 'Oslo' or rent > 1", "score": "-distance(x: 1)"}
    flat = {"data": {"rent": 800, "address": {"city": "Oslo"}}}
    assert warnings([near], flat, flat) == [
        "adress.city: none of 2 publications has it; did you mean address.city?",
        "x: none of 2 publications has it",
        "1 of 1 subscriptions match none of 2 publications: near",
    ]
    assert warnings([near], flat, {"data": {"adress": {"city": "Oslo"}, "x": 4}}) == []


def test_attributes_beside_data():
    found = warnings([CHEAP], {"rent": 800, "rooms": 2}, {"rent": 800}, {"data": {"rent": 1}})
    assert found == [
        "2 publications have no data, and rent, rooms beside it: attributes belong into data"
    ]
    assert warnings([{"id": "all"}], {"data": {}, "partition": 1}) == []


def test_subscriptions_that_match_nothing():
    many = [{"id": f"s{number}", "where": f"rent = {number}"} for number in range(9)]
    found = warnings([*many, CHEAP], {"data": {"rent": 3}}, of="the last ")
    assert found == [
        "8 of 10 subscriptions match none of the last 1 publications: s0, s1, s2, s4, s5 and 3 more"
    ]
    assert warnings(many, {"data": {"rent": 3}}, most_subscriptions=8) == []


def test_subscriptions_of_a_timeline_count_and_other_lines_do_not():
    lines = [b'{"time": "2026-03-01T00:00:00Z", "subscribe": {"id": "s", "where": "rnt > 1"}}']
    lines += [b"broken", b"", b'\xef\xbb\xbf{"id": "a", "source": "s", "data": {"rent": 1e400}}']
    lines += [b'{"id": "b", "source": "s", "time": 5, "data": {"rent": 1}}']
    registry = registry_from_documents({})
    assert likely_mistakes(registry, lines, Limits()) == [
        "rnt: none of 1 publications has it; did you mean rent?",
        "1 of 1 subscriptions match none of 1 publications: s",
    ]
    assert likely_mistakes(registry, lines, Limits(), commands=False) == []


def test_terms_that_are_defined_on_the_way_are_known():
    dear = {"attribute": "rent", "terms": {"dear": {"trapezoid": [2000, 3000, None, None]}}}
    documents = [
        {"subscribe": {"id": "s", "where": "rent is dear"}},
        {"define": dear},
        {"subscribe": {"id": "unknown", "where": "rent is low"}},
        {"id": "a", "source": "s", "data": {"rent": 2500}},
        {"id": "b", "source": "s", "data": {"rent": 900}},
    ]
    time = "2026-03-01T00:00:00Z"
    lines = [json.dumps({"time": time, **each}).encode() for each in documents]
    assert likely_mistakes(registry_from_documents({}), lines, Limits()) == []
    assert likely_mistakes(registry_from_documents({}), lines[:3] + lines[4:], Limits()) == [
        "1 of 1 subscriptions match none of 1 publications: s"
    ]


def test_of_others_it_is_known_what_they_mention():
    others = Wanted(frozenset([("rnt",)]))
    found = warnings([CHEAP], {"data": {"rent": 950}}, others=others)
    assert found == ["rnt: none of 1 publications has it; did you mean rent?"]
