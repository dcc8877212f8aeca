"""Records by number, for numbers that are given out one after the other."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist.matching.arrays import Ints, Longs, with_length
from shortlist.selection.kernels.arena import Records


class Table:
    """Grows as it is asked to; a new record is all zeros.

    >>> table = Table([("weight", "f8")])
    >>> table.put_all(np.array([11]), weight=0.5)
    >>> table["weight"][11]
    np.float64(0.5)
    """

    def __init__(self, fields: Sequence[tuple[str, str]]) -> None:
        self.records: Records = np.zeros(8, np.dtype([*fields]))

    def __getitem__(self, field: str) -> Records:
        return self.records[field]

    def put_all(self, numbers: Longs | Ints, **values: Any) -> None:
        """Sets fields of many records, each to one value or to a column."""
        self.records = with_length(self.records, int(numbers.max(initial=-1)) + 1)
        for name, value in values.items():
            self.records[name][numbers] = value
