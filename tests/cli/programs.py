"""The program in this process, and deployments for it to talk to."""

import json
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

from typer.testing import CliRunner

from shortlist.cli.app import app
from shortlist.intake.files import registry_from_documents
from shortlist.live.driver import Driver, begin
from shortlist.live.outlets import LogOutlet
from shortlist.live.places import announce, files_in, state_folder
from shortlist.log.base import INPUT
from shortlist.log.sqlite import SqliteLog
from shortlist.model.settings import Settings
from shortlist.model.times import format_time

BEHIND = 300_000
EVENT, ARRIVAL = Settings(lateness=0), Settings(time="arrival")
NOWHERE = Path(tempfile.gettempdir(), "no settings of shortlist")
NOON = "2026-03-01T12:00:00Z"


def shortlist(*arguments, log=None, text=None, settings=NOWHERE, key=None):
    """What the program says, with settings in a folder, and a key in the environment."""
    environment = {"COLUMNS": "120", "SHORTLIST_LOG": log or "", "XDG_CONFIG_HOME": str(settings)}
    environment["SHORTLIST_KEY"] = key
    return CliRunner().invoke(app, [str(one) for one in arguments], input=text, env=environment)


def answer(*arguments, **more):
    """What it says for machines, if all is well."""
    done = shortlist(*arguments, "--json", **more)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def flat(name, rent, time=NOON):
    return {"id": name, "source": "ads", "time": time, "data": {"rent": rent}}


def json_lines(*documents):
    return "".join(json.dumps(each) + "\n" for each in documents)


class Deployment:
    """One that reads a log when it is told to."""

    def __init__(self, place, registry, shards=2, settings=EVENT):
        self.url = f"sqlite:{place}/city.log"
        self.log = SqliteLog(f"{place}/city.log")
        self.registry = registry_from_documents(registry)
        folder = state_folder(self.url)
        files = files_in(folder)
        begin(self.log, files, self.registry, shards, settings)
        announce(self.log, folder)
        self.settings = settings
        self.driver = Driver(self.log, files, self.settings, self.everywhere, LogOutlet(self.log))

    def everywhere(self, task, works):
        return [task(work) for work in works]

    def publish(self, *documents):
        self.log.append(INPUT, [json.dumps(each).encode() for each in documents])

    def beat(self, time):
        self.publish({"time": time, "heartbeat": True})

    def step(self):
        """Reads what is there; the report, and when the log took it."""
        entries = [*self.log.read(INPUT, self.driver.manifest.position)]
        offsets = [entry.offset for entry in entries]
        read = self.driver.read_task()
        appended = {entry.offset: entry.appended for entry in entries}
        items, _ = read.items(offsets, [entry.content for entry in entries], [*appended.values()])
        return self.driver.run_batch(items), appended

    @contextmanager
    def running(self):
        """Meanwhile it reads by itself, and time goes on, a little behind the clock: nothing that
        is sent meanwhile may be late."""
        stopping = threading.Event()

        def run():
            while not stopping.wait(0.05):
                self.beat(format_time(time.time_ns() // 1000 - BEHIND))
                self.step()

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield
        finally:
            stopping.set()
            thread.join()
