"""Dense numbers for ids, and the ids' letters for those who compare many of them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shortlist.matching.blocks import Longs
from shortlist.scoring.numbering import with_length


class Numbers:
    """Gives each id a number; one that was released goes to another id.

    >>> numbers = Numbers()
    >>> numbers.number("a"), numbers.number("b"), numbers.number("a")
    (0, 1, 0)
    >>> numbers.release("a")
    >>> numbers.find("a") is None, numbers.number("c"), numbers.ids
    (True, 0, ['c', 'b'])
    """

    def __init__(self) -> None:
        self.ids: list[str | None] = []
        self._numbers: dict[str, int] = {}
        self._free: list[int] = []
        self._spelling: _Spelling | None = None

    def find(self, name: str) -> int | None:
        return self._numbers.get(name)

    def number(self, name: str) -> int:
        """The number of an id, a new one if it has none yet."""
        number = self._numbers.get(name)
        return self._given(name) if number is None else number

    def release(self, name: str) -> None:
        """Takes an id's number back, if it has one."""
        number = self._numbers.pop(name, None)
        if number is not None:
            self.ids[number] = None
            self._free.append(number)

    def spelled(self) -> "Spelled":
        """The letters of all ids; nothing is kept of them before this is asked for the first time.

        >>> numbers = Numbers()
        >>> numbers.number("Ć"), bytes(numbers.spelled().letters[:2]).decode()
        (0, 'Ć')
        """
        if self._spelling is None:
            self._spelling = _Spelling(self.ids)
        return self._spelling.spelled()

    def _given(self, name: str) -> int:
        if self._free:
            number = self._free.pop()
            self.ids[number] = name
        else:
            number = len(self.ids)
            self.ids.append(name)
        self._numbers[name] = number
        if self._spelling is not None:
            self._spelling.unwritten.add(number)
        return number


class Spelled(NamedTuple):
    """Ids in UTF-8, which keeps their order; at numbers that are free anything may stand.

    Number n stands from starts[n] to ends[n].
    """

    starts: Longs
    ends: Longs
    letters: npt.NDArray[np.uint8]


class _Spelling:
    """Letters that are written when they are asked for."""

    def __init__(self, ids: Sequence[str | None]) -> None:
        self._ids = ids
        self.unwritten = set(range(len(ids)))
        self._spelled = Spelled(
            np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(64, np.uint8)
        )
        self._end = self._dropped = 0

    def spelled(self) -> Spelled:
        if self.unwritten:
            starts, ends, _ = self._spelled
            known = np.array([number for number in self.unwritten if number < ends.size], np.intp)
            self._dropped += int((ends[known] - starts[known]).sum())
            if 2 * self._dropped > self._end:
                self._end = self._dropped = 0
                self.unwritten = set(range(len(self._ids)))
            self._write(list(self.unwritten))
            self.unwritten.clear()
        return self._spelled

    def _write(self, numbers: list[int]) -> None:
        texts = [(self._ids[number] or "").encode() for number in numbers]
        bounds = self._end + np.cumsum([0, *map(len, texts)])
        first, self._end = self._end, int(bounds[-1])
        count = len(self._ids)
        starts, ends, letters = self._spelled = Spelled(
            with_length(self._spelled.starts, count),
            with_length(self._spelled.ends, count),
            with_length(self._spelled.letters, self._end),
        )
        starts[numbers], ends[numbers] = bounds[:-1], bounds[1:]
        letters[first : self._end] = np.frombuffer(b"".join(texts), np.uint8)
