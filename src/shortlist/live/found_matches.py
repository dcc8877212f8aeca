"""Scored matches on their way from the lanes that find them to the shards that select."""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from shortlist.engine.matching import Matching
from shortlist.live.files import Files
from shortlist.live.manifest import Piece
from shortlist.live.tables import of_bytes, to_bytes
from shortlist.matching.blocks import Ints, Longs
from shortlist.matching.index.names import NameColumn
from shortlist.model.items import Items
from shortlist.scoring.blocks import Arrivals

NAMES = pa.dictionary(pa.int32(), pa.string())
MATCHES = pa.schema(
    {
        "position": pa.int64(),
        "subscription": NAMES,
        "score": pa.float64(),
        "possibility": pa.float64(),
        "necessity": pa.float64(),
    }
)
"""Pairs of publications and subscriptions."""


class Outgoing:
    """What a lane finds, told apart by shard."""

    def __init__(self, shards: int) -> None:
        self._batches: list[list[pa.RecordBatch]] = [[] for _ in range(shards)]

    def add(self, positions: Longs, shards: Ints, found: Arrivals, names: NameColumn) -> None:
        """Matches of a block whose publications have these positions, with the pairs' shards."""
        for shard in np.unique(shards).tolist():
            some = found.kept(shards == shard)
            some = some.kept(np.argsort(some.publications.astype(np.uint16), kind="stable"))
            numbers, codes = np.unique(some.subscriptions, return_inverse=True)
            named = names.taken(numbers)
            columns = [
                positions[some.publications],
                pa.DictionaryArray.from_arrays(codes.astype(np.int32), named),
                *some[2:],
            ]
            self._batches[shard].append(pa.record_batch([*columns], schema=MATCHES))

    def write(self, files: Files) -> tuple[Piece | None, ...]:
        """One file for all shards; None for those that nothing was found for."""
        contents = [
            to_bytes(_together([pa.Table.from_batches(batches)])) if batches else b""
            for batches in self._batches
        ]
        if not any(contents):
            return (None,) * len(contents)
        file, start, pieces = files.write("matches", b"".join(contents)), 0, []
        for content in contents:
            pieces.append(Piece(file, start, len(content)) if content else None)
            start += len(content)
        return tuple(pieces)


class Incoming:
    """What the lanes found for a shard, in order of position."""

    def __init__(self, pieces: Iterable[Piece], files: Files) -> None:
        table = _together([MATCHES.empty_table(), *(_read(piece, files) for piece in pieces)])
        positions, subscriptions, *degrees = (column.chunk(0) for column in table.columns)
        order = np.argsort(positions.to_numpy(), kind="stable")
        self.positions: Longs = positions.to_numpy()[order]
        self._names = subscriptions.dictionary.to_pylist()
        self._codes: Ints = subscriptions.indices.to_numpy()[order]
        self._degrees = [column.to_numpy()[order] for column in degrees]

    def of(self, items: Items, matching: Matching) -> Arrivals:
        """The matches of a block of publications."""
        positions, number = items.positions, matching.number
        firsts = np.searchsorted(self.positions, positions)
        counts = np.searchsorted(self.positions, positions, "right") - firsts
        places = np.repeat(np.arange(len(positions), dtype=np.int32), counts)
        which = np.arange(places.size) + np.repeat(firsts - np.cumsum(counts) + counts, counts)
        codes, inverse = np.unique(self._codes[which], return_inverse=True)
        numbers = np.array([number(self._names[code]) for code in codes.tolist()], np.int32)
        return Arrivals(places, numbers[inverse], *(column[which] for column in self._degrees))


def _read(piece: Piece, files: Files) -> pa.Table:
    with files.path(piece.file).open("rb") as file:
        file.seek(piece.start)
        return of_bytes(file.read(piece.size))


def _together(tables: Sequence[pa.Table]) -> pa.Table:
    """All rows in one batch, so that a subscription's name stands there once."""
    joined: pa.Table = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
    return joined
