"""Three sites in one process, whose every step may fail or be the last before a crash."""

import json
from datetime import timedelta
from random import Random

from shortlist.engine.replay import read_items, replay
from shortlist.intake.files import registry_from_documents
from shortlist.intake.roster import Roster, registry_commands
from shortlist.live.driver import Driver, begin
from shortlist.live.here import run_here
from shortlist.live.log_stream import LogStream
from shortlist.live.outlets import LogOutlet
from shortlist.live.places import announce, files_in
from shortlist.log.base import DELIVERIES, INPUT, REJECTS, LogUnavailable
from shortlist.log.sqlite import SqliteLog
from shortlist.model.command import Command, Retract
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.model.times import format_time
from shortlist.sites.identity import join
from shortlist.sites.link import exchange
from shortlist.sites.own_registry import OwnRegistry
from shortlist.sites.site import Site
from shortlist.sites.wire import stream_of
from tests import strategies as draw
from tests.live.streams import run_batch
from tests.strategies import SECOND, START, seeded

LINKS = {"oslo": ["bergen"], "bergen": ["oslo", "tromso"], "tromso": ["bergen"]}
LATENESS = 60 * SECOND
SETTINGS = Settings(lateness=timedelta(microseconds=LATENESS))
END = START + 3_000 * SECOND


class Crash(Exception):
    """The process of a site ends here."""


class Failing:
    """A log that fails now and then, before or after it did what it was asked for."""

    def __init__(self, log, chance, error):
        self._log, self._chance, self._error = log, chance, error
        self.is_out = False

    def __getattr__(self, name):
        return getattr(self._log, name)

    def append(self, *arguments, **options):
        self._perhaps()
        end = self._log.append(*arguments, **options)
        self._perhaps()
        return end

    def end(self, stream):
        self._perhaps()
        return self._log.end(stream)

    def _perhaps(self):
        if self.is_out or self._chance():
            raise self._error("out of reach")


class Home:
    """A site with its log and its deployment; the site's process may end at any step."""

    def __init__(self, folder, name, registry, links, chance, settings):
        self.name, self.links, self.chance = name, links, chance
        self.log = SqliteLog(folder / f"{name}.log")
        self.folder = folder / f"{name}.state"
        files = files_in(self.folder)
        begin(self.log, files, registry, 1, settings)
        announce(self.log, self.folder)
        driver = Driver(self.log, files, settings, run_here, LogOutlet(self.log))
        self.stream = LogStream(self.log, driver, 40_000, lambda *_: None)
        self.saved = None
        self.crashes = self.failures = 0
        self.start()

    def start(self):
        known = join(self.log, self.name, LINKS[self.name])
        log = Failing(self.log, lambda: self.chance() < 0.02, Crash)
        own = OwnRegistry(self.log, self.name)
        self.site = Site(log, own, known, self.saved, keep=3_600 * SECOND)

    def crash(self, forgets=False):
        self.crashes += 1
        self.saved = None if forgets else self.saved
        self.start()

    def step(self, action):
        """Something that a site's process does; whether it did anything."""
        try:
            match action:
                case "read":
                    return self.site.advance()
                case "refresh":
                    self.site.refresh()
                case "save":
                    self.site.admit()
                    self.saved = json.loads(json.dumps(self.site.state()))
                case "admit":
                    self.site.admit()
                case neighbour:
                    return self.exchange(neighbour)
        except Crash:
            self.crash()
        return False

    def exchange(self, neighbour):
        work = self.site.work(neighbour)
        out, into = stream_of(self.name, neighbour), stream_of(neighbour, self.name)
        try:
            done = exchange(self.links[frozenset((self.name, neighbour))], out, into, work)
        except LogUnavailable as error:
            self.failures += 1
            self.site.failed(neighbour, str(error))
            return True
        return self.site.took(neighbour, done)


