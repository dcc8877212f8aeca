"""Deployments in this process whose log holds everything, so that it can be judged."""

import json
import os
import shutil

from shortlist.intake.files import registry_from_documents
from shortlist.live.files import Files
from shortlist.live.outlets import LogOutlet
from shortlist.log.base import DELIVERIES, INPUT, REJECTS
from shortlist.log.sqlite import SqliteLog
from shortlist.model.settings import Settings
from tests.faults.verdicts import verdict
from tests.live.deployments import Deployment
from tests.strategies import registry, seeded

SETTINGS = Settings(lateness=0)
LESS_THAN_A_FRAME = 4000
"""Bytes: so little is missing of a transaction at the end of SQLite's -wal file."""


class LoggedDeployment(Deployment):
    """Reads its log when it is told to."""

    def __init__(self, seed):
        self.pick = seeded(seed)
        super().__init__(registry_from_documents(registry(self.pick)), SETTINGS, shards=2)
        self.sent = []
        self._named = set()
        """Files of manifests that are, or may again be, the last one."""

    def start(self):
        self.outlet = LogOutlet(self.registers)
        super().start()

    def send(self, lines):
        self.sent += [line.encode() for line in lines]
        self.registers.append(INPUT, [line.encode() for line in lines])

    def step(self, last=False):
        """Reads what it has not read yet."""
        self._named = {*self.driver.manifest.files}
        unread = self.registers.read(INPUT, self.driver.manifest.position)
        self.run([(entry.offset, entry.content.decode()) for entry in unread], last)
        self._named |= {*self.driver.manifest.files}

    def lose_power(self, random):
        """Goes on with what a disk has at this moment, less the end of what was written last."""
        place = self.room() / "after"
        shutil.copytree(self.folder, place, ignore=shutil.ignore_patterns("*-shm"))
        self.folder, self.files = place, Files(place / "files")
        tear(place / "log.db-wal", random)
        for path in self.files.folder.iterdir():
            if path.name not in self._named:
                tear(path, random)
        self.registers = SqliteLog(place / "log.db")
        self.start()

    def delivered(self):
        return [entry.content.decode() for entry in self.registers.read(DELIVERIES, 0)]

    def rejects(self):
        return [json.loads(entry.content) for entry in self.registers.read(REJECTS, 0)]

    def verdict(self):
        return verdict(self.registers, self.registry, SETTINGS, self.sent)


def tear(path, random):
    size = path.stat().st_size
    os.truncate(path, max(0, size - random.randrange(LESS_THAN_A_FRAME)))
