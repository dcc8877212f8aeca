"""What the engine fails on goes to a quarantine, whatever stands beside it, and can be let out."""

import json

import pytest

from shortlist.engine.inducements import Inducements
from shortlist.engine.shard import Shard
from shortlist.intake.files import registry_from_documents
from shortlist.intake.roster import Roster
from shortlist.live.driver import Driver
from shortlist.live.lanes import WorkersEnded
from shortlist.live.outlets import LogOutlet
from shortlist.live.places import announce
from shortlist.live.replaying import compare
from shortlist.live.tables import REFUSALS, items_of_bytes, table_of
from shortlist.log.base import INPUT
from shortlist.log.sqlite import SqliteLog
from shortlist.model.items import COMMAND
from shortlist.model.settings import Settings
from tests.cli.programs import answer, shortlist
from tests.live.deployments import Deployment, expected, numbered
from tests.live.test_driver_faults import EVERYTHING, at, beat, made, publications
from tests.strategies import cuts, registry, seeded, timeline


class Poison:
    """The positions of items that no engine can take: in shards, or before they come to those."""

    def __init__(self, monkeypatch):
        self.positions, self.in_admission = set(), set()
        self._fails(monkeypatch, Shard, "_arrive", lambda shard, items, *_: items.positions)
        self._fails(monkeypatch, Shard, "_carry_out", lambda shard, command: [command.position])
        of = self._fails(monkeypatch, Inducements, "of", lambda found, items: items.positions)
        of.where = self.in_admission
        refusal = self._fails(monkeypatch, Roster, "refusal", lambda _, command: [command.position])
        refusal.where = self.in_admission

    def _fails(self, monkeypatch, kind, name, positions_of):
        does = getattr(kind, name)

        def fails(*arguments):
            harmful = {*map(int, positions_of(*arguments))} & fails.where
            if harmful:
                raise ArithmeticError(f"{min(harmful)} is poison")
            return does(*arguments)

        fails.where = self.positions
        monkeypatch.setattr(kind, name, fails)
        return fails


@pytest.fixture
def poison(monkeypatch):
    return Poison(monkeypatch)


def without(lines, aside):
    """The same lines without some: in place of a publication one that is dead, so that its id is
    taken; in place of a command the time alone."""
    for position, line in enumerate(lines, start=1):
        document = json.loads(line) if position in aside else {}
        if "id" in document:
            document.pop("replaces", None)
            yield json.dumps(document | {"expirytime": document["time"]})
        elif document:
            yield json.dumps({"time": document["time"], "heartbeat": True})
        else:
            yield line


@pytest.mark.parametrize("seed", range(4))
def test_everything_else_is_as_without_it(poison, seed):
    """In whatever batches and shards it comes."""
    pick = seeded(seed)
    known, lines = registry_from_documents(registry(pick)), timeline(pick, 40)
    poison.positions.update(pick(range(1, 41)) for _ in range(6))
    poison.in_admission.update(pick(range(1, 41)) for _ in range(3))
    found = []
    for shards in (1, 3):
        deployment = Deployment(known, Settings(lateness=0), shards)
        for batch in cuts(pick, numbered(lines)):
            deployment.run(batch)
            pick([deployment.start, lambda: None])()
        deployment.run([], last=True)
        held = deployment.driver._admission.quarantine
        assert {*held} <= poison.positions | poison.in_admission
        assert all("is poison" in item.reason for item in held.values())
        assert deployment.driver.manifest.quarantined == len(held)
        delivered, refused = deployment.outlet.all()
        found.append((sorted(held), delivered, sorted(refused)))
    assert found[0] == found[1]
    aside, delivered, refused = found[0]
    poison.positions.clear()
    poison.in_admission.clear()
    deliveries, refusals = expected(known, [*without(lines, aside)], Settings(lateness=0))
    assert delivered == deliveries
    assert [each for each in refused if "is poison" not in each[1]] == sorted(refusals)


def test_a_hundred_in_a_batch(poison):
    deployment = made()
    lines = [at(second, f"n{second}") for second in range(1, 201)]
    poison.positions.update(range(51, 151))
    deployment.run([*numbered(lines), (201, beat(201))])
    assert deployment.driver.manifest.quarantined == 100
    assert publications(deployment.outlet.deliveries) == [
        f"n{n}" for n in range(1, 201) if not 51 <= n <= 150
    ]


def test_chance_puts_nothing_aside(monkeypatch):
    """What fails now and then does not fail three times with one item, and not without it."""
    deployment, times = made(), iter([True, False, True] + [False] * 100)
    arrive = Shard._arrive

    def fails(*arguments):
        if next(times):
            raise ArithmeticError("by chance")
        return arrive(*arguments)

    monkeypatch.setattr(Shard, "_arrive", fails)
    deployment.run([(1, at(1, "x")), (2, at(2, "y")), (3, beat(3))])
    assert deployment.driver.manifest.quarantined == 0
    assert publications(deployment.outlet.deliveries) == ["x", "y"]


