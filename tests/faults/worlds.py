"""Worlds in one process, without Spark: a scripted timeline, a machine that fails where it is told
to, whoever is started again after that, and what must be true in the end."""

import gc
import json
import tempfile
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from unittest.mock import patch

import pyarrow as pa

from shortlist.engine.replay import replay
from shortlist.live import audiences, manifest, matching_stage, running, segments, shard
from shortlist.live import driver as live
from shortlist.live.driver import Driver, Finished, begin
from shortlist.live.files import Files
from shortlist.live.here import run_here
from shortlist.live.log_stream import LogStream
from shortlist.live.outlets import FolderOutlet
from shortlist.live.places import files_in
from shortlist.live.registers import FolderRegisters, committed, has_deployment
from shortlist.live.rescaling import ask_for_shards
from shortlist.live.running import Running, Wanted
from shortlist.live.savepoint import NotPutOut, export, restore
from shortlist.log import durable
from shortlist.log.base import DELIVERIES, INPUT, REJECTS, LogUnavailable, Moved
from shortlist.log.sqlite import SqliteLog
from shortlist.model.items import Items
from shortlist.model.times import parse_time
from shortlist.spark import append_once
from shortlist.spark.append_once import LINES, AppendOnce
from tests.faults.failing_io import TAKEN_OVER, Died, Machine
from tests.faults.scripts import END_OF_TIME
from tests.live.streams import run_batch

ATTEMPTS = 40
"""Processes that are started, or rounds without progress, before somebody is believed stuck."""
FOR_LONG = 4
"""Rounds of a process that has taken over for long; otherwise one."""


class Stuck(AssertionError):
    """A deployment that does not come to its end."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """How much is, in the end."""

    lost: int = 0
    twice: int = 0
    different: int = 0
    stuck: str = ""

    def __bool__(self):
        return bool(self.lost or self.twice or self.different or self.stuck)


class World:
    """One run of a script; `operations` and `struck` are those of its machine."""

    def __init__(self, script, faults=()):
        self.script, self.clock = script, Clock()
        self._scratch = tempfile.TemporaryDirectory(dir=_quick_disk())
        self.root = Path(self._scratch.name)
        self.machine = Machine(self.root, faults)
        self.machine.take_over = self._take_over

    def run(self):
        """What is wrong in the end."""
        try:
            with self.machine.watched(), small_chains(), self.clock.told():
                for _ in range(ATTEMPTS):
                    with fresh_memory():
                        self.machine.is_dead = self.machine.lost_power = False
                        if self._process():
                            break
                else:
                    raise Stuck(f"{ATTEMPTS} processes have not come to the end")
            return self.judged()
        except Stuck as stuck:
            return Wrong(stuck=str(stuck))
        finally:
            self.machine.is_dead = True
            self.close()

    def close(self):
        self._scratch.cleanup()

    def _process(self):
        """One process, until it ends somehow; whether all is done."""
        raise NotImplementedError

    def _take_over(self, for_long):
        """Another process does its part while the one that is under way is stopped."""
        with fresh_memory():
            self._intrude(FOR_LONG if for_long else 1)
        self.machine.is_dead = self.machine.lost_power

    def _intrude(self, rounds):
        raise NotImplementedError


class Clock:
    """Everybody's on this machine: it goes on by itself, and is set now and then."""

    def __init__(self):
        self.micros = parse_time("2026-03-01T00:00:00Z")

    def __call__(self):
        self.micros += 1000
        return self.micros

    @contextmanager
    def told(self):
        with patch("time.time_ns", lambda: self() * 1000):
            yield


