"""The protocol of durable logs: streams of entries, and registers that change by comparison."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from shortlist.model.joined import Joined
from shortlist.model.problem import ShortlistError

INPUT = "input"
"""The stream of a timeline's lines: publications and commands; their offsets are positions."""
DELIVERIES = "deliveries"
"""The stream of deliveries, by shortlist."""
REJECTS = "rejects"
"""The stream of what was turned away."""
DEPARTURES = "departures"
"""The stream of what left shortlists, by shortlist."""
HANDOVERS = "handovers"
"""The stream that tells from where on a shortlist is whose, by shortlist."""


class LogUnavailable(ShortlistError):
    """A log that cannot be reached, cannot keep what it is given (its disk is full), or is damaged.

    Nobody knows then whether it did what it was asked for, unless it says so.
    """


class Moved(ShortlistError):
    """Somebody else was faster: a stream does not end, or a register does not stand, where the
    caller said."""


class Entry(NamedTuple):
    """One entry of a stream."""

    offset: int
    """From 1, without gaps."""
    appended: int
    """When the log took it, in microseconds since 1970, by its own clock.

    A log whose clock was set back repeats its last instant, if it can (SQLite can). A NATS server
    has its own timestamps: whoever goes by them has to take the largest one so far, and to keep
    that with its position (`engine/ordering.py` does).
    """
    content: bytes


class Chunk(NamedTuple):
    """Some neighbouring entries as columns."""

    first: int
    """The offset of the first one."""
    appended: Sequence[int]
    contents: Joined

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> "Chunk":
        """Of at least one entry.

        >>> chunk = Chunk.of([Entry(7, 1, b"one"), Entry(8, 1, b"two")])
        >>> chunk.last, [*chunk.entries()] == [Entry(7, 1, b"one"), Entry(8, 1, b"two")]
        (8, True)
        """
        _, appended, contents = zip(*entries, strict=True)
        return cls(entries[0].offset, appended, Joined.of(contents))

    @property
    def last(self) -> int:
        return self.first + len(self.contents) - 1

    def entries(self) -> Iterator[Entry]:
        offsets = range(self.first, self.last + 1)
        return map(Entry, offsets, self.appended, self.contents)

    def between(self, after: int, until: int) -> "Chunk":
        """Those of its entries that lie behind an offset, up to another one."""
        some = slice(max(after + 1 - self.first, 0), max(until + 1 - self.first, 0))
        return Chunk(self.first + some.start, self.appended[some], self.contents[some])


class Register(NamedTuple):
    """A small value that is replaced as a whole."""

    revision: int
    """Grows with every change."""
    content: bytes


class Log(Protocol):
    """What is acknowledged is durable: it survives the loss of power, not only of the process."""

    def append(
        self,
        stream: str,
        contents: Sequence[bytes],
        *,
        keys: Sequence[str] | None = None,
        expected_end: int | None = None,
    ) -> int:
        """Adds entries, all or none; the offset of the last, once they are durable.

        With `expected_end`, raises `Moved` unless the stream ended there. Entries may have a key
        each, by which they can be found. Raises `ValueError` for what the log could never take.
        Very many are best given as `Joined` contents and keys.
        """
        ...

    @property
    def longest(self) -> int | None:
        """The bytes that an entry may have at most, if there is such a limit."""
        ...

    def end(self, stream: str) -> int:
        """The offset of the last entry, 0 if there is none."""
        ...

    def read(
        self, stream: str, after: int, until: int | None = None, *, key: str | None = None
    ) -> Iterator[Entry]:
        """The entries behind an offset up to another one, or to the present end; as often as you
        like."""
        ...

    def chunks(self, stream: str, after: int, until: int | None = None) -> Iterator[Chunk]:
        """As `read`, without an object for each entry."""
        ...

    def register(self, name: str) -> Register | None:
        """A register, if somebody has set it."""
        ...

    def put(self, name: str, content: bytes, revision: int) -> int:
        """Sets a register whose revision is known (0: it does not exist yet); the new revision.

        Raises `Moved` if it is another one.
        """
        ...

    def close(self) -> None: ...