def subscribe(second, name):
    time = json.loads(at(second, ""))["time"]
    return json.dumps({"time": time, "subscribe": {"id": name}})


def release(second, verb, position):
    return json.dumps({"time": json.loads(at(second, ""))["time"], verb: position})


class Judged:
    """A deployment on a log whose deliveries and rejects a batch can be compared with."""

    def __init__(self, settings=None):
        self.deployment = Deployment(
            registry_from_documents(EVERYTHING), settings or Settings(lateness=0), 2
        )
        self.log = self.deployment.registers
        announce(self.log, self.deployment.folder)
        self.deployment.outlet = LogOutlet(self.log)
        self.start()

    def start(self):
        one = self.deployment
        one.driver = Driver(self.log, one.files, one.settings, one.everywhere, one.outlet)

    def take(self, *lines):
        """Appends lines, and reads them."""
        self.log.append(INPUT, [line.encode() for line in lines])
        driver = self.deployment.driver
        entries = [*self.log.read(INPUT, driver.manifest.position)]
        offsets, appended, contents = zip(*entries, strict=True)
        driver.run_batch(driver.read_task().items(offsets, contents, appended)[0])

    def entries(self, stream):
        return [json.loads(entry.content) for entry in self.log.read(stream, 0)]

    @property
    def held(self):
        return [*self.deployment.driver._admission.quarantine]

    def delivered(self):
        return [
            (each["shortlist"], each["publication"], each["time"][17:19])
            for each in self.entries("deliveries")
        ]

    def check(self):
        """That a batch over the log says the same."""
        one = self.deployment
        found = compare(self.log, one.driver.manifest, one.registry, one.settings)
        assert found.differences == []


def test_what_is_tried_again_arrives_anew(poison):
    judged = Judged()
    poison.positions.update({1, 2})
    judged.take(at(1, "x"), subscribe(2, "more"), at(3, "y"), beat(4))
    assert judged.held == [1, 2]
    assert judged.delivered() == [("all", "y", "03")]
    poison.positions.clear()
    judged.take(at(4, "x"), release(5, "retry", 2), release(6, "retry", 1), beat(7))
    assert judged.held == []
    assert judged.delivered()[1:] == [("all", "x", "06"), ("more", "x", "06")]
    assert [each["reason"] for each in judged.entries("rejects")] == [
        "quarantined: ArithmeticError: 1 is poison",
        "quarantined: ArithmeticError: 2 is poison",
        "duplicate",
    ]
    counts = judged.deployment.driver.manifest.counts
    assert {name: counts[name] for name in ("published", "commands")} == {
        "published": 2,
        "commands": 1,
    }
    judged.check()


def test_nothing_is_let_out_twice(poison):
    judged = Judged()
    poison.positions.update({1, 2})
    judged.take(at(1, "x"), at(2, "y"), beat(3))
    judged.start()
    poison.positions.clear()
    judged.take(*[release(4, "retry", 1)] * 3, *[release(4, "drop", 2)] * 2, beat(5))
    judged.take(release(6, "retry", 2), release(6, "drop", 7), beat(7))
    assert judged.held == []
    assert judged.delivered() == [("all", "x", "04")]
    reasons = [each["reason"] for each in judged.entries("rejects")][2:]
    assert reasons == [
        "1 is not in quarantine",
        "1 is not in quarantine",
        "2 is not in quarantine",
        "2 is not in quarantine",
        "7 is not in quarantine",
    ]
    judged.check()


def test_what_fails_again_is_put_aside_again(poison):
    """Under the position at which it came again, with the line that it was."""
    judged = Judged()
    poison.positions.update({1, 2, 4, 5})
    judged.take(at(1, "x"), subscribe(2, "more"), beat(3))
    judged.take(release(4, "retry", 1), release(4, "retry", 2), beat(5))
    assert judged.held == [4, 5]
    poison.positions.clear()
    judged.start()
    judged.take(release(6, "retry", 5), release(7, "retry", 4), beat(8))
    assert judged.delivered() == [("all", "x", "07"), ("more", "x", "07")]
    judged.check()


def test_it_moves_with_the_state(poison):
    deployment = made()
    poison.positions.update({1, 2})
    deployment.run([(1, at(1, "x")), (2, subscribe(2, "more")), (3, beat(3))])
    deployment.rescale(3)
    deployment.move()
    poison.positions.clear()
    deployment.run([(4, release(4, "retry", 1)), (5, beat(5))])
    assert publications(deployment.outlet.deliveries) == ["x"]
    assert [*deployment.driver._admission.quarantine] == [2]


