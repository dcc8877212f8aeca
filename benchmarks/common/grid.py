"""A grid over some attributes: an equality of cells finds most of what a join of ranges would."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from .live_load import ATTRIBUTES, RANGE, Wish

MEETS = " and ".join(f"{name} between {name}_low and {name}_high" for name in ATTRIBUTES)
"""What a flat has to meet beside the cell, in SQL."""


class Grid(NamedTuple):
    """So many equal cells along each of some attributes.

    >>> grid = Grid(("price", "size"), 40)
    >>> grid.name
    '40×40'
    >>> grid.cell
    'cast(floor(price / 25) * 40 + floor(size / 25) * 1 as int)'
    """

    attributes: tuple[str, ...]
    cells: int

    @property
    def name(self) -> str:
        return "×".join([str(self.cells)] * len(self.attributes))

    @property
    def width(self) -> int:
        """Of a cell: how many values of an attribute it has."""
        width, rest = divmod(RANGE, self.cells)
        if rest:
            raise ValueError(f"cells: expected a divisor of {RANGE}, found {self.cells}")
        return width

    @property
    def cell(self) -> str:
        """Where a flat lies, in the SQL of DuckDB and of Spark."""
        count = len(self.attributes)
        parts = (
            f"floor({name} / {self.width}) * {self.cells ** (count - 1 - place)}"
            for place, name in enumerate(self.attributes)
        )
        return f"cast({' + '.join(parts)} as int)"

    def cut(self, found: Sequence[Wish]) -> pa.Table:
        """A row for each cell that a wish touches: the cell, the wish's place and its bounds.

        >>> cut = Grid(("price",), 10).cut([Wish("s0", (150, 0, 0), (230, 80, 80))])
        >>> cut.select(["cell", "subscription", "price_low", "price_high"]).to_pylist()[-1]
        {'cell': 2, 'subscription': 0, 'price_low': 150, 'price_high': 230}
        """
        lows, highs = (np.array([wish[ends] for wish in found], np.int32) for ends in (1, 2))
        numbers = np.arange(len(found), dtype=np.int32)
        cells = np.zeros(len(found), np.int32)
        for name in self.attributes:
            axis = ATTRIBUTES.index(name)
            first = lows[numbers, axis] // self.width
            counts = highs[numbers, axis] // self.width - first + 1
            starts = np.cumsum(counts) - counts
            # from the first cell of each row on, one after the other
            along = np.arange(counts.sum()) - np.repeat(starts - first, counts)
            cells = np.repeat(cells, counts) * self.cells + along
            numbers = np.repeat(numbers, counts)
        bounds = {}
        for axis, name in enumerate(ATTRIBUTES):
            bounds[f"{name}_low"] = lows[numbers, axis]
            bounds[f"{name}_high"] = highs[numbers, axis]
        return pa.table({"cell": cells.astype(np.int32), "subscription": numbers, **bounds})


SQUARE = Grid(("price", "size"), 40)
"""What first comes to mind: fine cells over two attributes."""
CUBE = Grid(ATTRIBUTES, 10)
"""Coarse cells over all three: a third of the rows, and half of the pairs to look at."""
