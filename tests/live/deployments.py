"""Deployments in this process: the steps of a micro-batch without Spark."""

import json
import shutil
import tempfile
import weakref
from pathlib import Path

from shortlist.engine.deliveries import lines
from shortlist.engine.replay import replay
from shortlist.intake.files import registry_from_documents
from shortlist.live.driver import Driver, begin
from shortlist.live.files import Files
from shortlist.live.outlets import LogOutlet
from shortlist.live.rescaling import rescale
from shortlist.live.savepoint import export, restore
from shortlist.log.sqlite import SqliteLog
from shortlist.model.settings import Settings
from tests.strategies import cuts, registry, seeded, timeline


class Kept(LogOutlet):
    """Keeps what goes to the log, and checks that repeating says the same."""

    def __init__(self, log):
        super().__init__(log)
        self.deliveries, self.refusals, self.departures, self.before = [], [], [], None

    def depart(self, before, departures):
        self._keep(self.departures, before, departures.column("line").to_pylist())
        super().depart(before, departures)

    def all(self):
        """Deliveries and refusals, those of logs that came before included."""
        earlier = self.before.all() if self.before else ([], [])
        return earlier[0] + self.deliveries, earlier[1] + self.refusals

    def deliver(self, before, deliveries):
        self._keep(self.deliveries, before, lines(deliveries, with_data=True).to_pylist())
        super().deliver(before, deliveries)

    def reject(self, before, refusals):
        found = zip(refusals["position"].to_pylist(), refusals["reason"].to_pylist(), strict=True)
        self._keep(self.refusals, before, [*found])
        super().reject(before, refusals)

    @staticmethod
    def _keep(kept, before, more):
        assert kept[before:] == more[: len(kept) - before]
        kept[before:] = more


class Deployment:
    """One that can be stopped and started again at will."""

    def __init__(self, registry, settings, shards, *, with_departures=False):
        self.registry, self.settings = registry, settings
        self.with_departures = with_departures
        self._settle()
        begin(self.registers, self.files, registry, shards, settings)
        self.start()

    def _settle(self):
        self.folder = self.room()
        self.files = Files(self.folder / "files")
        self.registers = SqliteLog(self.folder / "log.db")
        self.outlet = Kept(self.registers)

    def room(self):
        """A folder that is removed with the deployment."""
        folder = tempfile.mkdtemp(prefix="shortlist-test-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    def start(self):
        self.driver = Driver(
            self.registers,
            self.files,
            self.settings,
            self.everywhere,
            self.outlet,
            with_departures=self.with_departures,
        )

    def rescale(self, shards):
        rescale(self.registers, self.files, shards, self.settings.limits)
        self.start()

    def move(self):
        """To another log and another folder; what was delivered stays where it is."""
        savepoint = self.folder / "savepoint.zip"
        export(self.registers, self.files, savepoint)
        delivered = self.outlet
        self._settle()
        restore(savepoint, self.registers, self.files)
        self.start()
        self.outlet.before = delivered

    def everywhere(self, task, works):
        return [task(work) for work in works]

    def read(self, numbered):
        """Lines with their positions and, perhaps, when a log took them, as items."""
        positions, texts, *appended = zip(*numbered, strict=True) if numbered else ((), ())
        contents = [text.encode() for text in texts]
        return self.driver.read_task().items(positions, contents, *appended)[0]

    def run(self, numbered, last=False):
        return self.driver.run_batch(self.read(numbered), last=last)

    def run_all(self, pick, batches):
        """Every batch to the end; in between it is started again, rescaled or moved."""
        for batch in batches:
            self.run(batch)
            match pick([None, None, None, "restart", "rescale", "move"]):
                case "restart":
                    self.start()
                case "rescale":
                    self.rescale(pick([1, 2, 3]))
                case "move":
                    self.move()
        self.run([], last=True)


def drawn(pick):
    """A registry, settings and the lines of a timeline."""
    made = registry_from_documents(registry(pick))
    settings = Settings(
        lateness=pick([None, 0, 0, "1s"]),
        advertised=pick(["optional", "optional", "required"]),
    )
    return made, settings, timeline(pick, 40)


def expected(registry, texts, settings):
    """Delivery lines and refusals of the same input through the engine."""
    result = replay(registry, texts, settings)
    deliveries = [json.dumps(each.document(), ensure_ascii=False) for each in result.deliveries]
    return deliveries, [(each.position, each.reason) for each in result.rejects]


def numbered(lines):
    return [*enumerate(lines, start=1)]


def check_seeds(seeds, kind=Deployment):
    """Drawn deployments deliver and refuse what one engine does, however their input is cut."""
    for seed in seeds:
        pick = seeded(seed)
        made, settings, lines = drawn(pick)
        deployment = kind(made, settings, shards=pick([1, 2, 3]))
        deployment.run_all(pick, cuts(pick, numbered(lines)))
        deliveries, refusals = expected(made, lines, settings)
        found = deployment.outlet.all()
        assert found[0] == deliveries, seed
        assert sorted(found[1]) == refusals, seed
