"""What logs share: names, addresses in messages, where streams end, and reading in chunks."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from shortlist.log.base import Chunk, Entry, LogUnavailable, Moved
from shortlist.model.wording import shown

MOST_ENTRIES = 1000
MOST_BYTES = 4 * 2**20
"""A chunk ends with the entry that makes it as large as this."""
STREAM_NAME = re.compile(r"[a-z][a-z0-9_]*")


def checked_stream(stream: str) -> str:
    """A stream's name, if it is one that every log can use.

    >>> checked_stream("what's new")
    Traceback (most recent call last):
    ...
    ValueError: expected a stream's name such as input, found "what's new"
    """
    if STREAM_NAME.fullmatch(stream) is None:
        raise ValueError(f"expected a stream's name such as input, found {shown(stream)}")
    return stream


def shown_address(url: str) -> str:
    """The address of a log, fit for a message: without its user and password, however mistyped.

    >>> print(shown_address("nats://ann:secret@host:4222/my city"))
    'nats://host:4222/my city'
    >>> print(shown_address("nats:/ann:sec/r@t@host:4222/city?token=secret"))
    'nats://host:4222/city?…'
    """
    who, at, rest = url.rpartition("@")
    kind = who.partition(":")[0]
    return shown(re.sub(r"[?#].+", "?…", f"{kind}://{rest}" if at else rest))


def moved(stream: str, expected: int | None, found: int | str) -> Moved:
    return Moved(f"expected the end of {stream} at {expected}, found it at {found}")


def within_bytes(entries: Iterable[Entry], most: int) -> Iterator[Entry]:
    """The first of some entries, up to the one with which they have so many bytes.

    >>> some = [Entry(offset, 0, b"four") for offset in range(1, 9)]
    >>> [entry.offset for entry in within_bytes(some, 10)]
    [1, 2, 3]
    """
    size = 0
    for entry in entries:
        yield entry
        size += len(entry.content)
        if size >= most:
            return


def chunks_within_bytes(chunks: Iterable[Chunk], most: int) -> Iterator[Chunk]:
    """The same of entries in chunks.

    >>> some = Chunk.of([Entry(offset, 0, b"four") for offset in range(1, 9)])
    >>> [chunk.last for chunk in chunks_within_bytes([some.between(0, 2), some.between(2, 8)], 10)]
    [2, 3]
    """
    for chunk in chunks:
        contents = chunk.contents
        end = bisect_left(contents.stops, contents.start + most) + 1
        yield chunk.between(0, chunk.first + end - 1)
        most -= contents.size
        if most <= 0:
            return


def read_in_chunks(
    chunk_behind: Callable[[int], Sequence[Entry]], after: int, until: int, *, sparse: bool
) -> Iterator[Entry]:
    """The entries of (after, until], by calls that give some of those behind an offset, or none.

    Offsets have no gaps, so one that is missed is damage, unless the entries are only those of one
    key (`sparse`).

    >>> list(read_in_chunks(lambda after: [Entry(after + 2, 0, b"")], 5, 9, sparse=False))
    Traceback (most recent call last):
    ...
    shortlist.log.base.LogUnavailable: the log is damaged: behind 5 entries are missing
    """
    while after < until:
        chunk = chunk_behind(after)
        if sparse and not chunk:
            return
        if not sparse and (not chunk or chunk[-1].offset != after + len(chunk)):
            raise missing(after)
        yield from chunk
        after = chunk[-1].offset


def missing(after: int) -> LogUnavailable:
    """Offsets have no gaps: one that is missed is damage."""
    return LogUnavailable(f"the log is damaged: behind {after} entries are missing")


def in_chunks(entries: Iterator[Entry]) -> Iterator[Chunk]:
    """Entries that come one by one.

    >>> [(chunk.first, chunk.last) for chunk in in_chunks(Entry(n, 0, b"") for n in range(1, 1500))]
    [(1, 1000), (1001, 1499)]
    """
    while some := [*islice(entries, MOST_ENTRIES)]:
        yield Chunk.of(some)
