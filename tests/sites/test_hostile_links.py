"""A neighbour that writes what it likes: it loses its own link, and changes nothing else."""

import json
import re
from contextlib import closing
from random import Random
from threading import Thread
from time import time

import pytest
from typer.testing import CliRunner

from shortlist.cli.app import app
from shortlist.client.deployment import wait_for
from shortlist.client.keys import Holder, add_key, own_sources
from shortlist.intake.lines import ItemReader
from shortlist.log.base import INPUT, Entry
from shortlist.log.sqlite import SqliteLog
from shortlist.model.command import Retract
from shortlist.model.publication import Publication
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.overlay.site_broker import News, proxy_of
from shortlist.sites import link
from shortlist.sites.identity import join, site_status
from shortlist.sites.link import Exchanged, Sources
from shortlist.sites.own_registry import OwnRegistry
from shortlist.sites.running import Running, Wanted
from shortlist.sites.site import Site
from shortlist.sites.wire import Hello, Line, Sites, encoded, encoded_news, stream_of
from tests.sites.test_sites import CHEAP, Place, rounds

PUBLICATION = {"id": "e1", "source": "ads", "time": "2026-03-01T00:00:00Z", "data": {"rent": 80}}
AT = {"time": "2026-03-01T00:00:00Z"}
COMMANDS = [
    {"unsubscribe": "cheap"},
    {"subscribe": {"id": "evils", "where": "rent < 900"}},
    {"update": {"subscription": "cheap", "where": "rent > 99999999"}},
    {"open": {"id": "evils"}},
    {"close": "cheap"},
    {"advertise": {"id": "ad", "source": "ads", "k": 1}},
    {"unadvertise": "ad"},
    {"define": {"attribute": "rent", "terms": {"low": {"trapezoid": [None, None, 1, 2]}}}},
    {"retry": 1},
    {"drop": 1},
    {"heartbeat": True},
]


@pytest.fixture
def links(tmp_path):
    with closing(SqliteLog(tmp_path / "links.log")) as log:
        yield log


class Stormy(Place):
    """A site between a neighbour that is honest and one that may write anything."""

    def __init__(self, folder, links, sources=None):
        self.sources = sources or Sources()
        super().__init__(folder, links, "oslo", ["evil", "bergen"], CHEAP)

    def start(self, neighbours, state=None, skips=None):
        known = join(self.log, self.name, neighbours)
        own = OwnRegistry(self.log, self.name)
        self.site = Site(self.log, own, known, state, keep=10**9, sources=self.sources, skips=skips)

    def greeting(self):
        """What an honest neighbour would begin with."""
        mine = self.site._hello
        return [encoded(Hello("evil", "1" * 16, mine.basis, mine.vocabulary)), sites("evil")]

    def write(self, *contents):
        """Write entries as the neighbour `evil`."""
        self.links.append(stream_of("evil", "oslo"), contents)

    def lines(self):
        return [entry.content.decode() for entry in self.log.read(INPUT, 0)]


def sites(*names):
    return encoded(Sites(names))


def line(document, offset=1):
    return encoded(Line(offset, json.dumps(document)))


@pytest.fixture
def oslo(tmp_path, links):
    return Stormy(tmp_path, links)


@pytest.fixture
def bergen(tmp_path, links):
    return Place(tmp_path, links, "bergen", ["oslo"], CHEAP)


MALFORMED = [
    b"",
    b"null",
    b"[]",
    b"{}",
    b"\xff",
    b'{"line": 5, "at": 6}',
    b'{"line": "{}", "at": "6"}',
    b'{"line": "{}", "at": true}',
    b'{"line": "{}", "at": 6, "more": 1}',
    b'{"line": "\\ud800", "at": 6}',
    b'{"line": "[1]", "at": 6}',
    b'{"sites": "oslo"}',
    b'{"sites": [1]}',
    b'{"sites": ["evil", "evil"]}',
    b'{"sites": ["oslo"]}',
    b'{"sites": ["evil", "bergen"]}',
    b'{"hello": null}',
    b'{"hello": {"format": 2}}',
    b'{"hello": {"format": true, "site": "evil", "session": "", "basis": "event"}}',
    b'{"hello": {"format": 1, "site": 1, "session": 2, "basis": 3, "vocabulary": 4}}',
    b'{"hello": {"format": 1, "site": "tromso", "session": "", "basis": "", "vocabulary": ""}}',
    b'{"news": {"put": 1, "dropped": [], "since": null}}',
    b'{"news": {"put": [1], "dropped": [], "since": null}}',
    b'{"news": {"put": [{"id": 1}], "dropped": [], "since": null}}',
    b'{"news": {"put": [{"id": "bergen/0123", "where": "a = 1"}], "dropped": [], "since": null}}',
    b'{"news": {"put": [], "dropped": [1], "since": null}}',
    b'{"news": {"put": [], "dropped": [], "since": 1.5}}',
    b'{"news": {"put": [], "dropped": [], "since": 9223372036854775808}}',
    b'{"news": {"put": [], "dropped": []}}',
    b"[" * 100_000,
    *(line(command | AT) for command in COMMANDS),
    line(PUBLICATION | {"source": None}),
    encoded(Line(1, '{"id": "e1",\n"source": "ads", "time": "2026-03-01T00:00:00Z"}')),
    encoded(Line(1, '{"id": "e1", "source": "ads"}, {"id": "e2", "source": "ads"}')),
]


