"""A site that runs: its links are served until it is told to stop."""

import json
import logging
import math
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from shortlist.live.locking import only_driver
from shortlist.live.places import announced
from shortlist.live.registers import NoDeployment
from shortlist.log.base import Log, LogUnavailable, Moved
from shortlist.log.durable import make_durable, open_private, write_whole
from shortlist.log.json_register import change_json
from shortlist.log.opening import open_log
from shortlist.model.problem import ShortlistError
from shortlist.model.times import now
from shortlist.sites.identity import STATUS, join
from shortlist.sites.link import Exchanged, Sources, exchange
from shortlist.sites.own_registry import OwnRegistry
from shortlist.sites.site import Site
from shortlist.sites.wire import stream_of

LOGGER = logging.getLogger("shortlist.sites")
POLL_SECONDS = 0.05
"""Between two looks at whatever had nothing new."""
LINK_PATIENCE = 5.0
"""Seconds for which the server of a link is waited for."""
LONGEST_PAUSE = 5.0
"""Seconds between two attempts, at most."""
SAVE_SECONDS = 2.0
SAVE_SHARE = 20
"""Saving takes at most one part in so many of the time."""
STATUS_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which site is to run, and how."""

    name: str
    log: str = field(repr=False)
    """The address of its own log, which may hold a password."""
    neighbours: Mapping[str, str] = field(repr=False)
    """By neighbour, the address of the log that both write their link to."""
    keep: int
    """For how long what came is looked at again, in microseconds."""
    sources: Mapping[str, Collection[str]] = field(default_factory=dict)
    """The only sources that a neighbour may bring, by neighbour."""
    skips: Mapping[str, int] = field(default_factory=dict)
    """The entry of a neighbour's stream that is passed over, by neighbour."""
    own_sources: Callable[[Log], Collection[str]] = lambda log: frozenset()
    """The sources that the publishers of a log speak for; other neighbours may bring none of
    them."""


class Observer(Protocol):
    """Hears what happens."""

    def started(self, site: Site) -> None: ...

    def changed(self, links: Mapping[str, Any]) -> None:
        """How the links are doing now."""
        ...

    def failed(self, error: BaseException, pause: float) -> None:
        """It goes on after so many seconds."""
        ...


class Running:
    """One site of this process."""

    def __init__(self, wanted: Wanted, observer: Observer) -> None:
        self._wanted = wanted
        self._observer = observer
        self._stopping = threading.Event()

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> None:
        """Goes on where the last one stopped, until `stop`; a failure is not the end.

        Raises what no second attempt would mend.
        """
        with closing(open_log(self._wanted.log)) as log:
            folder = state_folder(log)
        with only_driver(folder):
            failures = 0
            while not self._stopping.is_set():
                began = time.monotonic()
                try:
                    self._run(folder)
                except (LogUnavailable, OSError) as error:
                    failures = 1 if time.monotonic() - began > 60 else failures + 1
                    pause = min(0.2 * 2**failures, LONGEST_PAUSE)
                    self._observer.failed(error, pause)
                    self._stopping.wait(pause)

    def _run(self, folder: Path) -> None:
        wanted = self._wanted
        with ExitStack() as stack:
            log = stack.enter_context(closing(open_log(wanted.log)))
            known = join(log, wanted.name, wanted.neighbours)
            own, state = OwnRegistry(log, wanted.name), read_state(folder)
            sources = Sources(wanted.sources, partial(wanted.own_sources, log))
            site = Site(
                log, own, known, state, keep=wanted.keep, sources=sources, skips=wanted.skips
            )
            logs = {
                name: stack.enter_context(closing(open_log(url, LINK_PATIENCE)))
                for name, url in wanted.neighbours.items()
            }
            self._observer.started(site)
            pool = stack.enter_context(ThreadPoolExecutor(len(logs)))
            _Loop(site, log, folder, logs, pool, self._observer).run(self._stopping)


