"""What subscribers get: present content, history, reasons, previews, and streams without gaps."""

import random
import threading
from contextlib import suppress

import httpx
import pytest

from shortlist.live.driver import Driver
from shortlist.live.outlets import LogOutlet
from shortlist.live.places import files_in, state_folder
from shortlist.service.state import Options
from tests.cli.programs import ARRIVAL, Deployment
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


def shows(client, shortlist="flats"):
    return client.get(f"/shortlists/{shortlist}/content").json()["shows"]


def test_content_is_ranked_and_tells_where_its_events_go_on(client):
    publish(client, event("f1", 1350), event("f2", 900), event("f3", 2000))
    eventually(lambda: shows(client), lambda found: len(found) == 2)
    found = client.get("/shortlists/flats/content", params={"with_data": True}).json()
    assert [(each["publication"], each["rank"]) for each in found["shows"]] == [
        ("f2", 1),
        ("f1", 2),
    ]
    assert found["shows"][0]["data"] == {"rent": 900}
    assert found["after"] == "5.0"
    assert found["policy"] == ["top-k"]


def test_history_has_pages(client):
    publish(client, *(event(f"f{n}", n) for n in range(7)))
    path = "/shortlists/others/deliveries"
    eventually(lambda: client.get(path).json()["items"], lambda items: len(items) == 7)
    seen, after = [], 0
    while after is not None:
        page = client.get(path, params={"after": after, "limit": 2}).json()
        seen += [each["delivery"]["publication"] for each in page["items"]]
        after = page["next"]
    assert seen == [f"f{n}" for n in range(7)]


def test_reasons_are_told_predicate_by_predicate(client):
    body = {"shortlist": "flats", "publication": {"data": {"rent": 1350}}}
    (found,) = client.post("/explain", json=body).json()["subscriptions"]
    assert (found["id"], found["score"], found["matches"]) == ("cheap", 0.5, True)
    assert found["predicates"] == [{"text": "rent is cheap", "possibility": 0.5, "necessity": 0.5}]
    problem(client.post("/explain", json={"shortlist": "flats"}), 422)
    problem(client.post("/explain", json=body | {"shortlist": "nobody's"}), 404)
    wrong = {"shortlist": "flats", "publication": {"time": "soon"}}
    assert "publication: time" in problem(client.post("/explain", json=wrong), 422)["detail"]


def test_a_subscription_is_tried_on_what_was_published(client):
    publish(client, *(event(f"f{n}", 100 * n) for n in range(1, 8)))
    best = {"where": "rent < 600", "score": "rent", "policy": {"kind": "top-k", "k": 1}}
    found = client.post("/try", json=best).json()
    assert found["publications"] == 7
    assert [each["publication"] for each in found["deliveries"]] == ["f1", "f2", "f3", "f4", "f5"]
    lowest = client.post("/try", json=best | {"score": "-rent"}).json()
    assert [each["publication"] for each in lowest["deliveries"]] == ["f1"]
    on_a_shortlist = client.post("/try", json={"where": "rent > 600", "shortlist": "flats"}).json()
    assert len(on_a_shortlist["deliveries"]) == 1
    assert client.get("/subscriptions/this").status_code == 404


def test_what_was_held_back_has_its_reason(client):
    publish(
        client, *(event(f"f{n}", rent) for n, rent in enumerate([1210, 1220, 1230, 1400, 9000]))
    )
    path = "/shortlists/flats/held-back"
    eventually(lambda: shows(client), lambda found: len(found) == 3)
    found = client.get(path).json()
    (item,) = found["items"]
    assert (found["publications"], item["publication"]) == (5, "f3")
    assert item["reason"] == "3 better ones are still valid"
    assert [each["publication"] for each in item["above"]] == ["f0", "f1", "f2"]
    # what came to it is not held back, whatever is asked for now
    bound = {"policy": {"kind": "top-k", "k": 1}}
    assert client.patch("/shortlists/flats", json=bound).status_code == 200
    assert [each["publication"] for each in client.get(path).json()["items"]] == ["f3"]
    problem(client.get("/shortlists/nobody/held-back"), 404)


def test_what_cannot_be_read_is_said_at_once(client):
    assert client.post("/check", json={"where": "rent is cheap"}).json()["problems"] == []
    found = problem(client.post("/check", json={"where": "rent is"}), 422)
    assert (found["problems"][0]["field"], found["problems"][0]["column"]) == ("where", 8)


def test_events_come_with_their_places_and_go_on_behind_them(client):
    with client.stream("GET", "/shortlists/flats/events") as stream:
        lines = stream.iter_lines()
        ((start, kind, told),) = events_of(lines, 1)
        assert (kind, told) == ("ready", {"after": start})
        publish(client, event("f1", 1350), event("f2", 900))
        first, second = events_of(lines, 2)
    assert [first[1], first[2]["publication"], second[2]["publication"]] == ["delivery", "f1", "f2"]
    headers = {"last-event-id": first[0]}
    with client.stream("GET", "/shortlists/flats/events", headers=headers) as stream:
        ready, again = events_of(stream.iter_lines(), 2)
    assert (ready[0], again) == (first[0], second)
    # an offset of the deliveries will do, too
    with client.stream("GET", "/shortlists/flats/events", params={"after": "0"}) as stream:
        _, *both = events_of(stream.iter_lines(), 3)
    assert [each[2]["publication"] for each in both] == ["f1", "f2"]


