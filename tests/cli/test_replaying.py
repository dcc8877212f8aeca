"""`replay`: a batch over what a log holds, beside what a deployment has delivered."""

import json
import re

import pytest

from shortlist.live.driver import Driver, begin
from shortlist.live.outlets import LogOutlet
from shortlist.live.places import files_in, state_folder
from shortlist.log.base import DELIVERIES, INPUT
from shortlist.log.sqlite import SqliteLog
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits, Settings
from tests.cli.programs import ARRIVAL, EVENT, Deployment, answer, flat, shortlist

REGISTRY = {
    "shortlists": [{"id": "flats", "subscriber": "you", "policy": {"kind": "top-k", "k": 2}}],
    "subscriptions": [{"id": "all", "shortlist": "flats", "score": "-rent"}],
}
AHEAD = Settings(lateness=0, ahead="60s")
SHORT = Settings(lateness=0, limits=Limits(id_length=8))
AFTER = "2026-03-01T12:00:02Z"


def lines(done):
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(params=[ARRIVAL, EVENT, AHEAD], ids=["arrival", "event", "ahead"])
def deployment(request, tmp_path):
    made = Deployment(tmp_path, REGISTRY, settings=request.param)
    for name, rent in [("a", 900), ("b", 950), ("c", 800), ("a", 700)]:
        made.publish(flat(name, rent))
        made.step()
    made.beat("2026-03-01T12:00:01Z")
    made.publish(flat("d", 600, "2126-03-01T12:00:00Z"), {"time": 5}, flat("e", 1))
    made.beat("2126-03-01T12:00:01Z")
    made.step()
    return made


def test_live_is_a_batch_over_the_log(deployment):
    found = answer("replay", "--compare", log=deployment.url)
    assert (found["entries"], found["differences"]) == (9, [])
    assert found["deliveries"] == deployment.log.end(DELIVERIES) > 2
    assert found["rejects"] == deployment.driver.manifest.rejects.end > 1
    done = shortlist("replay", "--compare", log=deployment.url)
    assert re.fullmatch(r"9 entries, \d deliveries, \d rejects: all the same\n", done.stdout)


def test_deliveries_are_printed(deployment):
    done = shortlist("replay", log=deployment.url)
    found = [json.loads(entry.content) for entry in deployment.log.read(DELIVERIES, 0)]
    assert lines(done)[: len(found)] == found
    assert re.fullmatch(r"\d deliveries, \d rejects\n", done.stderr)
    first = lines(shortlist("replay", "--with-data", log=deployment.url))[0]
    assert first["data"] == {"rent": 900}


def test_what_differs_is_named(deployment):
    deployment.log.append(DELIVERIES, [b'{"publication": "forged"}'])
    found = shortlist("replay", "--compare", log=deployment.url)
    assert found.exit_code == 0  # nobody has committed it
    registry = deployment.log.path.with_name("other.yaml")
    registry.write_text("subscriptions: [{id: all, score: '-rent', where: rent > 850}]")
    found = shortlist("replay", registry, "--compare", log=deployment.url)
    assert found.exit_code == 1
    assert re.search(r"\d+ differ\n", found.stdout)
    assert found.stderr.startswith('deliveries 1: expected {"id": ')


def test_other_settings_may_be_asked_for(tmp_path):
    deployment = Deployment(tmp_path, REGISTRY, settings=ARRIVAL)
    deployment.publish(flat("a", 900, NEVER), flat("b", 800))
    deployment.step()
    by_arrival = lines(shortlist("replay", log=deployment.url))
    assert [each["publication"] for each in by_arrival] == ["a", "b"]
    done = shortlist("replay", "--time", "event", log=deployment.url)
    assert [each["publication"] for each in lines(done)] == ["b"]
    assert "1 rejects" in done.stderr
    done = shortlist("replay", "--time", "event", "--ahead", "off", log=deployment.url)
    assert [each["publication"] for each in lines(done)] == ["a"]


NEVER = "9000-01-01T00:00:00Z"


