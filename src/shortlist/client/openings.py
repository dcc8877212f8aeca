"""Openings: from where on a shortlist is its present subscriber's.

A name that is free again can be taken by another subscriber. What came to the shortlist before that
is not the new one's, and what was set up for it (webhooks, streams) ends. The log says where one
opening ends and the next one begins (`HANDOVERS`), so every service on it knows the same, after a
restart too.
"""

import json
import time
from collections.abc import Iterable
from threading import Lock
from typing import NamedTuple

from shortlist.client.deployment import Deployment
from shortlist.client.following import Place
from shortlist.client.nouns import NotLive
from shortlist.log.base import HANDOVERS, Log, LogUnavailable
from shortlist.model.shortlist import Shortlist
from shortlist.model.wording import shown

# Names whose last opening is remembered; about 300 bytes each.
MAX_KNOWN = 100_000
# Entries that are read to bring what is remembered up to date; behind more of them it is cheaper to
# forget it, and to look up again what is asked for.
MAX_READ = 20_000
# Entries of the stream that can be read one after the other in about the time that it takes to look
# up one name: about 550 µs on SQLite, against 4 µs for an entry.
KEYED_READ_ENTRIES = 100
# Seconds to wait for what follows a commit: the log has it milliseconds later, unless the driver
# was killed in between; then the next driver writes it first of all.
OUTPUT_SECONDS = 2.0
POLL_SECONDS = 0.02


class Opening(NamedTuple):
    """One time for which a shortlist belongs to one subscriber."""

    position: int
    """Of the command that opened the shortlist, or gave it to this subscriber. It tells openings of
    one name apart; 0: the shortlist is as the registry had it."""
    subscriber: str | None
    """None where the shortlist has closed, and where it is as the registry had it."""
    after: Place
    """Deliveries and departures behind this place are of this opening, until the next one."""


# Shortlists of which the log says nothing are as the registry of the deployment had them.
FIRST = Opening(0, None, Place(0, 0))


def opening_in(content: bytes) -> tuple[str, Opening]:
    """The shortlist and the opening that an entry of HANDOVERS tells of."""
    entry = json.loads(content)
    after = Place(entry["deliveries"], entry["departures"])
    return entry["shortlist"], Opening(entry["position"], entry["subscriber"], after)


class Openings:
    """The last opening of each shortlist, as a log has it. Threads may ask at the same time.

    >>> import tempfile
    >>> from shortlist.log.sqlite import SqliteLog
    >>> log = SqliteLog(f"{tempfile.mkdtemp()}/city.log")
    >>> openings = Openings(log)
    >>> entry = {"shortlist": "flats", "subscriber": "ann", "position": 7}
    >>> content = json.dumps({**entry, "deliveries": 3, "departures": 0}).encode()
    >>> _ = log.append(HANDOVERS, [content], keys=["flats"])
    >>> openings.last("flats").position, openings.last("others").position
    (7, 0)
    >>> log.close()
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._lock = Lock()
        self._read = 0
        """The offset up to which `_known` is right."""
        self._known: dict[str, Opening] = {}

    def last(self, shortlist: str) -> Opening:
        """The last opening of a shortlist; without a subscriber if it has closed since."""
        return self.last_of([shortlist])[shortlist]

    def last_of(self, shortlists: Iterable[str]) -> dict[str, Opening]:
        """Return the last openings of several shortlists, by their names."""
        names = {*shortlists}
        with self._lock:
            self._read_on()
            known = {name: self._known[name] for name in names if name in self._known}
            end = self._read
        unknown = names - known.keys()
        if not unknown:
            return known
        # Other threads may go on meanwhile: to look up 10,000 names takes seconds.
        found = self._looked_up(unknown, end)
        with self._lock:
            self._update(found, end, self._read)
            if len(self._known) + len(found) > MAX_KNOWN:
                self._known.clear()
            self._known |= found
        return known | found

    def _looked_up(self, names: set[str], end: int) -> dict[str, Opening]:
        """Read the openings of names from the log, as they are at the offset `end`."""
        found = dict.fromkeys(names, FIRST)
        if len(names) * KEYED_READ_ENTRIES >= end:
            self._update(found, 0, end)
            return found
        for name in names:
            for entry in self._log.read(HANDOVERS, 0, end, key=name):
                _, found[name] = opening_in(entry.content)
        return found

    def _read_on(self) -> None:
        end = self._log.end(HANDOVERS)
        if end - self._read > MAX_READ:
            self._known.clear()
        self._update(self._known, self._read, end)
        self._read = end

    def _update(self, known: dict[str, Opening], after: int, until: int) -> None:
        """Bring openings that are right at one offset up to a later one."""
        if not known or after == until:
            return
        for entry in self._log.read(HANDOVERS, after, until):
            name, opening = opening_in(entry.content)
            if name in known:
                known[name] = opening

    def present(self, deployment: Deployment, live: Shortlist) -> Opening:
        """The opening of a shortlist that the last commit, or one before it, has as live; `NotLive`
        if it belongs to another subscriber by now, or to none."""
        last = self.settled(deployment, live.id)
        if last.position and last.subscriber != live.subscriber:
            raise NotLive(f"there is no live shortlist {shown(live.id)}")
        return last._replace(subscriber=live.subscriber)

    def settled(self, deployment: Deployment, shortlist: str) -> Opening:
        """The last opening of a shortlist, by the last commit or a later one: the log has it soon
        after that."""
        manifest = deployment.manifest
        end = 0 if manifest is None else manifest.handovers.end
        deadline = time.monotonic() + OUTPUT_SECONDS
        while self._log.end(HANDOVERS) < end:
            if time.monotonic() >= deadline:
                raise LogUnavailable("the log does not have yet what was committed last")
            time.sleep(POLL_SECONDS)
        return self.last(shortlist)
