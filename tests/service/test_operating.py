"""What operators are told of a deployment."""

import pytest

from shortlist.client.keys import Holder, add_key
from tests.service.servers import caller, event, eventually, problem, publish, served


def test_what_matched_and_was_held_back_is_counted_by_policy(client):
    publish(client, *(event(f"f{n}", 1210 + 40 * n) for n in range(6)))
    found = eventually(lambda: client.get("/status").json(), lambda found: found["published"] == 6)
    assert found["suppressed"] == {"top-k": 3}


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
        for path in ("/status", "/usage", "/rejects", "/metrics"):
            problem(client.get(path), 403)