def test_what_leaves_comes_in_order_and_goes_on_behind_every_place(tmp_path):
    deployment = Deployment(tmp_path, REGISTRY, shards=1, settings=ARRIVAL)
    deployment.driver = Driver(
        deployment.log,
        files_in(state_folder(deployment.url)),
        deployment.settings,
        deployment.everywhere,
        LogOutlet(deployment.log),
        with_departures=True,
    )
    with deployment.running(), served(deployment.log) as url, caller(url) as client:
        for number in range(8):
            publish(client, event(f"f{number}", 1400 - 20 * number))

        def behind(place, count):
            params = {"after": place}
            with client.stream("GET", "/shortlists/flats/events", params=params) as stream:
                return events_of(stream.iter_lines(), count + 1)[1:]

        # three stay: each that enters behind them makes one leave
        seen = behind("0.0", 13)
        assert [kind for _, kind, _ in seen].count("departure") == 5
        places = [tuple(map(int, place.split("."))) for place, _, _ in seen]
        assert places == sorted({*places})
        for number, (place, _, _) in enumerate(seen):
            rest = seen[number + 1 :]
            assert not rest or behind(place, len(rest)) == rest


def test_silence_has_a_sign_of_life(client):
    with client.stream("GET", "/shortlists/flats/events") as stream:
        assert (
            next(line for line in stream.iter_lines() if line.startswith(":")) == ": nothing came"
        )


@pytest.mark.parametrize(("place", "status"), [("soon", 400), ("-1", 400), ("99.0", 409)])
def test_a_place_that_cannot_be_is_refused(client, place, status):
    problem(client.get("/shortlists/flats/events", params={"after": place}), status)
    problem(client.get("/shortlists/nobody/events"), 404)


def reconnected(url, count, cuts, seed):
    """What somebody receives who is cut off so often, and whether ids came twice unseen."""
    chance = random.Random(seed)
    seen, last = [], "0.0"
    with caller(url) as client:
        for cut in range(cuts + 1):
            # before the last one, somewhere in the middle; sometimes before the first
            most = None if cut == cuts else chance.choice([0, 0, 1, 1, 2, 3])
            with client.stream(
                "GET", "/shortlists/every/events", headers={"last-event-id": last}
            ) as stream:
                lines = stream.iter_lines()
                ready = events_of(lines, 1)
                assert ready[0][0] == last
                wanted = count - len(seen) if most is None else min(most, count - len(seen))
                for place, _, delivery in events_of(lines, wanted) if wanted else ():
                    seen.append(delivery["publication"])
                    last = place
    return seen


def no_gaps(deployment, count, cuts):
    with served(deployment.log, Options(heartbeat=1, patience=20)) as url, caller(url) as client:
        assert client.put("/subscriptions/every", json={"subscriber": "you"}).status_code == 201
        names = [f"f{n}" for n in range(count)]

        def publish_slowly():
            with caller(url) as publisher:
                for start in range(0, count, 10):
                    publish(publisher, *(event(name, 1) for name in names[start : start + 10]))

        publishing = threading.Thread(target=publish_slowly)
        publishing.start()
        seen = reconnected(url, count, cuts, seed=cuts)
        publishing.join()
    assert seen == names


def test_reconnecting_leaves_no_gap(deployment):
    no_gaps(deployment, count=100, cuts=40)


@pytest.mark.soak
def test_reconnecting_a_thousand_times_leaves_no_gap(deployment):
    no_gaps(deployment, count=3000, cuts=1000)


def test_who_is_behind_what_is_kept_in_memory_reads_the_log(deployment, url, monkeypatch):
    monkeypatch.setattr("shortlist.service.tail.MOST_AT_ONCE", 3)
    with served(deployment.log) as url, caller(url) as client:
        publish(client, *(event(f"f{n}", n) for n in range(3)))
        eventually(lambda: shows(client, "others"), lambda found: len(found) == 3)
        params = {"after": "0.0"}
        with client.stream("GET", "/shortlists/others/events", params=params) as stream:
            found = events_of(stream.iter_lines(), 4)
    assert [each[2].get("publication") for each in found] == [None, "f0", "f1", "f2"]


def test_streams_are_bounded(deployment):
    options = Options(heartbeat=0.2, most_streams=1)
    with served(deployment.log, options) as url, caller(url) as client, caller(url) as other:
        with client.stream("GET", "/shortlists/flats/events") as stream:
            lines = stream.iter_lines()
            events_of(lines, 1)
            problem(other.get("/shortlists/flats/events"), 503)
        eventually(lambda: _opened(other), lambda status: status == 200)


def _opened(client):
    with client.stream("GET", "/shortlists/flats/events") as stream:
        return stream.status_code


def test_a_service_that_stops_cuts_its_streams(deployment):
    with caller("http://127.0.0.1") as client:
        with served(deployment.log) as url:
            stream = client.stream("GET", f"{url}/shortlists/flats/events")
            lines = stream.__enter__().iter_lines()
            assert events_of(lines, 1)[0][1] == "ready"
        with suppress(httpx.HTTPError):
            assert events_of(lines, 1) == []
        with pytest.raises(httpx.HTTPError):
            client.get(f"{url}/healthz")
