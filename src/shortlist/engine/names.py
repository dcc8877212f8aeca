"""Texts by number, as objects and as columns."""

from typing import Any

import numpy.typing as npt
import pyarrow as pa

FEW = 8
"""A column is made once a share of one in so many of all texts is asked for."""


class NameColumn:
    """Texts that things have by number; many at once are taken from a column of all of them.

    >>> import numpy as np
    >>> names = NameColumn()
    >>> names.put(1, "b"), names.put(0, "a")
    (None, None)
    >>> names[1], names.taken(np.array([1, 1, 0])).to_pylist()
    ('b', ['b', 'b', 'a'])
    """

    def __init__(self) -> None:
        self._texts: list[str | None] = []
        self._column: pa.StringArray | None = None

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, number: int) -> str:
        text = self._texts[number]
        assert text is not None
        return text

    def put(self, number: int, text: str) -> None:
        """Gives a number a text, which may replace another."""
        self._texts += [None] * (number + 1 - len(self._texts))
        self._texts[number] = text
        self._column = None

    def is_cheap(self, count: int) -> bool:
        """Whether so many texts are best taken from the column of all of them."""
        return self._column is not None or count * FEW >= len(self._texts)

    def column(self) -> pa.StringArray:
        """All of them; where no number is used, any text or none."""
        if self._column is None:
            self._column = pa.array(self._texts, pa.string())
        return self._column

    def taken(self, numbers: npt.NDArray[Any]) -> pa.StringArray:
        """Those of some numbers."""
        if self.is_cheap(numbers.size):
            return self.column().take(pa.array(numbers))
        return pa.array([self._texts[number] for number in numbers.tolist()], pa.string())
