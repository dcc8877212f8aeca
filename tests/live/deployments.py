"""Deployments in this process: the steps of a micro-batch without Spark."""

import tempfile

import pyarrow as pa

from shortlist.engine.arrow import rows
from shortlist.engine.replay import replay
from shortlist.live.driver import Driver, begin
from shortlist.live.files import Files
from shortlist.live.folder_registers import FolderRegisters
from shortlist.spark.ingest import ReadLines


class Kept:
    """An outlet that keeps what it gets, and checks that repeating says the same."""

    def __init__(self):
        self.deliveries, self.refusals = [], []

    def deliver(self, before, deliveries):
        self._put(self.deliveries, before, deliveries.column("line").to_pylist())

    def reject(self, before, refusals):
        found = zip(refusals["position"].to_pylist(), refusals["reason"].to_pylist(), strict=True)
        self._put(self.refusals, before, [*found])

    @staticmethod
    def _put(kept, before, more):
        assert kept[before:] == more[: len(kept) - before]
        kept[before:] = more


class Deployment:
    """One that can be stopped and started again at will."""

    def __init__(self, registry, settings, shards):
        folder = tempfile.mkdtemp()
        self.files, self.registers = (
            Files(f"{folder}/files"),
            FolderRegisters(f"{folder}/registers"),
        )
        self.registry, self.settings, self.outlet = registry, settings, Kept()
        begin(self.registers, self.files, registry, shards)
        self.start()

    def start(self):
        self.driver = Driver(
            self.registers, self.files, self.settings, self.everywhere, self.outlet
        )

    def everywhere(self, task, works):
        return [task(work) for work in works]

    def read(self, numbered):
        """Lines with their positions, as rows of ITEMS."""
        task = ReadLines(
            vocabulary=self.registry.vocabulary,
            settings=self.settings,
            tabular=False,
            commands=True,
        )
        table = pa.table(
            {
                "position": pa.array([position for position, _ in numbered], pa.int64()),
                "line": pa.array([line.encode() for _, line in numbered], pa.binary()),
            }
        )
        return [*rows(task(table.to_batches()))]

    def run(self, numbered, last=False):
        return self.driver.run_batch(self.read(numbered), last=last)


def expected(registry, lines, settings):
    """Delivery lines and refusals of the same input through the engine."""
    import json

    result = replay(registry, lines, settings)
    deliveries = [json.dumps(each.document(), ensure_ascii=False) for each in result.deliveries]
    return deliveries, [(each.position, each.reason) for each in result.rejects]


def numbered(lines):
    return [*enumerate(lines, start=1)]
