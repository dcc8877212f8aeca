"""Many entries in few rows of an SQLite file: blocks of neighbours, compressed, and who has a key.

A block is a row: the length of each key and content in four bytes, then all keys, then all
contents, compressed together. Which entries of an append may have a key is told by a row for each
of 64 groups of keys; what has it is told by the block.
"""

import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shortlist.log.base import Chunk, Entry, LogUnavailable
from shortlist.model.joined import Joined, JoinedTexts

MOST_ENTRIES = 256
MOST_BYTES = 2**20
"""Of a block, but for one entry that has more: whoever wants one entry reads all of its block."""
INSERT = "INSERT INTO {stream}_blocks VALUES (?, ?, ?, ?, ?, ?, ?)"
INSERT_KEYS = "INSERT INTO {stream}_block_keys VALUES (?, ?, ?)"
CODEC = "zstd"
LENGTH = np.dtype("<u4")
GROUP_BITS = 6
OFFSET_BITS = 48
"""The place of a row of keys is its group, then the offset of the last entry of its append."""
FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""The golden ratio, of which the bits are as good as drawn."""

NOTHING = Joined(b"", b"")

Numbers = npt.NDArray[np.uint32]
Connect = Callable[[], sqlite3.Connection]


def insert(
    connection: sqlite3.Connection,
    stream: str,
    first: int,
    appended: int,
    contents: Sequence[bytes],
    keys: Sequence[str] | None,
) -> None:
    """Inserts entries from an offset on."""
    if keys is not None and len(keys) != len(contents):
        raise ValueError(f"expected {len(contents)} keys, found {len(keys)}")
    joined, named = Joined.of(contents), None if keys is None else JoinedTexts.of(keys).joined
    connection.executemany(INSERT.format(stream=stream), _blocks(first, appended, joined, named))
    if named is not None:
        connection.executemany(INSERT_KEYS.format(stream=stream), _groups(first, named))


def chunk_from(connection: sqlite3.Connection, stream: str, offset: int) -> Chunk:
    """The entries of a block, from one of them on."""
    chunk, _ = _block_with(connection, stream, offset)
    return chunk.between(offset - 1, chunk.last)


def find(connect: Connect, stream: str, after: int, until: int, key: str) -> Iterator[Entry]:
    """The entries of (after, until] that are in blocks and have a key."""
    named = key.encode()
    chunk, keys = Chunk(1, (), NOTHING), NOTHING
    for offset in _candidates(connect, stream, after, until, named):
        if offset > chunk.last:
            chunk, keys = _block_with(connect(), stream, offset)
        at = offset - chunk.first
        if keys[at] == named:
            yield Entry(offset, chunk.appended[at], chunk.contents[at])


def _candidates(connect: Connect, stream: str, after: int, until: int, key: bytes) -> Iterator[int]:
    """The offsets of entries that may have a key, in order."""
    wanted = _hashes(Joined.of([key]))
    group = int(_group(wanted)[0]) << OFFSET_BITS
    while True:
        row = (
            connect()
            .execute(
                f"SELECT place, first, content FROM {stream}_block_keys"
                " WHERE place > ? AND place < ? ORDER BY place LIMIT 1",
                (group + after, group + (1 << OFFSET_BITS)),
            )
            .fetchone()
        )
        if row is None or row[1] > until:
            return
        place, first, content = row
        hashes, places = np.frombuffer(content, LENGTH).reshape(2, -1)
        offsets = first + places[hashes == wanted].astype(np.int64)
        yield from offsets[(offsets > after) & (offsets <= until)].tolist()
        after = place - group


def _blocks(
    first: int, appended: int, contents: Joined, keys: Joined | None
) -> Iterator[tuple[Any, ...]]:
    """The rows of entries."""
    parts = [contents] if keys is None else [keys, contents]
    starts = [np.concatenate([[part.start], part.stops]) for part in parts]
    lengths = [np.diff(each).astype(LENGTH) for each in starts]
    for start, end in pairwise(_cuts(starts[-1])):
        some = [each[start:end].data for each in lengths]
        for part, each in zip(parts, starts, strict=True):
            some.append(part.content[each[start] : each[end]])
        content = b"".join(some)
        packed: bytes = pa.compress(content, codec=CODEC, asbytes=True)
        has_keys, size, crc = keys is not None, len(content), zlib.crc32(packed)
        yield first + end - 1, end - start, appended, has_keys, size, crc, packed


def _cuts(starts: npt.NDArray[np.int64]) -> Iterator[int]:
    """Where blocks begin, and the last one ends, of entries that begin and end there."""
    cut, count = 0, starts.size - 1
    while cut < count:
        yield cut
        most = min(cut + MOST_ENTRIES, count)
        large = int(np.searchsorted(starts, starts[cut] + MOST_BYTES, "right")) - 1
        cut = min(max(large, cut + 1), most)
    yield count


def _block_with(connection: sqlite3.Connection, stream: str, offset: int) -> tuple[Chunk, Joined]:
    """All entries of the block that has one of them, and their keys, if they have any."""
    row = connection.execute(
        "SELECT last, count, appended, has_keys, size, crc, content"
        f" FROM {stream}_blocks WHERE last >= ? ORDER BY last LIMIT 1",
        (offset,),
    ).fetchone()
    if row is None:
        raise LogUnavailable(f"the log is damaged: {offset} is missing")
    end, count, appended, has_keys, size, crc, packed = row
    if zlib.crc32(packed) != crc:
        raise LogUnavailable(f"the log is damaged: what is behind {end - count} has changed")
    content: bytes = pa.decompress(packed, size, CODEC, asbytes=True)
    lengths = np.frombuffer(content, LENGTH, count * (1 + has_keys))
    start = lengths.nbytes
    stops = np.cumsum(lengths, dtype=np.int64) + start
    keys = Joined(content, stops[:count], start) if has_keys else NOTHING
    if has_keys:
        start, stops = int(stops[count - 1]), stops[count:]
    return Chunk(end - count + 1, [appended] * count, Joined(content, stops, start)), keys


def _groups(first: int, keys: Joined) -> Iterator[tuple[int, int, bytes]]:
    """The rows that tell which entries may have a key."""
    hashes = _hashes(keys)
    groups = _group(hashes)
    places = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups, minlength=1 << GROUP_BITS)).tolist()
    end_of_append = first + len(keys) - 1
    for group, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        if start < end:
            some = places[start:end]
            content = hashes[some].astype(LENGTH).tobytes() + some.astype(LENGTH).tobytes()
            yield (group << OFFSET_BITS) + end_of_append, first, content


def _group(hashes: Numbers) -> npt.NDArray[np.uint8]:
    return (hashes >> np.uint32(32 - GROUP_BITS)).astype(np.uint8)


def _hashes(keys: Joined) -> Numbers:
    """A number for each key, that few others have: a sum of its bytes, each by its place.

    >>> len({*_hashes(JoinedTexts.of(f"s{n}" for n in range(9999)).joined).tolist()})
    9999
    """
    stops = np.asarray(keys.stops, np.int64) - keys.start
    starts = np.concatenate([[0], stops[:-1]])
    lengths = stops - starts
    within = np.arange(keys.size) - np.repeat(starts, lengths)
    powers = np.cumprod(np.full(int(lengths.max()), FACTOR))
    content = np.frombuffer(keys.all, np.uint8)
    sums = np.zeros(keys.size + 1, np.uint64)
    np.cumsum((content.astype(np.uint64) + np.uint64(1)) * powers[within], out=sums[1:])
    found = sums[stops] - sums[starts]
    found = (found ^ (found >> np.uint64(29))) * FACTOR
    high: Numbers = (found >> np.uint64(32)).astype(np.uint32)
    return high