class Story:
    """A registry whose shortlists live at sites, and what is said at each of them, in order of
    time; no two lines are of one instant, and no command is refused."""

    def __init__(self, seed, most=60):
        self._random, pick = Random(seed), seeded(seed)
        self._homes = {}
        self.registry = self._registry(pick)
        self.lines = [*self._said(pick, most)]

    def _registry(self, pick):
        return registry_from_documents(draw.registry(pick, advertised=False))

    def part(self, site):
        """Of the registry, what lives at a site."""
        return Registry(
            vocabulary=self.registry.vocabulary,
            shortlists=tuple(s for s in self.registry.shortlists if self._home(s.id) == site),
            subscriptions=tuple(
                s for s in self.registry.subscriptions if self._home(s.shortlist_id) == site
            ),
        )

    def central(self, lateness=LATENESS):
        """Delivery lines of one deployment that has everything, up to the end."""
        lines = [*(line for _, line in self.lines), end_of_time(lateness)]
        result = replay(self.registry, lines, Settings(lateness=timedelta(microseconds=lateness)))
        assert not result.rejects
        return [
            json.dumps(each.document(), ensure_ascii=False)
            for each in result.deliveries
            if each.time < END
        ]

    def _home(self, name):
        """Of a shortlist or a source."""
        return self._homes.setdefault(name, self._random.choice([*LINKS]))

    def _said(self, pick, most):
        roster = Roster(self.registry.vocabulary)
        for command in registry_commands(self.registry):
            roster.apply(command)
        now = START
        for number in range(most):
            now += int(pick([0.1, 0.5, 1, 3]) * SECOND)
            if pick([True, True, False]):
                document = draw.publication(pick, now, number) | {"id": f"p{number}"}
                if pick([False] * 7 + [True]):
                    document["replaces"] = draw.recent(pick, number)
                yield self._home(document["source"]), json.dumps(document)
                continue
            line = json.dumps(draw.command(pick, now, number))
            if "advertise" in line:
                continue
            [[command], _] = read_items(self.registry, [line], Settings())
            if not isinstance(command, Command) or roster.refusal(command) is not None:
                continue
            if isinstance(command, Retract):
                yield self._home(command.source), line
                continue
            yield self._home(roster.shortlist_of(command)), line
            roster.apply(command)


class OrderlessStory(Story):
    """One of which no delivery depends on order or time: everyone gets every match, and nobody
    changes anything."""

    def _registry(self, pick):
        document = draw.registry(pick, advertised=False)
        for noun in (*document.get("shortlists", ()), *document.get("subscriptions", ())):
            noun.pop("policy", None)
        return registry_from_documents(document)

    def _said(self, pick, most):
        for site, line in super()._said(pick, most):
            document = json.loads(line)
            if "id" in document:
                for field in ("expirytime", "replaces"):
                    document.pop(field, None)
                yield site, json.dumps(document)


def end_of_time(lateness):
    """A heartbeat after which everything up to the end has happened."""
    return json.dumps({"time": format_time(END + lateness), "heartbeat": True})


def delivered(logs):
    return [entry.content.decode() for log in logs for entry in log.read(DELIVERIES, 0)]


def rejected(logs):
    """Why the deployments of sites have turned something away."""
    return [json.loads(entry.content)["reason"] for log in logs for entry in log.read(REJECTS, 0)]


class World:
    """Three sites in a row, and what one central deployment makes of the same."""

    def __init__(self, folder, story, seed, settings=SETTINGS):
        self.random = Random(seed)
        self.story = story
        self.is_calm = False
        self.log = SqliteLog(folder / "links.log")
        self.cuts = {
            frozenset(pair): Failing(self.log, lambda: self.chance() < 0.05, LogUnavailable)
            for pair in (("oslo", "bergen"), ("bergen", "tromso"))
        }
        self.homes = {
            name: Home(folder, name, story.part(name), self.cuts, self.chance, settings)
            for name in LINKS
        }

    def close(self):
        self.log.close()
        for home in self.homes.values():
            home.log.close()

    def chance(self):
        return 1.0 if self.is_calm else self.random.random()

    def run(self):
        """Everything is published while sites and links fail; then all comes to its end."""
        for number, (name, line) in enumerate(self.story.lines):
            self.homes[name].log.append(INPUT, [line.encode()])
            for _ in range(self.random.randrange(12)):
                self.happen()
            if number % 10 == 9:
                self.settle()
        self.settle()
        self.is_calm = True
        self.settle()
        for home in self.homes.values():
            home.log.append(INPUT, [end_of_time(LATENESS).encode()])
            run_batch(home.stream)

    def happen(self):
        home = self.random.choice([*self.homes.values()])
        match self.random.randrange(40):
            case 0:
                home.crash(forgets=self.random.random() < 0.3)
            case 1:
                cut = self.random.choice([*self.cuts.values()])
                cut.is_out = not cut.is_out
            case 2 | 3 | 4 | 5:
                run_batch(home.stream)
            case _:
                home.step(
                    self.random.choice(["read", "refresh", "save", "admit", *LINKS[home.name]])
                )

    def settle(self):
        """Links are mended, and all that was published goes where it has to go."""
        for cut in self.cuts.values():
            cut.is_out = False
        quiet = 0
        while quiet < 4:
            is_busy = False
            for home in self.homes.values():
                while run_batch(home.stream):
                    pass
                before = home.log.end(INPUT)
                for action in ("read", "refresh", "admit", *LINKS[home.name], "admit", "save"):
                    is_busy |= home.step(action)
                is_busy |= home.log.end(INPUT) > before
            quiet = 0 if is_busy else quiet + 1

    @property
    def logs(self):
        return [home.log for home in self.homes.values()]
