"""A deployment that runs: its log, its query and its heartbeats, until it is told to stop."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Protocol

from shortlist.live.admission_files import AdmissionFiles
from shortlist.live.conditions import SIGN_SECONDS, tell_condition
from shortlist.live.driver import Driver, Finished, Report, WrongBasis, begin
from shortlist.live.files import Files
from shortlist.live.heartbeats import Heartbeats
from shortlist.live.locking import only_driver
from shortlist.live.log_stream import MOST_BYTES, MOST_LINES, LogStream, StillBusy
from shortlist.live.manifest import Manifest
from shortlist.live.outlets import LogOutlet
from shortlist.live.places import announce, announced, files_in
from shortlist.live.registers import committed, has_deployment
from shortlist.live.registry_folder import CompiledRegistry
from shortlist.live.rescaling import (
    Preparing,
    ask_for_shards,
    is_small,
    rescale,
    shards_asked_for,
)
from shortlist.live.shard import Work
from shortlist.live.shard import run as run_shard
from shortlist.live.tasks import Run, W, idle_works
from shortlist.live.warming import (
    MOST_AT_ONCE,
    NICE,
    PARTS,
    KernelCompiler,
    missing,
    parts_of,
)
from shortlist.log.base import INPUT, Log, LogUnavailable, Moved
from shortlist.log.opening import open_log
from shortlist.model.problem import InvalidRegistry, ShortlistError
from shortlist.model.registry import Registry
from shortlist.model.settings import PlanSetting, Settings
from shortlist.model.wording import first_line

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 10.0
"""Seconds between two attempts to go on: twice as long after each, up to the longest."""
CAREFUL_SECONDS = 60.0
"""For which batches are smaller after a failure."""
# Pause between two looks for a request to stop while kernels are compiled.
STOP_POLL_SECONDS = 0.05
LOOK_SECONDS = 2.0
"""Between two looks for a driver that has taken over: without input nobody commits."""
# What ends an attempt and is no failing of this deployment: another driver has it, or the log
# cannot be reached, and so not be told either.
UNTOLD = (Moved, LogUnavailable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How a deployment is to run."""

    log: str = field(repr=False)
    """Its address, which may hold a password."""
    folder: Path
    """Where its state is."""
    registry: Registry | CompiledRegistry = field(default_factory=Registry)
    """What it begins with, if it is new."""
    settings: Settings = field(default_factory=lambda: Settings(lateness=0))
    shards: int | None = None
    plan: PlanSetting = "replicate"
    with_data: bool = False
    with_departures: bool = False
    at_most: int = MOST_LINES
    """Lines in a micro-batch."""
    most_bytes: int = MOST_BYTES
    """Of its lines, but for the last one."""
    heartbeat: int | None = 500_000
    """Microseconds of silence after which time is written down; None: never."""

    def careful(self, failures: int) -> Wanted:
        """The same with smaller batches, the smaller the more attempts have failed: what is too
        much at once for a machine may go in parts.

        >>> some = Wanted(log="sqlite:city.log", folder=Path("state"))
        >>> some.careful(0).at_most, some.careful(2).at_most, some.careful(99).at_most
        (50000, 3125, 1)
        """
        return replace(
            self,
            at_most=max(self.at_most >> 2 * failures, 1),
            most_bytes=max(self.most_bytes >> 2 * failures, 1),
        )


class WrongPlace(ShortlistError):
    """A folder that does not have the state of the deployment."""


class Observer(Protocol):
    """Hears what happens."""

    def compiling(self, left: Sequence[str]) -> None:
        """Kernels are compiled before it is ready; these parts of `warming.PARTS` are left."""
        ...

    def started(self, driver: Driver, log: Log) -> None: ...

    def ran(self, report: Report, driver: Driver, log: Log, appended: dict[int, int]) -> None:
        """A batch was committed and put out."""
        ...

    def failed(self, error: BaseException, pause: float) -> None:
        """It goes on after so many seconds."""
        ...

    def stopped(self) -> None: ...


class Lanes(Run, Protocol):
    """Runs the tasks of a driver."""

    def ahead(self, task: Callable[[W], object], works: Sequence[W]) -> None:
        """May begin with tasks that the next ones would begin with; nobody waits for them."""
        ...

    def mend(self, task: Callable[[W], object], works: Callable[[], Sequence[W]]) -> None:
        """May replace who has ended while nothing was to be done."""
        ...