def test_a_basis_of_arrivals(poison):
    """What is tried again is of the time at which it is."""
    judged = Judged(Settings(time="arrival"))
    poison.positions.add(1)
    judged.take('{"id": "x", "source": "s"}')
    judged.take(beat(1))
    poison.positions.clear()
    judged.take('{"retry": 1}')
    judged.take(beat(1))
    assert [each[:2] for each in judged.delivered()] == [("all", "x")]
    judged.check()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("1", "retry: expected the position of an entry, found '1'"),
        (0, "retry: expected the position of an entry, found 0"),
        (True, "retry: expected the position of an entry, found true"),
        (2**70, "retry: expected the position of an entry, found 1"),
        ([1], "retry: expected the position of an entry, found [1]"),
    ],
)
def test_other_lines_are_refused(content, words):
    judged = Judged()
    judged.take(release(1, "retry", content), beat(2))
    (reject,) = judged.entries("rejects")
    assert reject["reason"].startswith(words)


def test_the_program_lists_it_and_lets_it_out(poison):
    judged = Judged()
    url = f"sqlite:{judged.deployment.folder}/log.db"
    poison.positions.update({1, 2, 3})
    judged.take(at(1, "x"), subscribe(2, "more"), at(3, "y"), beat(4))
    listed = shortlist("quarantine", log=url)
    assert listed.exit_code == 0
    assert "1  ArithmeticError: 1 is poison" in listed.stdout
    assert listed.stdout.splitlines()[-1] == "3 in quarantine"
    lines = shortlist("quarantine", "3", "--json", log=url).stdout.splitlines()
    assert [json.loads(line)["line"] for line in lines] == [at(3, "y")]
    status = answer("status", log=url)
    assert status["quarantined"] == 3
    assert "3 in quarantine (shortlist quarantine)" in status["warnings"]
    poison.positions.clear()
    time = ["--time", "1970-01-01T00:00:06Z"]
    shortlist("quarantine", "--retry", "1", *time, log=url)
    shortlist("quarantine", "--drop", "--all", *time, log=url)
    judged.take(beat(8))
    assert judged.held == []
    assert judged.delivered() == [("all", "x", "06")]
    assert "0 in quarantine" in shortlist("quarantine", log=url).stdout


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--retry", "--drop", "1"], "expected --retry or --drop, found both"),
        (["--all", "1", "--drop"], "expected POSITIONS or --all, found both"),
        (["--retry"], "expected POSITIONS or --all"),
        (["--retry", "9"], "9 is not in quarantine"),
    ],
)
def test_the_program_says_what_it_expects(words, problem):
    judged = Judged()
    done = shortlist("quarantine", *words, log=f"sqlite:{judged.deployment.folder}/log.db")
    assert done.exit_code == 2
    assert problem in done.stderr


def test_commands_that_are_put_aside_are_commands(poison):
    deployment = made()
    poison.positions.add(1)
    items = deployment.read([(1, subscribe(1, "more")), (2, beat(2))])
    assert items.kinds[0] == COMMAND
    deployment.driver.run_batch(items)
    assert [*deployment.driver._admission.quarantine] == [1]
    assert deployment.driver.subscriptions == 1


def test_an_item_that_ends_workers_is_put_aside():
    """Again and again, as a fault of the machine would not."""
    deployment = made()

    def everywhere(task, works):
        taken = [
            items_of_bytes(deployment.files.read(w.taken.items.name)) for w in works if w.taken
        ]
        if any(2 in items.positions for items in taken):
            raise WorkersEnded("workers ended 3 times")
        return [task(work) for work in works]

    deployment.everywhere = everywhere
    deployment.start()
    deployment.run([(1, at(1, "x")), (2, at(2, "y")), (3, at(3, "z")), (4, beat(4))])
    assert [*deployment.driver._admission.quarantine] == [2]
    assert publications(deployment.outlet.deliveries) == ["x", "z"]


class Narrow(SqliteLog):
    """As a server of NATS, which takes only so much at once."""

    longest = 5000

    def append(self, stream, contents, **more):
        if stream != INPUT and max(map(len, contents)) > self.longest:
            raise ValueError("expected at most 5000 bytes at once")
        return super().append(stream, contents, **more)


def test_output_that_a_log_could_never_take_is_shortened(tmp_path):
    """A reject may be longer than its line: quotes are escaped in it."""
    log = Narrow(tmp_path / "narrow.log")
    quotes = '"' * 4000
    refusals = table_of([(7, quotes, "not JSON", "unreadable")], REFUSALS)
    for _ in range(2):
        LogOutlet(log).reject(0, refusals)
    (entry,) = log.read("rejects", 0)
    document = json.loads(entry.content)
    assert document["position"] == "7"
    assert document["line"] == f"{quotes[:1000]}…"
