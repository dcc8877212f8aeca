"""`watch`: deliveries as they come, and from where one left off."""

import json
import threading

import pytest

from shortlist.log.base import DELIVERIES, DEPARTURES
from tests.cli.programs import Deployment, flat, shortlist

REGISTRY = {
    "subscriptions": [
        {"id": "cheap", "where": "rent < 900", "subscriber": "ann"},
        {"id": "all", "subscriber": "bob"},
    ]
}


@pytest.fixture
def deployment(tmp_path):
    made = Deployment(tmp_path, REGISTRY)
    made.publish(flat("f1", 800), flat("f2", 1000), flat("f3", 850))
    made.beat("2026-03-01T12:00:01Z")
    made.step()
    return made


def watched(deployment, *arguments):
    done = shortlist("watch", *arguments, "--json", "--until-idle", 0.1, log=deployment.url)
    assert done.exit_code == 0, done.output
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return [(each["shortlist"], each["publication"]) for each in found]


CHEAP = [("cheap", "f1"), ("cheap", "f3")]
EVERY = [("all", "f1"), ("cheap", "f1"), ("all", "f2"), ("all", "f3"), ("cheap", "f3")]


def test_all_or_some(deployment):
    assert watched(deployment, "--after", 0) == EVERY
    assert watched(deployment, "--after", 3) == EVERY[3:]
    assert watched(deployment, "cheap", "--after", 0) == CHEAP
    assert watched(deployment, "--subscriber", "ann", "--after", 0) == CHEAP
    assert watched(deployment, "--after", 0, "--count", 2) == EVERY[:2]
    assert watched(deployment, "--subscriber", "ann", "--after", 0, "--count", 1) == CHEAP[:1]


def test_by_default_only_what_comes_from_now_on(deployment):
    assert watched(deployment) == []


def test_what_comes_while_it_watches(deployment):
    def publish():
        deployment.publish(flat("f4", 1, time="2026-03-01T12:00:02Z"))
        deployment.beat("2026-03-01T12:00:03Z")
        deployment.step()

    timer = threading.Timer(0.4, publish)
    timer.start()
    done = shortlist("watch", "cheap", "--count", 1, "--json", log=deployment.url)
    timer.join()
    assert json.loads(done.stdout)["publication"] == "f4"


def test_a_consumer_goes_on_where_it_left_off(deployment):
    ann = ("cheap", "--consumer", "ann")
    assert watched(deployment, *ann, "--count", 1) == CHEAP[:1]
    assert watched(deployment, *ann) == CHEAP[1:]
    assert watched(deployment, *ann) == []
    deployment.publish(flat("f4", 1, time="2026-03-01T12:00:02Z"))
    deployment.beat("2026-03-01T12:00:03Z")
    deployment.step()
    assert watched(deployment, *ann) == [("cheap", "f4")]
    assert watched(deployment, "--consumer", "bob") == [*EVERY, ("all", "f4"), ("cheap", "f4")]


def test_what_cannot_be_shown_was_not_seen(deployment, monkeypatch):
    def broken(document):
        raise BrokenPipeError

    monkeypatch.setattr("shortlist.cli.watching.readable", broken)
    done = shortlist("watch", "--consumer", "ann", "--count", 1, log=deployment.url)
    assert done.exit_code == 1
    assert watched(deployment, "--consumer", "ann") == EVERY


def test_people_see_lines(deployment):
    done = shortlist("watch", "cheap", "--after", 0, "--count", 1, log=deployment.url)
    assert done.stdout == (
        "2026-03-01T12:00:00.000Z  + cheap            1            f1 (ads), by cheap\n"
    )


def test_changes_stand_in_order_with_deliveries(deployment):
    """A batch whose departures are not written yet is not shown at all."""
    log, driver = deployment.log, deployment.driver
    deployment.publish(flat("f4", 1, time="2026-03-01T12:00:02Z"))
    deployment.beat("2026-03-01T12:00:03Z")
    deployment.step()
    from dataclasses import replace

    committed = log.register("manifest")
    ahead = replace(driver.manifest, departures=driver.manifest.departures.followed(2, ()))
    log.put("manifest", ahead.to_bytes(), committed.revision)
    consumer = ("cheap", "--changes", "--consumer", "ann")
    assert watched(deployment, *consumer) == []
    left = [
        {"time": f"2026-03-01T12:00:0{second}.000Z", "shortlist": "cheap", "source": "ads",
         "publication": name, "reason": "expired"}
        for second, name in ((1, "f1"), (2, "f3"))
    ]  # fmt: skip
    contents = [json.dumps(each).encode() for each in left]
    log.append(DEPARTURES, contents, keys=["cheap"] * 2)
    assert watched(deployment, *consumer, "--count", 3) == [*CHEAP, ("cheap", "f1")]
    assert watched(deployment, *consumer) == [("cheap", "f4"), ("cheap", "f3")]
    done = shortlist("watch", "--changes", "--after", 0, "--until-idle", 0.1, log=deployment.url)
    signs = [line.split()[1] for line in done.stdout.splitlines()]
    assert "".join(signs) == "+++++-++-"
    assert log.end(DELIVERIES) == 7


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--after", 1, "--consumer", "ann"], "expected --after or --consumer, found both"),
        (["--changes", "--after", 1], "--changes: expected neither --after"),
        (["--changes", "--subscriber", "ann"], "--changes: expected neither --after"),
    ],
)
def test_what_does_not_go_together(deployment, arguments, words):
    done = shortlist("watch", *arguments, log=deployment.url)
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())


def test_there_must_be_a_log(tmp_path):
    done = shortlist("watch", log=f"sqlite:{tmp_path}/none.log")
    assert done.exit_code == 2
    assert "none.log: expected a log, found none" in done.stderr
    assert not (tmp_path / "none.log").exists()


def test_rejects_are_shown_with_their_reasons(deployment):
    deployment.publish(flat("late", 1), flat("f1", 2, "2026-03-01T12:00:05Z"), {"id": "x"})
    deployment.beat("2026-03-01T12:00:06Z")
    deployment.step()
    done = shortlist("watch", "--rejects", "--after", 0, "--until-idle", 0.1, log=deployment.url)
    assert done.stdout.splitlines() == [
        '5  late by 1 s  {"id": "late", "source": "ads", "time": "2026-03-01T12:00:00Z",'
        ' "data": {"rent": 1}}',
        '6  duplicate  {"id": "f1", "source": "ads", "time": "2026-03-01T12:00:05Z",'
        ' "data": {"rent": 2}}',
        '7  source: is missing  {"id": "x"}',
    ]
    for wrong in (["cheap"], ["--changes"], ["--subscriber", "ann"]):
        assert shortlist("watch", "--rejects", *wrong, log=deployment.url).exit_code == 2


def test_a_shortlist_that_is_not_there_is_an_error_that_says_which_are(deployment):
    done = shortlist("watch", "chap", log=deployment.url)
    assert (done.exit_code, done.stderr) == (
        2,
        "there is no live shortlist 'chap'; did you mean 'cheap'?\n",
    )
    done = shortlist("show", "nosuch", log=deployment.url)
    assert (done.exit_code, done.stderr) == (
        2,
        "there is no live shortlist 'nosuch'; there are 'all', 'cheap'\n",
    )


def test_a_shortlist_that_was_closed_can_be_watched(deployment):
    deployment.publish({"time": "2026-03-01T12:00:02Z", "close": "cheap"})
    deployment.beat("2026-03-01T12:00:03Z")
    deployment.step()
    assert watched(deployment, "cheap", "--after", 0) == CHEAP