class LogWorld(World):
    """A deployment on a log, as `shortlist up` runs it; its log may be another one later."""

    def __init__(self, script, faults=(), make_log=None):
        super().__init__(script, faults)
        self._make_log = make_log or SqliteLog
        self._steps, self._sent = list(script.steps), []
        self._places = [self.root / name for name in ("here", "elsewhere")]
        for place in self._places:
            place.mkdir()
        self._logs, self._read_there = [], []
        """Every log so far; how much of each, but for the last one, was read there."""
        self._settle()
        self._pending = None
        """What an operator wants to do once the deployment has stopped."""
        self._moving = None
        """What an operator is just doing."""
        self._shards = None
        self._rounds = 0
        """Since all steps were taken."""

    def _settle(self):
        place = self._places[len(self._logs)]
        self._logs.append(self._make_log(place / "log"))
        self._wanted = Wanted(
            log="watched",
            folder=place / "state",
            registry=self.script.registry,
            settings=self.script.settings,
            shards=None,
            plan=self.script.plan,
            with_departures=self.script.with_departures,
            at_most=40,
            heartbeat=1,
        )

    @property
    def log(self):
        return self._logs[-1]

    def close(self):
        for log in self._logs:
            log.close()
        super().close()

    def _process(self):
        if self._pending is not None:
            self._pending()
            self._pending = None
        return self._run_for(None)

    def _run_for(self, rounds):
        """A running deployment, for some rounds; whether all is done."""
        ground = Scripted(self, rounds)
        ground.running = Running(self._wanted, ground, Counting())
        opened = patch.object(running, "open_log", lambda url: self.machine.watch(self.log))
        streamed = patch.object(running, "LogStream", ground.stream)
        try:
            with opened, streamed:
                ground.running.run()
        except (Died, Moved, OSError):  # the folder's lock may have no room
            return False
        return self.is_done()

    def _intrude(self, rounds):
        if self._moving is not None:
            with suppress(Moved, NotPutOut, OSError, LogUnavailable, Died):
                self._moving()  # a second operator does the same
            return
        unseen = patch.object(running, "only_driver", lambda folder: nullcontext())
        with unseen:
            self._run_for(rounds)

    def go_on(self, stream, ground):
        """What happens outside, and a batch of the deployment; whether it is to go on."""
        step = self._steps[0] if self._steps else None
        if self._pending is not None or (ground.rounds is not None and step == ("move", None)):
            ground.running.stop()
            return False
        if step is not None:
            self._outside(*step)
            self._steps.pop(0)
            if step[0] in ("restart", "move"):
                ground.running.stop()
        run_batch(stream)
        self._rounds += not self._steps
        if self._rounds > 10 * ATTEMPTS:
            raise Stuck(f"it does not come to the end from {committed(self.log)[1].position}")
        if ground.rounds is not None:
            ground.rounds -= 1
        if ground.rounds == 0 or self.is_done():
            ground.running.stop()
        return True

    def _outside(self, verb, what):
        log = self.machine.watch(self.log, is_outside=True)
        match verb:
            case "publish":
                insist(lambda: log.append(INPUT, what))
                self._sent += what
            case "set clock":
                self.clock.micros += what
            case "rescale":
                insist(lambda: ask_for_shards(log, what))
                self._shards = what
            case "move":
                self._pending = self._move

    def _move(self):
        """An operator writes a savepoint, and goes on with it elsewhere; whoever fails or is killed
        meanwhile does it again."""
        files, target = files_in(self._wanted.folder), self.root / "savepoint.zip"
        self._again(lambda: export(self.machine.watch(self.log), files, target))
        self._settle()
        there = files_in(self._wanted.folder)
        self._again(lambda: restore(target, self.machine.watch(self.log), there))
        # a commit that was on its way when the savepoint was written is not in it
        self._read_there.append(committed(self.log)[1].base)

    def _again(self, command):
        for _ in range(ATTEMPTS):
            self.machine.is_dead = self.machine.lost_power = False
            self._moving = command
            try:
                return command()
            except (Died, OSError, LogUnavailable):
                continue
            except NotPutOut:
                self._moving = None
                self._run_for(1)  # the deployment has to bring its output first
            except Moved:
                if has_deployment(self.log):
                    return None  # an attempt that failed has done it
            finally:
                self._moving = None
        raise Stuck("a savepoint cannot be written, or read")

    def is_done(self):
        """Whether all of the input was read, all is due, and all that came of it is in the log."""
        if self._steps or self._pending or not has_deployment(self.log):
            return False
        found = committed(self.log)[1]
        return (
            found.position - found.base >= self.log.end(INPUT)
            and (found.reached or 0) >= END_OF_TIME
            and found.deliveries.end == self.log.end(DELIVERIES)
            and found.rejects.end == self.log.end(REJECTS)
            and self._shards in (None, len(found.shards))
        )

    def judged(self):
        entries = []
        for number, log in enumerate(self._logs):
            upto = self._read_there[number] - len(entries) if number < len(self._logs) - 1 else None
            entries += log.read(INPUT, 0, upto)
        lines = [entry.content for entry in entries]
        appended = [entry.appended for entry in entries]
        deliveries, rejects = expected(self.script, lines, appended)
        delivered = [one.content.decode() for log in self._logs for one in log.read(DELIVERIES, 0)]
        refused = [one.content for log in self._logs for one in log.read(REJECTS, 0)]
        lost = len(multiset_less(self._sent, lines))
        return judged(lost, delivered, deliveries, refused, rejects)


