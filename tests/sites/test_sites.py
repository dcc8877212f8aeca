"""What sites agree upon, refuse, and say of themselves."""

import json
import re
from contextlib import closing
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from typer.testing import CliRunner

from shortlist.cli.app import app
from shortlist.intake.files import registry_from_documents
from shortlist.live.driver import begin
from shortlist.live.places import announce, files_in
from shortlist.log.base import INPUT, LogUnavailable
from shortlist.log.json_register import change_json
from shortlist.log.sqlite import SqliteLog
from shortlist.model.settings import Settings
from shortlist.sites.identity import STATUS, join
from shortlist.sites.link import exchange
from shortlist.sites.metrics import COUNTED, MEASURED, LinkMetrics
from shortlist.sites.own_registry import HasAdvertisements, HasDefined, OwnRegistry
from shortlist.sites.site import Site, Superseded
from shortlist.sites.wire import stream_of
from tests.cli.programs import Deployment

CHEAP = {"subscriptions": [{"id": "cheap", "where": "rent < 900"}]}
NOBODY = {"subscriptions": []}


@pytest.fixture
def links(tmp_path):
    with closing(SqliteLog(tmp_path / "links.log")) as log:
        yield log


class Place:
    """A site whose deployment has only begun."""

    def __init__(self, folder, links, name, neighbours, registry, basis="event"):
        self.name, self.links = name, links
        self.log = SqliteLog(folder / f"{name}.log")
        files = files_in(folder / f"{name}.state")
        begin(self.log, files, registry_from_documents(registry), 1, Settings(time=basis))
        announce(self.log, folder / f"{name}.state")
        self.start(neighbours)

    def start(self, neighbours, state=None):
        known = join(self.log, self.name, neighbours)
        self.site = Site(self.log, OwnRegistry(self.log, self.name), known, state, keep=10**9)

    def publish(self, name, **data):
        said = {"id": name, "source": "ads", "time": "2026-03-01T00:00:00Z", "data": data}
        self.log.append(INPUT, [json.dumps(said).encode()])

    def round(self):
        while self.site.advance():
            pass
        self.site.refresh()
        for neighbour, link in self.site.links.items():
            if link.aside is not None:
                continue
            out, into = stream_of(self.name, neighbour), stream_of(neighbour, self.name)
            self.site.took(neighbour, exchange(self.links, out, into, self.site.work(neighbour)))
            self.site.admit()

    def ids(self):
        return [json.loads(entry.content).get("id") for entry in self.log.read(INPUT, 0)]


def rounds(*places, count=4):
    for _ in range(count):
        for place in places:
            place.round()


def test_only_what_is_wanted_crosses_and_the_rest_is_counted(tmp_path, links):
    oslo = Place(tmp_path, links, "oslo", ["bergen"], NOBODY)
    bergen = Place(tmp_path, links, "bergen", ["oslo"], CHEAP)
    rounds(oslo, bergen)
    oslo.publish("f1", rent=800)
    oslo.publish("f2", rent=2000)
    rounds(oslo, bergen)
    assert bergen.ids() == ["f1"]
    status = oslo.site.status()["bergen"]
    assert (status["sent"], status["withheld"], status["behind"]) == (1, 1, 1)
    assert status["sites"] == ["bergen"]
    assert bergen.site.status()["oslo"]["received"] == 1
    assert oslo.ids() == ["f1", "f2"], "nothing comes back"


def test_a_subscription_that_comes_later_is_given_what_came_since_its_own_time(tmp_path, links):
    oslo = Place(tmp_path, links, "oslo", ["bergen"], NOBODY)
    bergen = Place(tmp_path, links, "bergen", ["oslo"], NOBODY)
    rounds(oslo, bergen)
    oslo.publish("f1", rent=800)
    rounds(oslo, bergen)
    assert bergen.ids() == []
    subscribe = {"time": "2026-02-28T00:00:00Z", "subscribe": CHEAP["subscriptions"][0]}
    bergen.log.append(INPUT, [json.dumps(subscribe).encode()])
    rounds(oslo, bergen)
    assert bergen.ids() == [None, "f1"]
    assert oslo.site.status()["bergen"]["withheld"] == 0


def test_one_that_left_and_joins_again_gets_what_came_meanwhile(tmp_path, links):
    oslo = Place(tmp_path, links, "oslo", ["bergen"], NOBODY)
    bergen = Place(tmp_path, links, "bergen", ["oslo"], CHEAP)
    tromso = Place(tmp_path, links, "tromso", ["oslo"], NOBODY)
    rounds(oslo, bergen)
    oslo.publish("f1", rent=800)
    rounds(oslo, bergen)
    oslo.start(["tromso"], json.loads(json.dumps(oslo.site.state())))
    rounds(oslo, tromso)
    oslo.publish("f2", rent=700)
    rounds(oslo, tromso, bergen)
    assert bergen.ids() == ["f1"]
    oslo.start(["tromso", "bergen"], json.loads(json.dumps(oslo.site.state())))
    rounds(oslo, tromso, bergen)
    assert bergen.ids() == ["f1", "f2"]


def test_a_publisher_cannot_pretend_to_be_a_link(tmp_path, links):
    oslo = Place(tmp_path, links, "oslo", ["bergen"], NOBODY)
    bergen = Place(tmp_path, links, "bergen", ["oslo"], CHEAP)
    rounds(oslo, bergen)
    forged = '{"id": "f0", "source": "ads", "time": "2026-03-01T00:00:00Z"'
    forged += f',"shortlistlink":"oslo:999:{"0" * 32}"}}'
    bergen.log.append(INPUT, [forged.encode()])
    oslo.publish("f1", rent=800)
    rounds(oslo, bergen)
    assert bergen.ids() == ["f0", "f1"]


