"""The manifest: what a deployment has read, holds and has delivered, committed in one step."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.live.files import Stored
from shortlist.model.settings import TimeBasis

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FORMAT = 3
MOST_BATCHES = 128
"""Behind a snapshot: more would make manifests long."""
MOST_IN_ALL = 2048
LEAST_BYTES = 2**16
"""Batches up to this size never ask for a snapshot by themselves: to take them in again takes
about a tenth of a second."""


class Piece(NamedTuple):
    """A part of a file."""

    file: str
    start: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """What a batch gives to a shard: the same input leads to the same state again."""

    items: Stored
    chosen: str | None = None
    """Whom publishers with an audience reach."""
    matches: tuple[Piece, ...] | None = None
    """What lanes found for the shard; None where it matches for itself."""
    replacing: tuple[int, ...] = ()
    """The positions of publications that take others back, where lanes match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """A state: a snapshot, and what was taken in since, in order."""

    token: str
    """Tells this state from every other one that somebody may have in memory."""
    snapshot: Stored
    registry: Stored | None = None
    """What the snapshot refers to; None where it has its registry within."""
    inputs: tuple[Input, ...] = ()
    until: int | None = None
    """Everything that is due before this instant has happened."""

    def followed(self, token: str, taken: Input) -> "Chain":
        return replace(self, token=token, inputs=(*self.inputs, taken))

    def is_long(self, shards: int = 1, least: int = LEAST_BYTES) -> bool:
        """Whether it is time for a new snapshot: what was taken in, which somebody who restores
        this would take in again, is then as large as what is read before that. Of many shards none
        may have many inputs: a manifest names all of them."""
        read_before = sum(stored.size for stored in self.first)
        is_large = sum(taken.items.size for taken in self.inputs) > max(read_before, least)
        return is_large or len(self.inputs) >= min(MOST_BATCHES, max(8, MOST_IN_ALL // shards))

    @property
    def first(self) -> tuple[Stored, ...]:
        """What it begins with."""
        return (self.snapshot,) if self.registry is None else (self.snapshot, self.registry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Rows that are kept until time has passed the last of them."""

    file: Stored
    last: int
    tier: int = 0
    """How often they were put together with others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The lines of one batch for one stream of the log, and how many there were before it."""

    before: int = 0
    count: int = 0
    files: tuple[str, ...] = ()

    @property
    def end(self) -> int:
        return self.before + self.count

    def followed(self, count: int, files: tuple[str, ...]) -> "Output":
        return Output(before=self.end, count=count, files=files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Everything that a driver has to know to go on; files that it does not name do not exist."""

    format: int = FORMAT
    id: str
    """Of the deployment's state, for ever."""
    number: int = 0
    """Commits so far."""
    epoch: int = 0
    """Counts the drivers: whoever takes over has one more than all before."""
    base: int = 0
    """The position before the input's first one: the state may have come from another log."""
    position: int = 0
    """The last item that was read."""
    passed: int = 0
    """Up to here every item was carried out or turned away; behind it some wait."""
    basis: TimeBasis
    """What the time of items is, chosen at the first start."""
    arrived: int | None = None
    """The largest instant at which the log took an item that was read."""
    latest: int | None = None
    """The largest time of an item that was not late."""
    reached: int | None = None
    """Everything before this instant has happened; it never goes back."""
    registry: Chain
    """What the admission knows of the registry."""
    first_registry: Stored
    """What the deployment began with, for a replay."""
    accepted: tuple[Segment, ...] = ()
    waiting: tuple[Segment, ...] = ()
    quarantine: tuple[Segment, ...] = ()
    """What the engine fails on."""
    quarantined: int = 0
    """How much of it there is at present."""
    shards: tuple[Chain, ...] = ()
    deliveries: Output = Output()
    rejects: Output = Output()
    departures: Output = Output()
    subscriptions: int
    """How many are live."""
    shortlists: int
    tzdata: str
    """The version of the tz database that it went by so far."""
    settings: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)
    checkpoint: str = ""
    """Of the streaming query that the number of a batch belongs to."""
    batch: int = -1
    """The last batch of that query; of one that was cut into pieces, the pieces that are left stand
    in `pending`."""
    pending: tuple[str, ...] = ()
    """Files of items that were read and not carried out yet, in order."""
    committed: int = 0
    """When, in microseconds since 1970."""
    is_finished: bool = False
    """The input had an end, and time has run on to its own."""

    def to_bytes(self) -> bytes:
        return _adapter().dump_json(self)

    @classmethod
    def of_bytes(cls, content: bytes) -> "Manifest":
        """Raises `ValueError` where it is none, or of another version."""
        found = json.loads(content)["format"]
        if found != FORMAT:
            raise ValueError(f"expected a manifest of format {FORMAT}, found {found}")
        return _adapter().validate_json(content)

    @property
    def finds(self) -> bool:
        """Whether shards match for themselves."""
        return bool(self.settings.get("plan", "replicate") == "replicate")

    @property
    def files(self) -> Iterator[str]:
        """All that it needs."""
        yield from self.state_files
        for output in (self.deliveries, self.rejects, self.departures):
            yield from output.files
        yield from self.pending

    @property
    def inputs(self) -> Iterator[Input]:
        return (taken for chain in (self.registry, *self.shards) for taken in chain.inputs)

    @property
    def stored(self) -> Iterator[Stored]:
        """All of the state but what stands beside items, and what the deployment began with."""
        for chain in (self.registry, *self.shards):
            yield from chain.first
            for taken in chain.inputs:
                yield taken.items
        yield from (kept.file for kept in (*self.accepted, *self.waiting, *self.quarantine))

    @property
    def state_files(self) -> Iterator[str]:
        for stored in self.stored:
            yield stored.name
        for taken in self.inputs:
            if taken.chosen is not None:
                yield taken.chosen
            for piece in taken.matches or ():
                yield piece.file
        yield self.first_registry.name

    def renamed(self, names: Mapping[str, str]) -> "Manifest":
        """The same state in other files; a name stands in it as a whole text."""
        text = re.sub(
            rb'"([a-z0-9-]+)"',
            lambda found: b'"%s"' % names.get(found[1].decode(), found[1].decode()).encode(),
            self.to_bytes(),
        )
        return self.of_bytes(text)

    @property
    def state_bytes(self) -> int:
        return sum(stored.size for stored in self.stored)


@cache
def _adapter() -> "TypeAdapter[Manifest]":
    from pydantic import TypeAdapter  # most commands read no manifest

    return TypeAdapter(Manifest)