def test_what_means_nothing_sets_aside_that_link_alone(oslo, bergen):
    oslo.write(*oslo.greeting())
    rounds(oslo, bergen)
    expected, offset = [], 2
    for number, entry in enumerate(MALFORMED):
        oslo.write(line(PUBLICATION | {"id": f"before{number}"}), entry)
        oslo.write(line(PUBLICATION | {"id": f"after{number}"}))
        bergen.publish(f"b{number}", rent=800)
        rounds(oslo, bergen, count=1)
        evil = oslo.site.status()["evil"]
        assert evil["aside"] == offset + 2, entry
        place = f"set aside for entry {offset + 2} of link_evil_oslo: "
        assert re.match(place + ".*expected ", evil["error"]), entry
        assert len(evil["error"]) < 1_000
        assert "\n" not in evil["error"]
        assert oslo.site.status()["bergen"]["error"] is None
        rounds(bergen, oslo, count=1)
        expected += [f"before{number}", f"b{number}"]
        assert oslo.ids() == expected, (entry, "what came before, and over the other link")
        oslo.start(["evil", "bergen"], json.loads(json.dumps(oslo.site.state())))
        rounds(oslo, count=2)
        assert oslo.site.status()["evil"]["error"] == evil["error"], "a restart ends the same way"
        skips = {"evil": offset + 2}
        oslo.start(["evil", "bergen"], json.loads(json.dumps(oslo.site.state())), skips)
        rounds(oslo, count=2)
        assert oslo.site.status()["evil"]["error"] is None
        expected.append(f"after{number}")
        assert oslo.ids() == expected
        offset += 3


@pytest.mark.parametrize(
    ("sources", "source", "is_taken"),
    [
        (Sources(), "ads", True),
        (Sources(find_own=lambda: {"bank"}), "ads", True),
        (Sources(find_own=lambda: {"bank"}), "bank", False),
        (Sources({"evil": ["ads"]}), "ads", True),
        (Sources({"evil": ["ads"]}), "bank", False),
        (Sources({"evil": ["wire/*"]}), "wire/7", True),
        (Sources({"evil": ["wire/*"]}), "wires", False),
        (Sources({"bergen": ["ads"]}), "wires", True),
    ],
)
def test_a_link_speaks_for_its_sources_alone(tmp_path, links, sources, source, is_taken):
    oslo = Stormy(tmp_path, links, sources)
    published = PUBLICATION | {"source": source}
    retracted = AT | {"retract": {"source": source, "id": "e1"}}
    for number, document in enumerate((published, retracted)):
        oslo.write(*oslo.greeting(), line(document))
        rounds(oslo)
        assert len(oslo.lines()) == (number + 1 if is_taken else 0)
        error = oslo.site.links["evil"].error
        assert error is None if is_taken else "expected a source that evil may speak for" in error


def test_own_sources_are_those_of_publishers_keys(tmp_path):
    with closing(SqliteLog(tmp_path / "city.log")) as log:
        for name, role, owner in (
            ("bank's", "publisher", "bank"),
            ("any's", "publisher", None),
            ("anna's", "subscriber", "anna"),
        ):
            add_key(log, Holder(name, role, owner))
        assert own_sources(log) == {"bank"}


@pytest.mark.parametrize(
    "option", ["--sources=tromso=ads", "--sources=ads", "--sources=evil=", "--skip=evil=x"]
)
def test_options_of_a_stranger_are_refused(oslo, tmp_path, option):
    log, links = (f"sqlite:{tmp_path / name}.log" for name in ("oslo", "links"))
    words = ["site", "join", "oslo", "--neighbour=evil", f"--log={log}", f"--links={links}"]
    found = CliRunner().invoke(app, [*words, option])
    assert found.exit_code == 2
    assert "expected" in found.output