@dataclass(slots=True)
class _Loop:
    """Exchanges with every neighbour, each in its own time: one that is out keeps no other."""

    site: Site
    log: Log
    folder: Path
    logs: Mapping[str, Log]
    pool: ThreadPoolExecutor
    observer: Observer
    under_way: dict[str, Future[Exchanged]] = field(default_factory=dict)
    due: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    failures: Counter[str] = field(default_factory=Counter)
    saved: bytes | None = None
    save_at: float = field(default_factory=lambda: time.monotonic() + SAVE_SECONDS)
    status_at: float = 0.0
    refresh_at: float = 0.0

    def run(self, stopping: threading.Event) -> None:
        while not stopping.is_set():
            is_busy = self.site.advance()
            if is_busy or time.monotonic() >= self.refresh_at:
                self.site.refresh()
                self.refresh_at = time.monotonic() + 4 * POLL_SECONDS
            self._start_exchanges()
            self._end_exchanges()
            self.site.admit()
            self._save_if_due()
            self._tell_if_due()
            if not is_busy:
                self._rest(stopping)
        wait([*self.under_way.values()], timeout=LINK_PATIENCE)
        self._end_exchanges()
        self.site.admit()
        self._save()

    def _start_exchanges(self) -> None:
        for name, log in self.logs.items():
            if name not in self.under_way and time.monotonic() >= self.due[name]:
                try:
                    work = self.site.work(name)
                except (ShortlistError, OSError):
                    raise
                except Exception as error:
                    # What one neighbour has asked for is compared with what others are told: where
                    # that fails, this link waits and the others go on.
                    LOGGER.exception("the link to %s", name)
                    self.site.failed(name, f"{type(error).__name__}: {error}")
                    self.due[name] = time.monotonic() + LONGEST_PAUSE
                    continue
                mine = self.site.name
                out, into = stream_of(mine, name), stream_of(name, mine)
                self.under_way[name] = self.pool.submit(exchange, log, out, into, work)

    def _end_exchanges(self) -> None:
        for name, future in [*self.under_way.items()]:
            if not future.done():
                continue
            del self.under_way[name]
            try:
                done = future.result()
            except (LogUnavailable, Moved) as error:
                self.failures[name] += not isinstance(error, Moved)
                self.site.failed(name, str(error))
                pause = min(0.05 * 2 ** self.failures[name], LONGEST_PAUSE)
                self.due[name] = time.monotonic() + pause
                continue
            self.failures[name] = 0
            goes_on = self.site.took(name, done)
            if self.site.links[name].aside is not None:
                self.due[name] = math.inf
                continue
            self.site.links[name].heard = now()
            self.due[name] = time.monotonic() + (0.0 if goes_on else POLL_SECONDS)

    def _rest(self, stopping: threading.Event) -> None:
        """Until an exchange ends, or it is time to look again."""
        if self.under_way:
            wait([*self.under_way.values()], timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
        elif min(self.due.values()) > time.monotonic():
            stopping.wait(POLL_SECONDS / 4)

    def _save_if_due(self) -> None:
        if time.monotonic() >= self.save_at:
            began = time.monotonic()
            self._save()
            ended = time.monotonic()
            self.save_at = ended + max(SAVE_SECONDS, SAVE_SHARE * (ended - began))

    def _save(self) -> None:
        state = json.dumps(self.site.state()).encode()
        if state != self.saved:
            write_state(self.folder, state)
            self.saved = state

    def _tell_if_due(self) -> None:
        if time.monotonic() >= self.status_at:
            self.status_at = time.monotonic() + STATUS_SECONDS
            links = self.site.status()
            self.observer.changed(links)
            told = {"told": now(), "links": links}
            change_json(self.log, STATUS, lambda known: told)


def state_folder(log: Log) -> Path:
    """Where a site keeps from where to go on: beside the state of its deployment."""
    folder = announced(log)
    if folder is None:
        raise NoDeployment("expected a deployment, found none: start one with `shortlist up`")
    return folder / "site"


def read_state(folder: Path) -> dict[str, Any] | None:
    """What was saved last; None if nothing was."""
    try:
        state: dict[str, Any] = json.loads((folder / "state.json").read_bytes())
    except FileNotFoundError:
        return None
    return state


def write_state(folder: Path, content: bytes) -> None:
    """In place of what was saved before, all or nothing."""
    write_whole(folder / "state.json", content, open_private)
    make_durable(folder)