class Ground(Protocol):
    """Where a deployment runs: who does its tasks."""

    @property
    def shards(self) -> int:
        """As many as a new deployment has, if nobody says how many."""
        ...

    def lanes(self) -> AbstractContextManager[Lanes]:
        """For one attempt."""
        ...

    def check(self, error: Exception) -> None:
        """Raises where an error is one that no other attempt in this process would mend."""
        ...

    def close(self) -> None:
        """After the last attempt."""
        ...


class Running:
    """One deployment of this process."""

    def __init__(self, wanted: Wanted, ground: Ground, observer: Observer) -> None:
        self._wanted = wanted
        self._ground = ground
        self._observer = observer
        self._stopping = threading.Event()
        self._has_started = False
        self._has_failed = False
        self._shards = wanted.shards
        self._files = files_in(wanted.folder)
        self._has_warmed = False
        self._rest: list[str] = []
        self._later = KernelCompiler(nice=NICE)

    def stop(self) -> None:
        """Lets the batch that is under way come to its end; `run` returns then."""
        self._stopping.set()

    def run(self) -> None:
        """Goes on where the last one stopped, until `stop`; a failure is not the end.

        Raises `AlreadyRunning` or `Moved` where another process drives the deployment,
        and what no second attempt would mend.
        """
        with only_driver(self._wanted.folder), ExitStack() as stack:
            stack.callback(self._observer.stopped)
            stack.callback(self._ground.close)
            stack.callback(self._later.close)
            failures = 0
            while not self._stopping.is_set():
                began = time.monotonic()
                try:
                    self._run(self._wanted.careful(failures))
                    failures = 0
                except (Moved, WrongPlace, WrongBasis, Finished, InvalidRegistry):
                    raise
                except StillBusy as error:
                    if self._stopping.is_set():
                        raise
                    failures = self._wait_after(error, failures, began)
                except Exception as error:
                    self._ground.check(error)
                    failures = self._wait_after(error, failures, began)

    def _wait_after(self, error: Exception, failures: int, began: float) -> int:
        """After a failure, the longer the more there were; how many there were in a row."""
        self._has_failed = True
        failures = 1 if time.monotonic() - began > 60 else failures + 1
        pause = min(FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE)
        self._observer.failed(error, pause)
        self._stopping.wait(pause)
        return failures

    def _run(self, wanted: Wanted) -> None:
        """From the manifest on, until something fails, or it need not be careful any more."""
        began = time.monotonic()
        with ExitStack() as stack:
            log = stack.enter_context(closing(open_log(wanted.log)))
            files = self._files
            at_hand = wanted.registry if self._begin(log, files) else None
            if not self._has_started:
                tell_condition(log, "starting")
            stack.push(partial(self._tell_end, log))
            begun_with = at_hand if isinstance(at_hand, Registry) else None
            self._compile_needed(log, begun_with)
            if self._stopping.is_set():
                return
            lanes = stack.enter_context(self._ground.lanes())
            lanes.ahead(run_shard, self._idle_works(committed(log)[1]))
            driver = Driver(
                log,
                files,
                wanted.settings,
                lanes,
                LogOutlet(log),
                with_data=wanted.with_data,
                plan=wanted.plan,
                with_departures=wanted.with_departures,
                begun_with=begun_with,
            )
            announce(log, wanted.folder)
            gc.freeze()  # the registry stays: Python's collector need not go through it each time
            self._observer.started(driver, log)
            self._has_started = True
            if begun_with is not None:
                driver.keep_registry()
            self._compile_rest()
            beats = None
            if wanted.heartbeat is not None:
                beats = Heartbeats(log, wanted.heartbeat, lambda: time.time_ns() // 1000)

            def told(report: Report, appended: dict[int, int]) -> None:
                self._has_failed = False
                self._observer.ran(report, driver, log, appended)
                if beats is not None:
                    beats.close_instant(driver.manifest)

            def mend() -> None:
                lanes.mend(run_shard, lambda: self._idle_works(driver.manifest))

            at_most, most_bytes = wanted.at_most, wanted.most_bytes
            stream = LogStream(log, driver, at_most, told, most_bytes, beats=beats, idle=mend)
            stack.enter_context(stream).start()
            looked, preparing = time.monotonic(), Preparing(files, wanted.settings)
            interval, beaten, signed = (wanted.heartbeat or 500_000) / 1e6, 0.0, 0.0
            moves = False
            while not self._stopping.is_set() and stream.is_active:
                shards = shards_asked_for(log)
                if shards is not None and preparing.is_ready(driver.manifest, shards):
                    moves = True
                    break
                is_careful = wanted.at_most < self._wanted.at_most
                if is_careful and time.monotonic() - began > CAREFUL_SECONDS:
                    break
                if time.monotonic() - looked > LOOK_SECONDS:
                    driver.check_epoch()
                    looked = time.monotonic()
                if time.monotonic() - signed > SIGN_SECONDS:
                    self._tell_life(log, driver.manifest)
                    signed = time.monotonic()
                is_due = interval <= SIGN_SECONDS or time.monotonic() - beaten >= interval
                if beats is not None and not beats.close_instant(driver.manifest) and is_due:
                    beats.beat(driver.manifest.latest)
                    beaten = time.monotonic()
                self._stopping.wait(min(interval, SIGN_SECONDS))
            stream.stop()
            if moves and shards is not None:
                rescale(log, files, shards, wanted.settings.limits, preparing.prepared)

    def _tell_life(self, log: Log, manifest: Manifest) -> None:
        """Say that the deployment runs, where no commit shows it.

        After a failure only a batch shows it, unless none is waiting.
        """
        is_quiet = time.time() - manifest.committed / 1e6 > SIGN_SECONDS
        waits = log.end(INPUT) > manifest.position - manifest.base
        if is_quiet and not (self._has_failed and waits):
            tell_condition(log, "running")

    def _tell_end(
        self,
        log: Log,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Say how an attempt has ended; the log may be what is failing, and then says nothing."""
        with suppress(ShortlistError, OSError):
            if isinstance(error, Exception) and not isinstance(error, UNTOLD):
                tell_condition(log, "failing", first_line(error) or type(error).__name__)
            elif error is None and self._stopping.is_set():
                tell_condition(log, "stopped")

    def _compile_needed(self, log: Log, begun_with: Registry | None) -> None:
        """Compile the kernels that the present registry needs: else the first publication that
        comes to a policy would hold everything for as long as that takes.

        A later attempt does not: what could not be compiled is compiled where it is called.
        """
        left = [] if self._has_warmed else missing(PARTS)
        if not left:
            return
        wanted = self._wanted
        known = AdmissionFiles(self._files, wanted.settings, wanted.with_data, begun_with)
        needed = parts_of(known.recall(committed(log)[1]).roster)
        now = [part for part in left if part in needed]
        self._has_warmed = True
        with closing(KernelCompiler(at_once=MOST_AT_ONCE)) as compiler:
            task = partial(compiler.compile, now, self._observer.compiling)
            compiling = threading.Thread(target=task, daemon=True)
            compiling.start()
            while compiling.is_alive() and not self._stopping.is_set():
                compiling.join(STOP_POLL_SECONDS)
        self._rest = [part for part in left if part not in now]

    def _compile_rest(self) -> None:
        """Begin to compile all others in the background, for what commands bring later."""
        rest, self._rest = self._rest, []
        if rest:
            task = partial(self._later.compile, rest)
            threading.Thread(target=task, daemon=True).start()

    def _begin(self, log: Log, files: Files) -> bool:
        """Makes a deployment, if there is none: then it is new."""
        wanted, known = self._wanted, announced(log)
        is_new = not has_deployment(log)
        if is_new:
            shards = wanted.shards or self._ground.shards
            begin(log, files, wanted.registry, shards, wanted.settings)
        elif known is not None and known != wanted.folder.absolute():
            raise WrongPlace(f"expected --state {known}, found {wanted.folder.absolute()}")
        elif self._shards is not None:
            ask_for_shards(log, self._shards)
            if is_small(committed(log)[1]):
                rescale(log, files, self._shards, wanted.settings.limits)
        # somebody may ask for another number later, which a failure must not undo
        self._shards = None
        return is_new

    def _idle_works(self, manifest: Manifest) -> list[Work]:
        """After which shards are ready; none where what leaves is noted from the first batch on."""
        if self._wanted.with_departures:
            return []
        return idle_works(manifest, self._files, self._wanted.settings.limits)
