"""A deployment under load to which things happen, and the verdict in the end; all from one seed."""

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from random import Random

from scripts.nats_server import NatsServer
from shortlist.intake.files import registry_from_documents
from shortlist.live.savepoint import committed
from shortlist.log.base import INPUT, LogUnavailable
from shortlist.log.opening import open_log
from shortlist.model.settings import Settings
from tests.faults.processes import Up, kill, wait_until
from tests.faults.publishers import WRONG_BY, Publisher
from tests.faults.verdicts import END, Verdict, is_done, verdict
from tests.strategies import registry

LATENESS = "1s"
AHEAD = "1m"
PUBLISHERS = 2
PAUSE = 0.5
"""Seconds from one append of a publisher to the next, on average."""


def fault_seed():
    """A new one every time, unless somebody wants to see an old one again."""
    return int(os.environ.get("SHORTLIST_FAULT_SEED") or Random().randrange(10**9))


@dataclass(slots=True)
class Outcome:
    """What became of a story."""

    seed: int
    kills: list[tuple[str, str]] = field(default_factory=list)
    """What happened, and where tasks ran then."""
    recoveries: list[float] = field(default_factory=list)
    """Seconds from a restart to the first commit after it."""
    verdict: Verdict | None = None

    def tell(self, **what):
        """A line for whoever reads along."""
        print(json.dumps({"seed": self.seed} | what), flush=True)


class Story:
    """Within `with`: a log, publishers, and `up`, which is started at once."""

    def __init__(
        self,
        folder,
        seed,
        log="sqlite",
        options=(),
        place="spark",
        *,
        others=0,
        wrong_clocks=False,
        basis="event",
    ):
        """There may be subscriptions that others have, and clocks that are set by hours: those of
        publishers, and the driver's."""
        self.random = Random(seed)
        self.place = place
        self.outcome = Outcome(seed)
        self.folder, self._log_kind, self._options = folder, log, options
        self._clock = folder / "clock" if wrong_clocks else None
        self._settings = Settings(
            time=basis, lateness=LATENESS, ahead=AHEAD if wrong_clocks else None
        )
        document = registry(self.random.choice)
        document["subscriptions"] += [
            {"id": f"other{number}", "where": f"rent = {number}"} for number in range(others)
        ]
        self.registry = registry_from_documents(document)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "registry.json").write_text(json.dumps(document))

    def __enter__(self):
        with ExitStack() as stack:
            self.server = None
            if self._log_kind == "nats":
                self.server = NatsServer(self.folder / "nats")
                stack.callback(self._stop_server)
            where = self.folder / "city.log"
            url = f"sqlite:{where}" if self.server is None else f"{self.server.url}/city"
            self.log = stack.enter_context(closing(open_log(url)))
            places = ["--state", self.folder / "state", "--logs", self.folder / "logs.jsonl"]
            others = [*self._times(), "--metrics", "off", *self._options]
            registry = self.folder / "registry.json"
            self.up = Up(self.folder, [registry, "--log", url, *places, *others], self._clock)
            stack.callback(self.up.kill_everything)
            is_set = self._clock is not None
            self.publishers = [
                Publisher(
                    url, self.random.random(), count(number, PUBLISHERS), PAUSE, clock_is_set=is_set
                )
                for number in range(PUBLISHERS)
            ]
            stack.enter_context(consumer_that_never_reads(url))
            for publisher in self.publishers:
                publisher.start()
                stack.callback(publisher.stop)
            self.up.start("--on", self.place)
            self._ending = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._ending.close()

    def _times(self):
        if self._settings.time == "arrival":
            return ["--time", "arrival"]
        ahead = "off" if self._settings.ahead is None else "1m"
        return ["--time", "event", "--lateness", "1s", "--ahead", ahead]

    def commits(self):
        """How many there were, as far as anybody knows."""
        try:
            return committed(self.log)[1].number
        except (LookupError, LogUnavailable):
            return -1

    def wait_for_commit(self):
        """The next one."""
        before = max(self.commits(), 0)
        self._wait_until(lambda: self.commits() > before, "a commit")

    def wait_for_a_moment(self):
        """Any, or one right behind a commit, when deliveries are on their way; the driver's clock
        may be set meanwhile."""
        if self._clock is not None and self.random.random() < 0.5:
            self._clock.write_text(str(self.random.choice(WRONG_BY) / 1e6))
        if self.random.random() < 0.5:
            time.sleep(self.random.uniform(0, 2))
        else:
            self.wait_for_commit()
            time.sleep(self.random.uniform(0, 0.05))

    def wait_for_spark(self):
        """Until its tasks run there: before that, processes do them."""
        self._wait_until(self.up.is_on_spark, "Spark")

    def strike(self, fault, *, wait=True):
        """Does something to it, and everything that is needed for it to go on; waits for the first
        commit after that."""
        on = "spark" if self.up.is_on_spark() else "process"
        fault(self)
        restarted = time.monotonic()
        self.outcome.kills.append((fault.__name__, on))
        if wait:
            self.wait_for_commit()
            took = time.monotonic() - restarted
            self.outcome.recoveries.append(took)
            self.outcome.tell(fault=fault.__name__, on=on, recovery=round(took, 3))

    def end(self):
        """All that was sent is read, the deployment stops, and its log is judged."""
        for publisher in self.publishers:
            publisher.stop()
        if self._clock is None:
            self.log.append(INPUT, [END])
        end = self.log.end(INPUT)
        self._wait_until(lambda: is_done(self.log, end), "all to be read")
        status = self.up.stop()
        assert status == 0, self.last_words()
        sent = [line for publisher in self.publishers for line in publisher.acknowledged]
        so_far = self._clock is not None
        self.outcome.verdict = verdict(self.log, self.registry, self._settings, sent, so_far=so_far)
        self.outcome.tell(**self.outcome.verdict._asdict())
        return self.outcome

    def restart_server(self):
        self.server = NatsServer(self.folder / "nats", self.server.port)

    def _stop_server(self):
        self.server.kill()

    def _wait_until(self, is_so, what):
        def is_so_while_it_runs():
            assert self.up.is_running(), self.last_words()
            return is_so()

        wait_until(is_so_while_it_runs, what, self.last_words)

    def last_words(self):
        """What it said, and how to see it again."""
        said = self.up.said.read_text()[-2000:] if self.up.said.exists() else ""
        return f"SHORTLIST_FAULT_SEED={self.outcome.seed}\n{said}"


