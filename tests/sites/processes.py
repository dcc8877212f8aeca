"""Sites in processes of their own, linked by a NATS server behind wires that can be cut."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing, suppress

from scripts.nats_server import NatsServer
from shortlist.intake.written import registry_document
from shortlist.live.driver import Driver, begin
from shortlist.live.here import run_here
from shortlist.live.log_stream import LogStream
from shortlist.live.outlets import LogOutlet
from shortlist.live.places import announce, files_in
from shortlist.live.registers import committed, has_deployment
from shortlist.log.base import DELIVERIES, INPUT
from shortlist.log.sqlite import SqliteLog
from shortlist.model.settings import Settings
from shortlist.model.times import format_time
from shortlist.sites.identity import identity
from tests.faults.processes import wait_until
from tests.sites.worlds import LINKS, SECOND, START, end_of_time

LATENESS = 3_600 * SECOND
SETTINGS = Settings(lateness="1h")


class Wire:
    """Carries bytes to a port, unless it is cut."""

    def __init__(self, port):
        self._target = port
        self._ends = []
        self.is_cut = False
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        self.is_cut = True
        while self._ends:
            self._close(self._ends.pop())

    def mend(self):
        self.is_cut = False

    def close(self):
        self.cut()
        self._listening.close()

    @staticmethod
    def _close(end):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                try:
                    if self.is_cut:
                        raise ConnectionError("cut")
                    far = socket.create_connection(("127.0.0.1", self._target))
                except OSError:
                    near.close()
                    continue
                self._ends += [near, far]
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    def _carry(self, source, target):
        with suppress(OSError):
            while some := source.recv(65536):
                target.sendall(some)
        self._close(source)
        self._close(target)


class Process:
    """A command of the program, which may be killed and started again."""

    def __init__(self, said, *arguments):
        self._said, self._arguments = said, [*map(str, arguments)]
        self._process = None

    def start(self):
        with self._said.open("a") as said:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "shortlist", *self._arguments],
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    @property
    def is_running(self):
        return self._process is not None and self._process.poll() is None

    def kill(self):
        """With all processes that it has started."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def words(self):
        return self._said.read_text()[-2_000:]


class Here:
    """A deployment in this process."""

    def __init__(self, log, folder, registry):
        files = files_in(folder)
        begin(log, files, registry, 1)
        announce(log, folder)
        self._make = lambda: LogStream(
            log,
            Driver(log, files, SETTINGS, run_here, LogOutlet(log)),
            40_000,
            lambda *_: None,
        )
        self._stream = None

    def start(self):
        self._stream = self._make()
        self._stream.start()

    def kill(self):
        if self._stream is not None:
            self._stream.stop()
            self._stream = None


class Network:
    """Three sites in a row."""

    def __init__(self, folder, story, seed, *, has_processes):
        self.story = story
        self.random = random.Random(seed)
        self._stack = ExitStack()
        self.server = NatsServer(folder / "nats")
        self._stack.callback(self._stop_server)
        self._folder = folder
        self.wires = {
            (site, neighbour): Wire(self.server.port)
            for site, neighbours in LINKS.items()
            for neighbour in neighbours
        }
        self.logs, self.deployments, self.sites = {}, {}, {}
        for name in LINKS:
            self._begin(name, has_processes)  # its log is closed when nobody uses it any more
            self._stack.callback(lambda name=name: self.sites[name].kill())
            self._stack.callback(lambda name=name: self.deployments[name].kill())

    def __enter__(self):
        for name, deployment in self.deployments.items():
            deployment.start()
            wait_until(lambda name=name: has_deployment(self.logs[name]), f"deployment {name}")
        for site in self.sites.values():
            site.start()
        for name, log in self.logs.items():
            wait_until(lambda log=log: identity(log) is not None, f"site {name}", self.words)
        return self

    def __exit__(self, *_):
        self._stack.close()
        for wire in self.wires.values():
            wire.close()

    def publish(self, name, line):
        self.logs[name].append(INPUT, [line.encode()])

    def restart_server(self):
        """All links are out for as long as that takes."""
        self.server.kill()
        time.sleep(self.random.random())
        self.server = NatsServer(self._folder / "nats", self.server.port)

    def all_round(self, number):
        """Everything that was said before has gone everywhere: so has one more publication of each
        site, which all sites want."""
        for place, name in enumerate(LINKS):
            time = format_time(START + (2_000 + 100 * number + place) * SECOND)
            said = {"id": f"round{number}", "source": name, "time": time, "replaces": "nothing"}
            self.story.lines.append((name, json.dumps(said)))
            self.publish(name, json.dumps(said))
        for name, log in self.logs.items():
            for other in LINKS:
                mark = f'"id": "round{number}", "source": "{other}"'.encode()
                wait_until(
                    lambda log=log, mark=mark: any(mark in e.content for e in log.read(INPUT, 0)),
                    f"{other} at {name}",
                    self.words,
                )

    def end(self):
        """All that was published has happened."""
        for name, log in self.logs.items():
            end = log.append(INPUT, [end_of_time(LATENESS).encode()])
            wait_until(
                lambda log=log, end=end: (
                    committed(log)[1].position >= end
                    and log.end(DELIVERIES) >= committed(log)[1].deliveries.end
                ),
                f"the end at {name}",
                self.words,
            )

    def _stop_server(self):
        self.server.stop()  # the last of those that there were

    def words(self):
        return "\n".join(site.words() for site in self.sites.values())

    def _begin(self, name, has_processes):
        path, folder = self._folder / f"{name}.log", self._folder / f"{name}.log.state"
        log = self.logs[name] = self._stack.enter_context(closing(SqliteLog(path)))
        if has_processes:
            registry = self._folder / f"{name}.json"
            registry.write_text(json.dumps(registry_document(self.story.part(name))))
            said = self._folder / f"{name}-up.txt"
            flags = ("--time", "event", "--lateness", "1h", "--ahead", "off", "--heartbeat", "off")
            self.deployments[name] = Process(
                said, "up", registry, "--log", f"sqlite:{path}", *flags, "--on", "process",
                "--workers", 1, "--shards", 1, "--metrics", "off",
            )  # fmt: skip
        else:
            self.deployments[name] = Here(log, folder, self.story.part(name))
        neighbours = [
            f"--neighbour={other}=nats://127.0.0.1:{self.wires[name, other].port}/norway"
            for other in LINKS[name]
        ]
        said = self._folder / f"{name}-site.txt"
        said.touch()
        self.sites[name] = Process(
            said, "site", "join", name, "--log", f"sqlite:{path}", *neighbours
        )
