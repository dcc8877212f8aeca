"""A deployment in processes of its own, which are found through /proc and ended by their ids."""

import os
import signal
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path

from shortlist.cli.running import SPARK_RUNS
from tests.faults import wrong_clock

MARK = "SHORTLIST_TEST_DEPLOYMENT"
"""Every process that a deployment starts inherits this variable, with a value of its own."""
DAEMON = ["-m", "shortlist.spark.daemon"]
SERVER = "-c from multiprocessing.forkserver import main"
"""In the command of whoever forks workers, behind the interpreter's own options, and in theirs."""
FEW_TICKS = 3
"""Of a hundredth of a second: nobody restores a shard in these."""
PATIENCE = 400.0
"""Seconds for anything that has to happen: the machine may have much else to do."""


def wait_until(is_so, what, last_words=str):
    """The first answer of `is_so` that is true."""
    deadline = time.monotonic() + PATIENCE
    while not (found := is_so()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"expected {what} within {PATIENCE:g} s; {last_words()}")
        time.sleep(0.02)
    return found


class Up:
    """`shortlist up`, again and again on the same log; arguments stay the same unless changed."""

    def __init__(self, folder: Path, arguments, clock: Path | None = None):
        """A file may say by how many seconds its clock is wrong."""
        self.arguments = [*map(str, arguments)]
        self.said = folder / "up.txt"
        program = ["-m", "shortlist"] if clock is None else [wrong_clock.__file__, str(clock)]
        self._program = [sys.executable, *program]
        self._environment = os.environ | {
            MARK: uuid.uuid4().hex,
            "SHORTLIST_DRIVER_MEMORY": os.environ.get("SHORTLIST_DRIVER_MEMORY", "1g"),
        }
        self._process = None
        self._begun_at = 0

    def start(self, *more):
        with self.said.open("ab") as said:
            self._begun_at = said.tell()
            self._process = subprocess.Popen(
                [*self._program, "up", *self.arguments, *map(str, more)],
                stdout=said,
                stderr=said,
                env=self._environment,
                start_new_session=True,
            )

    @property
    def pid(self):
        return self._process.pid

    def is_running(self):
        return self._process.poll() is None

    def is_on_spark(self):
        """Whether Spark runs its tasks by now."""
        return SPARK_RUNS.encode() in self.said.read_bytes()[self._begun_at :]

    def stop(self):
        """In good order; its exit status."""
        self._process.terminate()
        return self._process.wait(PATIENCE)

    def wait(self):
        """Until it ends by itself; its exit status."""
        return self._process.wait(PATIENCE)

    def kill(self):
        """The driver's process alone."""
        self._process.kill()
        self._process.wait()

    def kill_everything(self):
        """The driver, its JVM and their workers, whoever is their parent by now."""
        while found := self.processes():
            for pid in found:
                kill(pid)
            time.sleep(0.01)
        if self._process is not None:
            self._process.wait(PATIENCE)  # one that is about to end may still hold its lock

    def processes(self):
        """Ids of all that live."""
        mark = f"{MARK}={self._environment[MARK]}".encode()
        return [pid for pid in _ids() if mark in _read(pid, "environ").split(b"\0")]

    def jvms(self):
        """The driver's own, but for one that only tells its version; one that lost its driver may
        be there, too, for a moment."""
        commands = {pid: _command(pid) for pid in children(self.pid)}
        return [
            pid
            for pid, command in commands.items()
            if command[0].endswith("java") and "-version" not in command
        ]

    def workers(self):
        """Python processes that do tasks: forked by a daemon of Spark's, which they may survive, by
        a server of ours, or by the driver, which forks nobody else but one who reads a registry,
        one who gives way to all, and a reserve, who have done nothing yet: they count only where
        nobody has done more."""
        servers = [pid for pid in self.processes() if SERVER in " ".join(_command(pid))]
        drivers = [pid for pid in children(self.pid) if _command(pid) == _command(self.pid)]
        niceness = _niceness(self.pid)
        drivers = [pid for pid in drivers if _niceness(pid) == niceness]
        busy = [pid for pid in drivers if _ticks(pid) > FEW_TICKS]
        return [
            *(pid for pid in self._of_daemons() if _group(pid) != pid),
            *(pid for pid in servers if _parent(pid) in servers),
            *(busy or drivers),
        ]

    def daemons(self):
        """Of Spark's, which fork workers: each leads a group of its own."""
        return [pid for pid in self._of_daemons() if _group(pid) == pid]

    def _of_daemons(self):
        return [pid for pid in self.processes() if _command(pid)[1:3] == DAEMON]


def kill(pid):
    """Ends a process at once; whether it was there."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def children(pid):
    return [child for child in _ids() if _parent(child) == pid]


def _ids():
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _read(pid, name):
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:  # it has ended, or is another user's
        return b""


def _command(pid):
    return _read(pid, "cmdline").decode(errors="replace").split("\0")


def _parent(pid):
    return _stat(pid, 1)


def _group(pid):
    return _stat(pid, 2)


def _niceness(pid):
    return _stat(pid, 16)


def _ticks(pid):
    """Of the processor, that it was given so far."""
    return _stat(pid, 11) + _stat(pid, 12)


def _stat(pid, place):
    # behind the name, which is in brackets and may hold anything: state, then the parent
    rest = _read(pid, "stat").rpartition(b")")[2].split()
    return int(rest[place]) if rest else 0