def test_one_that_writes_into_the_other_direction_ends_its_own_link(oslo, bergen):
    rounds(oslo, bergen)
    stranger = encoded(Hello("oslo", "2" * 16, "event", ""))
    for entry in (b"{}", stranger):
        oslo.links.append(stream_of("oslo", "evil"), [entry])
        oslo.site.work("evil")
        oslo.site.failed("evil", "its stream ends elsewhere than it thought")
        bergen.publish("b1", rent=800)
        rounds(oslo, bergen)
        assert "of link_oslo_evil: expected" in oslo.site.links["evil"].error
        assert oslo.site.links["bergen"].error is None
        oslo.site.links["evil"].aside = None
    assert "b1" in oslo.ids()


def test_long_streams_are_read_in_parts(oslo, bergen, monkeypatch):
    monkeypatch.setattr(link, "MAX_BYTES", 100)
    rounds(oslo, bergen, count=2)
    for number in range(9):
        bergen.publish(f"b{number}", rent=800)
        oslo.publish(f"o{number}", rent=800)
    rounds(oslo, bergen, count=12)
    published = {f"{place}{number}" for place in "bo" for number in range(9)}
    assert {*oslo.ids()} == {*bergen.ids()} == published
    oslo.start(["evil", "bergen"])
    rounds(oslo, bergen, count=30)
    assert len(oslo.ids()) == len(bergen.ids()) == 18, "each once"


class Watching:
    """Notes what a running site says of its links."""

    def __init__(self):
        self.links, self.failures = {}, []

    def started(self, site):
        pass

    def changed(self, links):
        self.links = links

    def failed(self, error, pause):
        self.failures.append(error)


def test_a_running_site_goes_on_with_its_other_links(oslo, bergen, tmp_path):
    rounds(oslo, bergen, count=1)
    links = f"sqlite:{tmp_path / 'links.log'}"
    neighbours = {"evil": links, "bergen": links}
    log = f"sqlite:{tmp_path / 'oslo.log'}"
    watching = Watching()
    running = Running(Wanted(name="oslo", log=log, neighbours=neighbours, keep=10**9), watching)
    thread = Thread(target=running.run)
    thread.start()
    try:
        oslo.write(line({"unsubscribe": "cheap"} | AT))
        assert wait_for(lambda: watching.links.get("evil", {}).get("aside") == 1, 20)
        bergen.publish("b1", rent=800)

        def is_here():
            rounds(bergen, count=1)
            return oslo.ids() == ["b1"]

        assert wait_for(is_here, 20)
        assert watching.links["bergen"]["error"] is None
        assert watching.failures == []
    finally:
        running.stop()
        thread.join(20)
    assert not thread.is_alive()
    assert site_status(oslo.log, time())["links"]["evil"]["state"] == "set aside"


def nested(levels):
    """A condition that cannot be written flat."""
    text = "a = 1"
    for level in range(levels):
        text = f"({text}) and b = {level}" if level % 2 else f"({text}) or a = {level}"
    return text


@pytest.mark.parametrize("levels", [129, 300, 3_000])
def test_a_condition_that_is_nested_deeply_sets_aside_its_link(oslo, bergen, levels):
    """Covering is decided recursively: 300 levels ended the process, at every start."""
    deep = proxy_of("evil", Subscription(id="x", where=nested(levels)), 0)
    oslo.write(*oslo.greeting(), *encoded_news(News((deep,), (), None)))
    rounds(oslo, bergen)
    assert "nested" in oslo.site.status()["evil"]["error"]
    bergen.publish("b1", rent=800)
    rounds(oslo, bergen)
    assert oslo.ids() == ["b1"]


def test_conditions_as_deep_as_sites_accept_are_told_on(oslo, bergen):
    deep = proxy_of("evil", Subscription(id="x", where=nested(64)), 0)
    oslo.write(*oslo.greeting(), *encoded_news(News((deep,), (), None)))
    rounds(oslo, bergen)
    assert oslo.site.status()["evil"]["error"] is None
    bergen.publish("b1", a=62, b=63)
    rounds(oslo, bergen)
    assert oslo.ids() == ["b1"]


def test_a_link_that_cannot_be_worked_on_ends_no_other(oslo, bergen, tmp_path, monkeypatch):
    work = Site.work

    def failing(site, name):
        exchange = work(site, name)
        if name == "evil":
            raise RecursionError("maximum recursion depth exceeded")
        return exchange

    monkeypatch.setattr(Site, "work", failing)
    links = f"sqlite:{tmp_path / 'links.log'}"
    wanted = Wanted(
        name="oslo",
        log=f"sqlite:{tmp_path / 'oslo.log'}",
        neighbours={"evil": links, "bergen": links},
        keep=10**9,
    )
    watching = Watching()
    running = Running(wanted, watching)
    thread = Thread(target=running.run)
    thread.start()
    try:
        bergen.publish("b1", rent=800)

        def is_here():
            rounds(bergen, count=1)
            return oslo.ids() == ["b1"] and watching.links.get("evil", {}).get("error")

        assert wait_for(is_here, 20)
        assert "RecursionError" in watching.links["evil"]["error"]
        assert watching.failures == []
    finally:
        running.stop()
        thread.join(20)


