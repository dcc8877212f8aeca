"""Small numbers for things in use, and places for rows of different lengths; both used again."""

from collections import defaultdict
from collections.abc import Hashable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Thing = TypeVar("Thing", bound=Hashable)
Array = TypeVar("Array", bound=NDArray[Any])


class Numbering(Generic[Thing]):
    """Things counted while they are in use; the number of one that is not is free for another.

    >>> colours = Numbering()
    >>> [colours.take(colour) for colour in ("red", "blue", "red")]
    [0, 1, 0]
    >>> colours.release(1), colours.take("green"), colours.find("blue")
    (True, 1, None)
    """

    def __init__(self) -> None:
        self._numbers: dict[Thing, int] = {}
        self._things: list[Thing | None] = []
        self._uses: list[int] = []
        self._free: list[int] = []
        self.introduced = 0
        """Things that ever got a number: while it stays the same, numbers mean the same."""

    def __len__(self) -> int:
        """One more than the highest number."""
        return len(self._things)

    def __getitem__(self, number: int) -> Thing:
        thing = self._things[number]
        assert thing is not None
        return thing

    def number(self, thing: Thing) -> int:
        return self._numbers[thing]

    def find(self, thing: Thing) -> int | None:
        return self._numbers.get(thing)

    def take(self, thing: Thing) -> int:
        if thing not in self._numbers:
            self._introduce(thing)
        number = self._numbers[thing]
        self._uses[number] += 1
        return number

    def release(self, number: int) -> bool:
        """Whether that was the last use."""
        self._uses[number] -= 1
        if self._uses[number]:
            return False
        del self._numbers[self[number]]
        self._things[number] = None
        self._free.append(number)
        return True

    def _introduce(self, thing: Thing) -> None:
        self.introduced += 1
        if self._free:
            number = self._free.pop()
            self._things[number] = thing
        else:
            number = len(self._things)
            self._things.append(thing)
            self._uses.append(0)
        self._numbers[thing] = number


class Spans:
    """Where rows of different lengths start in one array.

    >>> spans = Spans()
    >>> spans.take(3), spans.take(2), spans.end
    (0, 3, 5)
    >>> spans.give_back(0, 3)
    >>> spans.take(3)
    0
    """

    def __init__(self) -> None:
        self.end = 0
        self._free: defaultdict[int, list[int]] = defaultdict(list)

    def take(self, length: int) -> int:
        free = self._free[length]
        if free:
            return free.pop()
        self.end += length
        return self.end - length

    def give_back(self, start: int, length: int) -> None:
        self._free[length].append(start)


def with_length(array: Array, length: int) -> Array:
    """The array, or a copy of at least that length and twice its own.

    >>> with_length(np.zeros(4), 5).size
    8
    """
    if length <= len(array):
        return array
    larger = np.zeros((max(length, 2 * len(array)), *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger  # type: ignore[return-value]
