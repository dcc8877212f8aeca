"""Rows that come behind others and are forgotten in any order, as Arrow columns."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shortlist.matching.blocks import Longs

MOST_BYTES = 2**30
"""Of a piece that others are put to: texts of one column have 2 GiB at most."""


class Pieces:
    """Rows by number, in a few record batches: those that came last are put together with as many
    others, so that a row is copied a few times at most.

    >>> rows = Pieces(pa.schema({"id": pa.string()}))
    >>> for name in "abc":
    ...     rows.add(pa.record_batch({"id": [name]}))
    >>> len(rows), rows.taken(["id"], np.array([0, 2]))[0].to_pylist(), rows.value("id", 1)
    (3, ['a', 'c'], 'b')
    >>> rows.keep(np.array([1, 2]))
    >>> rows.taken(["id"], np.arange(2))[0].to_pylist()
    ['b', 'c']
    """

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._pieces: list[pa.RecordBatch] = []
        self._starts = [0]
        """Of the pieces, and of the next one."""

    def __len__(self) -> int:
        return self._starts[-1]

    def add(self, rows: pa.RecordBatch) -> None:
        """Takes rows in; columns that nobody has named are left out."""
        some = [rows.select(self._schema.names)] if rows.num_rows else []
        while some and self._pieces and self._pieces[-1].num_rows <= len(some[0]):
            if self._pieces[-1].nbytes + some[0].nbytes > MOST_BYTES:
                break
            self._starts.pop()
            some = [pa.concat_batches([self._pieces.pop(), *some])]
        self._pieces += some
        self._starts += [self._starts[-1] + len(each) for each in some]

    def value(self, name: str, number: int) -> Any:
        """One value of a row."""
        piece = bisect_right(self._starts, number) - 1
        return self._pieces[piece].column(name)[number - self._starts[piece]].as_py()

    def taken(self, names: Sequence[str], numbers: Longs) -> list[pa.Array]:
        """Columns of some rows, in their order."""
        return [column.combine_chunks() for column in self._some(numbers, names).columns]

    def keep(self, numbers: Longs) -> None:
        """Forgets all other rows; these have the numbers 0, 1, 2, … then."""
        kept = self._some(numbers, self._schema.names).combine_chunks().to_batches()
        self._pieces, self._starts = [], [0]
        for rows in kept:
            self.add(rows)

    def _some(self, numbers: Longs, names: Sequence[str]) -> pa.Table:
        """Some columns of some rows, in their order."""
        bounds = np.searchsorted(numbers, self._starts).tolist()
        parts = [
            piece.select(names).take(pa.array(numbers[first:end] - start))
            for piece, start, first, end in zip(
                self._pieces, self._starts, bounds, bounds[1:], strict=False
            )
            if first < end
        ]
        schema = pa.schema([self._schema.field(name) for name in names])
        return pa.Table.from_batches(parts, schema)