def test_a_log_without_a_deployment(tmp_path):
    log = SqliteLog(tmp_path / "city.log")
    log.append("input", [b'{"subscribe": {"id": "s"}}', b'{"id": "a", "source": "s"}'])
    url = f"sqlite:{log.path}"
    assert [each["publication"] for each in lines(shortlist("replay", log=url))] == ["a"]
    done = shortlist("replay", "--compare", log=url)
    assert done.exit_code == 2
    assert "expected a deployment on this log, found none" in done.stderr


def test_a_deployment_keeps_its_basis_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "shortlist.spark.session.any_session", lambda master: pytest.fail("started")
    )
    url = f"sqlite:{tmp_path}/city.log"
    begin(
        SqliteLog(tmp_path / "city.log"),
        files_in(state_folder(url)),
        Registry(),
        1,
        Settings(time="arrival"),
    )
    done = shortlist("up", "--time", "event", log=url)
    assert (done.exit_code, done.stderr) == (
        2,
        "expected --time arrival, which this deployment has chosen at its first start,"
        " found --time event\n",
    )
    done = shortlist("up", "--lateness", "5s", log=url)
    assert done.exit_code == 2
    assert "--lateness: expected --time event" in done.stderr


def test_a_deployment_is_asked_why(deployment):
    again, first, *_ = answer_lines(
        "explain", "--publication", "a", "--shortlist", "flats", deployment
    )
    assert (first["delivered"], first["reason"], first["rank"]) == (True, "delivered at arrival", 1)
    assert (again["delivered"], again["reason"]) == (False, "duplicate")
    second, *_ = answer_lines("explain", "--publication", "b", "--shortlist", "flats", deployment)
    assert second["score"] == -950
    done = shortlist("explain", "--publication", "x", "--shortlist", "flats", log=deployment.url)
    assert done.exit_code == 2
    assert done.stderr == (
        "the state does not know it: replayed from the log\n"
        "the deployment has not come to a publication 'x'\n"
    )


def answer_lines(*words):
    *words, deployment = words
    return lines(shortlist(*words, "--json", log=deployment.url))


def test_an_imported_log_with_a_registry(tmp_path):
    """Positions go on behind those of the log that the state came from; offsets begin again."""
    registry, savepoint = tmp_path / "registry.yaml", tmp_path / "savepoint.zip"
    registry.write_text("subscriptions: [{id: all}]")
    places = [tmp_path / "old", tmp_path / "new"]
    for place in places:
        place.mkdir()
    old = Deployment(places[0], {"subscriptions": [{"id": "all"}]}, settings=SHORT)
    old.publish(flat("a", 1), flat("b", 2), flat("c", 3))
    old.beat("2026-03-01T12:00:01Z")
    old.step()
    assert shortlist("export", savepoint, log=old.url).exit_code == 0
    url = f"sqlite:{places[1]}/city.log"
    assert shortlist("import", savepoint, log=url).exit_code == 0
    log = SqliteLog(places[1] / "city.log")
    driver = Driver(log, files_in(state_folder(url)), SHORT, old.everywhere, LogOutlet(log))
    lines_read = [flat("d" * 9, 4, AFTER), *(flat(name, 5, AFTER) for name in "efgh")]
    log.append(INPUT, [json.dumps(each).encode() for each in lines_read])
    items, _ = driver.read_task().items(
        range(5, 10), [entry.content for entry in log.read(INPUT, 0)]
    )
    driver.run_batch(items)
    assert driver.manifest.rejects.end == 1
    # not read yet: limits are asked of it, which `d` and those behind it were asked before
    log.append(INPUT, [json.dumps(flat("i" * 9, 6, AFTER)).encode()])
    limit = ("--limit", "id_length=8", "--time", "event")
    done = shortlist("replay", registry, *limit, log=url)
    assert [each["publication"] for each in lines(done)] == [*"efgh"]
    assert "4 deliveries, 2 rejects" in done.stderr
    for words in [(), ("--compare",), (registry, "--compare")]:
        refused = shortlist("replay", *words, log=url)
        assert refused.exit_code != 0
        assert "found one that goes on behind 4 entries of another" in refused.stderr