VALUES = [
    None,
    True,
    -1,
    2**63,
    1e308,
    "",
    "x" * 99,
    "\0",
    [],
    {},
    [[]],
    {"": None},
    ["oslo"],
    "oslo",
]


def honest(random, greeting):
    """An entry as a neighbour would write it."""
    where = random.choice(["rent < 900", "city = 'Oslo' or rent in (1, 2)", "a.b exists"])
    proxy = proxy_of(
        "evil", Subscription(id="s", where=where, score=random.choice(["1", "-rent"])), 0
    )
    news = News((proxy,), (f"evil/{random.randrange(9)}",), random.choice([None, 0, 10**15]))
    document = random.choice([PUBLICATION, *(command | AT for command in COMMANDS)])
    lines = [line(document), line(PUBLICATION | {"id": f"e{random.randrange(99)}"})]
    retract = line(AT | {"retract": {"source": "ads", "id": "e1"}})
    return random.choice([*greeting, *encoded_news(news), *lines, retract])


def mutated(random, content):
    """An entry of which bytes or values are others."""
    if random.random() < 0.5:
        changed, likely = bytearray(content), random.random() < 0.8
        for _ in range(random.randint(1, 8)):
            written = random.choice(b'0123456789abc {}[]",:') if likely else random.randrange(256)
            changed[random.randrange(len(changed))] = written
        return bytes(changed)
    document = json.loads(content)
    inner = None
    if "line" in document and random.random() < 0.7:
        inner = json.loads(document["line"])
    place = document if inner is None else inner
    while True:
        key = random.choice([*place] if isinstance(place, dict) else range(len(place)))
        if place[key] and isinstance(place[key], dict | list) and random.random() < 0.6:
            place = place[key]
            continue
        break
    match random.randrange(3):
        case 0:
            place[key] = random.choice(VALUES)
        case 1 if isinstance(place, dict):
            place[random.choice(["at", "put", "since", "unsubscribe", "id", "source"])] = place[key]
        case _:
            del place[key]
    if inner is not None:
        document["line"] = json.dumps(inner)
    return json.dumps(document).encode()


def bergen_of(site):
    """What a site knows of its other neighbour, and what its own registry has."""
    status = site.status()["bergen"]
    known = {name: status[name] for name in ("error", "aside", "sites", "behind", "received")}
    return known, [*site._own.proxies()]


def check_mutated(folder, links, seeds):
    """Write one entry after the other; how many were taken, and how many set the link aside."""
    oslo = Stormy(folder, links, Sources({"evil": ["ads"]}))
    reader = ItemReader(Vocabulary())
    oslo.site.refresh()
    before = bergen_of(oslo.site)
    taken = aside = end = 0
    for number, seed in enumerate(seeds):
        random = Random(seed)
        content = mutated(random, honest(random, oslo.greeting()))
        site = oslo.site
        site.links["evil"].read = number
        site.work("evil")
        site.took("evil", Exchanged([], number, [Entry(number + 1, 0, content)], False, 0))
        evil = site.links["evil"]
        site.admit()
        aside += evil.aside is not None
        taken += evil.aside is None
        assert evil.read == (number if evil.aside else number + 1), (seed, content)
        evil.aside = evil.disagreement = None
        for entry in oslo.log.read(INPUT, end):
            end = entry.offset
            item = reader.line(entry.content, end)
            assert isinstance(item, Publication | Retract), (seed, content)
            assert item.source == "ads", (seed, content)
        site.refresh()
        assert bergen_of(site) == before, (seed, content)
        if number % 100 == 99:
            site.work("bergen")
            oslo.start(["evil", "bergen"], json.loads(json.dumps(site.state())))
            # what it knows by now is not what is tested, and would take longer and longer
            oslo.start(["evil", "bergen"])
            oslo.site.refresh()
    return taken, aside


def test_some_that_were_changed(tmp_path, links):
    taken, aside = check_mutated(tmp_path, links, range(400))
    assert taken > 20
    assert aside > 200


@pytest.mark.soak
def test_many_that_were_changed(tmp_path, links):
    print(check_mutated(tmp_path, links, range(1_000, 21_000)))
