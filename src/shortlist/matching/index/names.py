"""Texts by number: one by one, or many at once as a column."""

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shortlist.matching.arrays import Ints
from shortlist.matching.index.texts import Texts

T = TypeVar("T")


class Layered(Generic[T]):
    """Those below a count are read where they were saved, as long as they have not changed.

    >>> words = Layered(2, ["war", "drama"].__getitem__)
    >>> words[1], words[2] = "love", "peace"
    >>> words[0], words[1], len(words), list(words.changes())
    ('war', 'love', 3, [(1, 'love'), (2, 'peace')])
    """

    def __init__(self, count: int, saved: Callable[[int], T | None]) -> None:
        self._count = count
        self._saved = saved
        self._changed: dict[int, T | None] = {}
        self._later: list[T | None] = []

    def __len__(self) -> int:
        return self._count + len(self._later)

    def __getitem__(self, number: int) -> T | None:
        if number >= self._count:
            return self._later[number - self._count]
        return self._changed[number] if number in self._changed else self._saved(number)

    def __setitem__(self, number: int, thing: T | None) -> None:
        """Numbers come one after the other."""
        if number < self._count:
            self._changed[number] = thing
        elif number == len(self):
            self._later.append(thing)
        else:
            self._later[number - self._count] = thing

    def changes(self) -> Iterator[tuple[int, T | None]]:
        """What is not as it was saved."""
        yield from self._changed.items()
        yield from enumerate(self._later, self._count)


FEW = 8
"""A column is made anew once a share of one in so many of all texts is asked for."""


class NameColumn:
    """Texts that things have by number; many at once are taken from a column of all of them.

    >>> names = NameColumn(Texts.plain(["a"]))
    >>> names.put(1, "b")
    >>> names[1], names.taken(np.array([1, 1, 0])).to_pylist()
    ('b', ['b', 'b', 'a'])
    """

    def __init__(self, saved: Texts | None = None) -> None:
        saved = saved or Texts.plain(())
        self._texts = Layered(len(saved), saved.__getitem__)
        self._column: pa.StringArray = saved.arrow().cast(pa.string())
        self._changed: set[int] = set()
        """Numbers of the column that have another text by now."""

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, number: int) -> str:
        text = self._texts[number]
        assert text is not None
        return text

    def find(self, number: int) -> str | None:
        """None where the number is not used."""
        return self._texts[number]

    def put(self, number: int, text: str | None) -> None:
        """Gives a number a text, which may replace another, or takes it away."""
        self._texts[number] = text
        if number < len(self._column):
            self._changed.add(number)

    def is_cheap(self, count: int) -> bool:
        """Whether so many texts are best taken from the column of all of them."""
        return self._is_up_to_date or count * FEW >= len(self._texts)

    def column(self) -> pa.StringArray:
        """All of them, made anew only after changes; where no number is used, any text or none."""
        if not self._is_up_to_date:
            known, total = len(self._column), len(self._texts)
            numbers = [*self._changed, *range(known, total)]
            new = pa.array([self._texts[number] for number in numbers], pa.string())
            order = np.arange(total)
            order[numbers] = known + np.arange(len(numbers))
            self._column = pa.concat_arrays([self._column, new]).take(pa.array(order))
            self._changed.clear()
        return self._column

    def taken(self, numbers: npt.NDArray[Any]) -> pa.StringArray:
        """Those of some numbers."""
        if self.is_cheap(numbers.size):
            return self.column().take(pa.array(numbers))
        return pa.array([self._texts[number] for number in numbers.tolist()], pa.string())

    def numbers(self, texts: pa.StringArray) -> Ints:
        """The numbers of some of them, -1 for null; each number that is used has another text.

        >>> NameColumn(Texts.plain(["a", "b"])).numbers(pa.array(["b", None, "a"])).tolist()
        [1, -1, 0]
        """
        found = pc.index_in(texts, value_set=self.column(), skip_nulls=True).fill_null(-1)
        numbers: Ints = found.to_numpy()
        return numbers

    def saved(self) -> Texts:
        return Texts.of_arrow(self.column().cast(pa.large_string()))

    @property
    def _is_up_to_date(self) -> bool:
        return not self._changed and len(self._column) == len(self._texts)
