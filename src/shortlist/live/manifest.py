"""The manifest: what a deployment has read, holds and has delivered, committed in one step."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from pydantic import TypeAdapter

FORMAT = 1
MOST_CHANGES = 128
"""Changes behind a snapshot: more would take long to restore."""
MOST_IN_ALL = 2048
LEAST_BYTES = 2**20
"""Changes up to this size never ask for a snapshot by themselves."""


class Stored(NamedTuple):
    """A file, and how large it is."""

    name: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """A state: a snapshot, and the changes since, in order."""

    token: str
    """Tells this state from every other one that somebody may have in memory."""
    snapshot: Stored
    changes: tuple[Stored, ...] = ()

    def changed(self, token: str, change: Stored) -> "Chain":
        return replace(self, token=token, changes=(*self.changes, change))

    @property
    def size(self) -> int:
        return self.snapshot.size + sum(change.size for change in self.changes)

    def is_long(self, shards: int = 1) -> bool:
        """Whether it is time for a new snapshot: the work that it takes is then at most as much as
        that for the changes was. Of many shards none may have many changes: a manifest names all
        of them."""
        changed = sum(change.size for change in self.changes)
        is_large = changed > max(self.snapshot.size, LEAST_BYTES)
        return is_large or len(self.changes) >= min(MOST_CHANGES, max(8, MOST_IN_ALL // shards))

    @property
    def files(self) -> Iterator[str]:
        yield self.snapshot.name
        for change in self.changes:
            yield change.name


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
    base: int = 0
    """The position before the input's first one: the state may have come from another log."""
    position: int = 0
    """The last item that was read."""
    latest: int | None = None
    """The largest time of an item that was not late."""
    reached: int | None = None
    """Everything before this instant has happened; it never goes back."""
    registry: Chain
    """What the admission knows of the registry."""
    accepted: tuple[Segment, ...] = ()
    waiting: tuple[Segment, ...] = ()
    shards: tuple[Chain, ...] = ()
    deliveries: Output = Output()
    rejects: Output = Output()
    departures: Output = Output()
    tzdata: str | None = None
    """The version of the tz database that it went by so far; None where none was written down."""
    settings: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)
    checkpoint: str = ""
    """Of the streaming query that the number of a batch belongs to."""
    batch: int = -1
    """The last batch of that query."""
    committed: int = 0
    """When, in microseconds since 1970."""
    is_finished: bool = False
    """The input had an end, and time has run on to its own."""

    def to_bytes(self) -> bytes:
        return MANIFEST.dump_json(self)

    @classmethod
    def of_bytes(cls, content: bytes) -> "Manifest":
        """Raises `ValueError` where it is none, or of a later version."""
        manifest = MANIFEST.validate_json(content)
        if manifest.format > FORMAT:
            raise ValueError(
                f"expected a manifest of format {FORMAT} or before, found {manifest.format}"
            )
        return manifest

    @property
    def files(self) -> Iterator[str]:
        """All that it needs."""
        yield from self.state_files
        for output in (self.deliveries, self.rejects, self.departures):
            yield from output.files

    @property
    def state_files(self) -> Iterator[str]:
        for chain in (self.registry, *self.shards):
            yield from chain.files
        for segment in (*self.accepted, *self.waiting):
            yield segment.file.name

    def renamed(self, names: Mapping[str, str]) -> "Manifest":
        """The same state in other files."""

        def file(stored: Stored) -> Stored:
            return stored._replace(name=names[stored.name])

        def chain(known: Chain) -> Chain:
            changes = tuple(map(file, known.changes))
            return replace(known, snapshot=file(known.snapshot), changes=changes)

        def segments(known: tuple[Segment, ...]) -> tuple[Segment, ...]:
            return tuple(replace(segment, file=file(segment.file)) for segment in known)

        return replace(
            self,
            registry=chain(self.registry),
            shards=tuple(map(chain, self.shards)),
            accepted=segments(self.accepted),
            waiting=segments(self.waiting),
        )

    @property
    def state_bytes(self) -> int:
        chains = (self.registry, *self.shards)
        segments = (*self.accepted, *self.waiting)
        return sum(chain.size for chain in chains) + sum(one.file.size for one in segments)


MANIFEST = TypeAdapter(Manifest)