@contextmanager
def consumer_that_never_reads(url):
    """It asks for everything, and takes nothing of it."""
    asked = [sys.executable, "-m", "shortlist", "watch", "--after", "0", "--log", url, "--json"]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as consumer:
        try:
            yield
        finally:
            consumer.kill()


def driver_killed(story):
    """Its JVM and workers end by themselves a little later; what they do meanwhile is no matter."""
    story.up.kill()
    story.up.start("--on", story.place)


def moved(story):
    """A driver that is killed, and goes on elsewhere: without Spark, or with it again."""
    story.up.kill()
    story.place = "spark" if story.place == "process" else "process"
    story.up.start("--on", story.place)


def everything_killed(story):
    story.up.kill_everything()
    story.up.start("--on", story.place)


def jvm_killed(story):
    """The driver says so and ends, since nobody else can start Spark again."""
    for pid in wait_until(story.up.jvms, "a JVM"):
        kill(pid)
    assert story.up.wait() == 2
    story.up.start()


def worker_killed(story):
    workers = wait_until(story.up.workers, "a worker")
    kill(story.random.choice(sorted(workers)))


def daemon_killed(story):
    """Its worker goes on without one, and whoever is forked next is forked by another."""
    daemons = story.up.daemons()
    if daemons:
        kill(story.random.choice(sorted(daemons)))
    else:
        worker_killed(story)


def server_killed(story):
    """With it every connection; it comes back on the same port, with the same streams."""
    story.server.kill()
    time.sleep(story.random.uniform(0, 1))
    story.restart_server()
