"""The publications that were published last, without those that must not be read any more.

Previews and explanations replay them. A publisher that retracts or replaces a publication expects
that subscribers can no longer read it, so what was retracted, replaced, rejected or has expired is
left out. Bytes are bounded besides counts: 250 publications of 260 kB, which were within the limits
of publications, once became 2.8 GB of Python objects in one preview.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shortlist.client.deployment import Deployment, object_of
from shortlist.log.base import INPUT, REJECTS, Entry, Log
from shortlist.model.times import format_time, parse_time
from shortlist.model.wording import RETRACTED, shown

if TYPE_CHECKING:
    from shortlist.engine.explanation import Question

# How many publications are replayed, and how many bytes of their lines.
MAX_PUBLICATIONS = 1000
MAX_REPLAYED_BYTES = 4 * 2**20
# How much of a stream is read to find them: heartbeats and commands stand between.
MAX_ENTRIES = 20_000
MAX_READ_BYTES = 32 * 2**20
# Entries that are read at once. A window grows while its entries are small: entries of 256 kB are
# held in memory 64 at a time, entries of some hundred bytes 1,024 at a time.
SMALL_WINDOW, LARGE_WINDOW = 64, 1024
SMALL_WINDOW_BYTES = 2**20

# Source and id of a publication.
Name = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Recent:
    """The publications that may be replayed, and why others may not."""

    # Oldest first.
    entries: list[Entry] = field(default_factory=list)
    # By publication, why it is not among the entries though it was published.
    withdrawn: dict[Name, str] = field(default_factory=dict)
    # The publications among them that the publisher took back.
    taken_back: set[Name] = field(default_factory=set)
    # The publications that the entries hold.
    alive: set[Name] = field(default_factory=set)

    def behind(self, offset: int) -> list[Entry]:
        """Return the entries behind an offset."""
        return [entry for entry in self.entries if entry.offset > offset]

    def also(self, taken_back: Mapping[Name, str]) -> None:
        """Add what the state knows to be taken back, unless it was published anew since."""
        for name, reason in taken_back.items():
            if name not in self.alive:
                self.withdrawn.setdefault(name, reason)
                self.taken_back.add(name)

    def withdrawn_for(self, question: Question) -> list[tuple[Name, str]]:
        """Return the withdrawn publications that a question asks for, with the reasons."""
        return [
            (name, reason)
            for name, reason in self.withdrawn.items()
            if question.publication == name[1] and question.source in (None, name[0])
        ]


def recent_publications(deployment: Deployment, now: int) -> Recent:
    """Read the last publications of a deployment's input that may still be read at `now`."""
    log, manifest = deployment.log, deployment.manifest
    first = max(log.end(INPUT) - MAX_ENTRIES, 0)
    rejected, known_from = set[int](), first
    if manifest is not None:
        rejected, known_from = _rejected_offsets(log, manifest.base, first)
        if manifest.basis == "event" and manifest.reached is not None:
            now = min(now, manifest.reached)  # old data expire by their own time
    recent, size = Recent(), 0
    for entry in read_backwards(log, INPUT):
        # before `known_from` it is not known what was rejected
        if entry.offset <= known_from or len(recent.entries) == MAX_PUBLICATIONS:
            break
        if entry.offset in rejected:
            continue
        name = _observe(object_of(entry.content) or {}, recent, now)
        if name is None:
            continue
        size += len(entry.content)
        if size > MAX_REPLAYED_BYTES:
            break
        recent.alive.add(name)
        recent.entries.append(entry)
    recent.entries.reverse()
    for name in recent.alive:  # an id that was published anew after it was retracted
        recent.withdrawn.pop(name, None)
        recent.taken_back.discard(name)
    return recent


def _observe(document: Mapping[str, Any], recent: Recent, now: int) -> Name | None:
    """Note what an entry withdraws; return its name if it is a publication that may be replayed.

    Entries come latest first, so whatever withdraws a publication was observed before it.
    """
    retracted = document.get("retract")
    if isinstance(retracted, dict):
        name = _name(retracted)
        if name is not None:
            recent.withdrawn.setdefault(name, RETRACTED)
            recent.taken_back.add(name)
        return None
    name = _name(document)
    if name is None:
        return None
    source, publication = name
    replaced = document.get("replaces")
    if isinstance(replaced, str):
        reason = f"replaced by {shown(publication)}"
        recent.withdrawn.setdefault((source, replaced), reason)
        recent.taken_back.add((source, replaced))
    if name in recent.taken_back:
        return None
    if document.get("audience") == 0:
        recent.withdrawn.setdefault(name, "published for an audience of 0")
        return None
    expiry = document.get("expirytime")
    if expiry is not None:
        with suppress(ValueError, TypeError):
            if parse_time(expiry) <= now:
                recent.withdrawn.setdefault(name, f"expired at {format_time(parse_time(expiry))}")
                return None
    return name


def _name(document: Mapping[str, Any]) -> Name | None:
    source, publication = document.get("source"), document.get("id")
    if isinstance(source, str) and isinstance(publication, str):
        return source, publication
    return None


def _rejected_offsets(log: Log, base: int, first: int) -> tuple[set[int], int]:
    """Return the offsets behind `first` that were rejected, and the offset from which on all of
    them are known: the rejects before it were too many to be read."""
    offsets, read, earliest = set[int](), 0, log.end(INPUT)
    for entry in read_backwards(log, REJECTS):
        read += 1
        position = json.loads(entry.content)["position"]
        if position is None:  # of no entry of the input
            continue
        # Not in order: an item that waited is rejected behind items that came after it.
        offset = int(position) - base
        earliest = min(earliest, offset)
        if offset > first:
            offsets.add(offset)
    return offsets, first if read == log.end(REJECTS) else max(first, earliest)


def read_backwards(
    log: Log,
    stream: str,
    entries: int = MAX_ENTRIES,
    size: int = MAX_READ_BYTES,
    *,
    key: str | None = None,
) -> Iterator[Entry]:
    """Yield the last entries of a stream, the latest first, within a count and a size in bytes.

    With `key`, yield those of them that have the key; the count is of all entries.
    """
    until, window = log.end(stream), SMALL_WINDOW
    first = max(until - entries, 0)
    while until > first:
        after = max(until - window, first)
        found = [*log.read(stream, after, until, key=key)]
        for entry in reversed(found):
            size -= len(entry.content)
            if size < 0:
                return
            yield entry
        is_small = sum(len(entry.content) for entry in found) < SMALL_WINDOW_BYTES
        until, window = after, LARGE_WINDOW if is_small else SMALL_WINDOW