class Scripted:
    """A ground for deployments: everything happens in this thread, one thing after the other."""

    def __init__(self, world, rounds):
        self.world, self.rounds, self.running = world, rounds, None
        self.shards = world.script.shards

    def lanes(self):
        return nullcontext(Here())

    def stream(self, log, driver, at_most, told, most_bytes, beats, idle):
        return ScriptedStream(self, LogStream(log, driver, at_most, told))

    def check(self, error):
        if isinstance(error, AssertionError):
            raise error

    def close(self):
        pass


class Here:
    """Tasks in this process."""

    def __call__(self, task, works):
        return run_here(task, works)

    def ahead(self, task, works): ...


class ScriptedStream:
    """Does something whenever it is asked whether it is active."""

    def __init__(self, ground, stream):
        self._ground, self._stream = ground, stream

    def start(self): ...

    @property
    def is_active(self):
        return self._ground.world.go_on(self._stream, self._ground)

    def stop(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Counting:
    """An observer, who does not watch the same failure for ever."""

    def __init__(self):
        self._failures = 0

    def compiling(self, left): ...

    def started(self, driver, log): ...

    def ran(self, report, driver, log, appended): ...

    def failed(self, error, pause):
        self._failures += 1
        if self._failures > ATTEMPTS:
            raise Stuck(f"it fails whenever it is tried: {error!r}")

    def stopped(self): ...


class FolderWorld(World):
    """A deployment without a log, whose input has an end and whose output is files, as a stream of
    Spark's runs it."""

    def __init__(self, script, faults=()):
        super().__init__(script, faults)
        self._lines = [*script.lines]
        self._out = self.root / "out"
        self._cuts = Random(script.seed)

    def _process(self):
        for _ in range(ATTEMPTS):
            try:
                self._run_for(None)
                return True
            except Finished:
                return True
            except (Died, Moved):
                return False
            except (OSError, LogUnavailable):
                continue  # Running tries again, with a driver that knows what is written alone
        raise Stuck("it fails whenever it is tried")

    def _intrude(self, rounds):
        try:
            self._run_for(rounds)
        except (Finished, Died, Moved, OSError, LogUnavailable):
            return

    def _run_for(self, rounds):
        folder = self.root / "state"
        registers, files = FolderRegisters(folder / "registers"), files_in(folder)
        if not has_deployment(registers):
            script = self.script
            begin(registers, files, script.registry, script.shards, script.settings)
        outlet = FolderOutlet(self._out)
        driver = Driver(registers, files, self.script.settings, run_here, outlet)
        for _ in count() if rounds is None else range(rounds):
            known = driver.manifest.position
            # whoever begins anew may cut its input otherwise
            batch = [*enumerate(self._lines, start=1)][known : known + self._cuts.choice([1, 3])]
            if not batch:
                driver.run_batch(Items.empty(), last=True)
                return
            positions, lines = zip(*batch, strict=True)
            appended = [self.script.start + position for position in positions]
            driver.run_batch(driver.read_task().items(positions, lines, appended)[0])

    def judged(self):
        appended = [self.script.start + n for n in range(1, len(self._lines) + 1)]
        deliveries, rejects = expected(self.script, self._lines, appended)
        delivered = [line.decode() for line in self._written("deliveries")]
        return judged(0, delivered, deliveries, self._written("rejects"), rejects)

    def _written(self, kind):
        """The lines of files, those that are not whole yet left aside."""
        files = sorted((self._out / kind).glob("[0-9]*.jsonl"))
        return [line for file in files for line in file.read_bytes().splitlines()]


class SinkWorld(World):
    """A query of Spark's that appends its batches to a log, each once; others append meanwhile."""

    def __init__(self, script, faults=(), make_log=None):
        super().__init__(script, faults)
        self._batches = [[b"%d %d" % (number, row) for row in range(rows)]
                         for number, rows in enumerate(script.sizes)]  # fmt: skip
        self._log = (make_log or SqliteLog)(self.root / "log")
        self._files = Files(self.root / "staged")
        self._done = 0
        """Batches that Spark knows to be committed."""

    def close(self):
        self._log.close()
        super().close()

    def _process(self):
        return self._is_done_after(None)

    def _intrude(self, rounds):
        self._is_done_after(rounds)

    def _is_done_after(self, rounds):
        try:
            self._run_for(rounds)
        except (Died, Moved, LogUnavailable, OSError):
            return False
        except ValueError:
            # who was taken over for long is told that later batches are there
            if not any(way in TAKEN_OVER for _, way in self.machine.struck):
                raise
            return False
        return True

    def _run_for(self, rounds):
        append = AppendOnce(self.machine.watch(self._log), DELIVERIES, "sink/me", self._files)
        first, last = self._done, len(self._batches) if rounds is None else self._done + rounds
        for number in range(first, min(last, len(self._batches))):
            lines = self._batches[number]
            lines.append(lines.pop(0))  # a shuffle may bring them in another order
            outside = self.machine.watch(self._log, is_outside=True)
            if number % 2:
                insist(lambda log=outside: log.append(DELIVERIES, [b"other"]))
            append("query", number, pa.table([lines, pa.nulls(len(lines), pa.string())], LINES))
            self._done = max(self._done, number + 1)

    def judged(self):
        found = [entry.content for entry in self._log.read(DELIVERIES, 0)]
        found = [line for line in found if line != b"other"]
        wanted = [line for batch in self._batches for line in batch]
        lost, twice = multiset_less(wanted, found), multiset_less(found, wanted)
        numbers = [int(line.split()[0]) for line in found]
        return Wrong(len(lost), len(twice), int(numbers != sorted(numbers)))


def expected(script, lines, appended):
    """Delivery lines and rejects of a batch on the same input."""
    key = (*lines, *(appended if script.settings.asks_the_log else ()))
    if key not in script.known:
        result = replay(script.registry, lines, script.settings, appended=appended)
        documents = (each.document() for each in result.deliveries)
        script.known[key] = (
            [json.dumps(document, ensure_ascii=False) for document in documents],
            [(each.position, each.reason) for each in result.rejects],
        )
    return script.known[key]


def judged(lost, delivered, deliveries, refused, rejects):
    documents = [json.loads(line) for line in refused]
    found = sorted((int(document["position"]), document["reason"]) for document in documents)
    return Wrong(
        lost=lost + len(multiset_less(deliveries, delivered)) + len(multiset_less(rejects, found)),
        twice=len(multiset_less(delivered, deliveries)) + len(multiset_less(found, rejects)),
        different=int(delivered != deliveries) + int(found != sorted(rejects)),
    )


def multiset_less(some, others):
    """What is there more often than among others."""
    left = [*others]
    return [one for one in some if one not in left or left.remove(one)]


def insist(act):
    """As a publisher does, who waits for an acknowledgement."""
    for _ in range(ATTEMPTS):
        try:
            return act()
        except (LogUnavailable, Moved):
            continue
    raise Stuck("the log acknowledges nothing")


@contextmanager
def small_chains():
    """Everything that happens after many batches, or much time, happens after a few."""
    with ExitStack() as stack:
        for module, name, value in (
            (manifest, "MOST_BATCHES", 2),
            (segments, "FAN", 2),
            (live, "COLLECT_EVERY", 1),
            (live, "RETENTION", 1e-9),
            (running, "LONGEST_PAUSE", 0.0),
            (append_once, "PART_ENTRIES", 2),
            (gc, "freeze", lambda: None),  # worlds come and go
        ):
            stack.enter_context(patch.object(module, name, value))
        yield


@contextmanager
def fresh_memory():
    """What a process has in memory is its own."""
    caches = (shard.SHARDS, matching_stage.PARTS, audiences.PARTS)
    with ExitStack() as stack:
        for cache in caches:
            stack.enter_context(patch.object(cache, "_kept", {}))
        stack.enter_context(patch.object(durable, "KNOWN", set()))
        yield


def _quick_disk():
    """A disk in memory, if there is one."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None