def test_a_second_process_takes_over_and_the_first_one_stops(tmp_path, links):
    oslo = Place(tmp_path, links, "oslo", ["bergen"], NOBODY)
    bergen = Place(tmp_path, links, "bergen", ["oslo"], CHEAP)
    rounds(oslo, bergen)
    first = oslo.site
    oslo.start(["bergen"])
    rounds(oslo, bergen)
    oslo.publish("f1", rent=800)
    rounds(oslo, bergen)
    first.work("bergen")
    first.failed("bergen", "its stream ends elsewhere than it thought")
    out, into = stream_of("oslo", "bergen"), stream_of("bergen", "oslo")
    with pytest.raises(Superseded, match="another process is site 'oslo'"):
        first.took("bergen", exchange(links, out, into, first.work("bergen")))


def test_a_ring_of_links_is_cut_open(tmp_path, links):
    ring = {"a": ["b", "c"], "b": ["a", "c"], "c": ["a", "b"]}
    places = [Place(tmp_path, links, name, others, CHEAP) for name, others in ring.items()]
    rounds(*places)
    aside = [link for place in places for link in place.site.links.values() if link.aside]
    assert aside
    assert all("expected links that form a tree, found site" in link.error for link in aside)
    places[0].publish("f1", rent=800)
    rounds(*places)
    assert all(place.ids().count("f1") <= 1 for place in places), "nothing goes round"


@pytest.mark.parametrize(
    ("basis", "registry", "what"),
    [
        ("arrival", NOBODY, "time basis: expected event, found arrival"),
        ("event", {"vocabulary": {"rent": {"type": "number"}}}, "vocabulary: expected"),
    ],
)
def test_neighbours_that_do_not_agree_are_refused(tmp_path, links, basis, registry, what):
    oslo = Place(tmp_path, links, "oslo", ["bergen"], NOBODY)
    bergen = Place(tmp_path, links, "bergen", ["oslo"], registry, basis)
    rounds(oslo, bergen)
    assert f"site 'bergen': {what}" in oslo.site.links["bergen"].error
    assert "site 'oslo': " in bergen.site.links["oslo"].error


def test_advertisements_are_refused(tmp_path, links):
    with pytest.raises(HasAdvertisements, match="advertisement 'ad': expected none"):
        Place(
            tmp_path, links, "a", ["b"], {"advertisements": [{"id": "ad", "source": "s", "k": 1}]}
        )


def test_a_vocabulary_that_changes_meanwhile_is_refused(tmp_path):
    deployment = Deployment(tmp_path, NOBODY, shards=1)
    own = OwnRegistry(deployment.log, "oslo")
    cheap = {"attribute": "rent", "terms": {"cheap": {"trapezoid": [None, None, 1, 2]}}}
    deployment.publish({"time": "2026-03-01T00:00:00Z", "define": cheap})
    deployment.beat("2026-03-01T00:00:01Z")
    deployment.step()
    with pytest.raises(HasDefined, match="define the same at all sites, and start them again"):
        own.refresh()
    again = OwnRegistry(deployment.log, "oslo")
    assert again.vocabulary.of(("rent",)).terms.keys() == {"cheap"}


def test_a_link_that_lost_entries_says_so(tmp_path, links):
    oslo = Place(tmp_path, links, "oslo", ["bergen"], CHEAP)
    rounds(oslo)
    oslo.start(["bergen"], json.loads(json.dumps(oslo.site.state())))
    with (
        closing(SqliteLog(tmp_path / "other.log")) as oslo.links,
        pytest.raises(LogUnavailable, match="the link lost entries: link_oslo_bergen was known"),
    ):
        rounds(oslo)


def run(*arguments):
    found = CliRunner().invoke(app, [*map(str, arguments)])
    return found.exit_code, found.output


def test_status_says_what_stands(tmp_path, links):
    oslo = Place(tmp_path, links, "oslo", ["bergen"], CHEAP)
    log = f"--log=sqlite:{tmp_path / 'oslo.log'}"
    assert json.loads(run("site", "status", log, "--json")[1]) == {
        "site": "oslo",
        "running": False,
        "links": {},
    }
    told = {"told": 0, "links": oslo.site.status()}
    change_json(oslo.log, STATUS, lambda known: told)
    [link] = json.loads(run("site", "status", log, "--json")[1])["links"].values()
    assert link["state"] == "not running"
    assert run("site", "status", "--log", f"sqlite:{tmp_path / 'links.log'}") == (
        2,
        "expected the log of a site, found none: `shortlist site join` makes it one\n",
    )


def test_names_that_cannot_be(tmp_path, links):
    place = Place(tmp_path, links, "oslo", ["bergen"], NOBODY)
    for name, neighbours, problem in (
        ("bergen", ["oslo"], "expected site 'oslo', which this log is of, found 'bergen'"),
        ("oslo", ["oslo"], "expected neighbours of 'oslo', found itself"),
        ("oslo", ["Bergen"], "expected a site's name of small letters and digits"),
        ("oslo", ["b", "b"], "expected neighbours, each once, found b, b"),
    ):
        with pytest.raises(ValueError, match=problem):
            join(place.log, name, neighbours)


def test_the_page_lists_every_metric(tmp_path):
    registry, metrics = CollectorRegistry(), LinkMetrics()
    registry.register(metrics)
    metrics.show({"b": dict.fromkeys([*COUNTED, *MEASURED], 0) | {"error": None, "aside": None}})
    made = {sample.name for family in registry.collect() for sample in family.samples}
    page = Path(__file__).parents[2] / "docs" / "sites.md"
    assert {*re.findall(r"^\| `(shortlist_link_\w+)`", page.read_text(), re.MULTILINE)} == made
