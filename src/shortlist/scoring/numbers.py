"""Small numbers for things in use, the letters of ids, and places for rows; all used again."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from shortlist.matching.arrays import with_length
from shortlist.matching.blocks import Longs

Thing = TypeVar("Thing", bound=Hashable)


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
        self.things: list[Thing | None] = []
        """By number; None where one is free."""
        self._uses: list[int] = []
        self._free: list[int] = []
        self.introduced = 0
        """Things that ever got a number: while it stays the same, numbers mean the same."""

    def __len__(self) -> int:
        """One more than the highest number."""
        return len(self.things)

    def __getitem__(self, number: int) -> Thing:
        thing = self.things[number]
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
        self.things[number] = None
        self._free.append(number)
        return True

    def _introduce(self, thing: Thing) -> None:
        self.introduced += 1
        if self._free:
            number = self._free.pop()
            self.things[number] = thing
        else:
            number = len(self.things)
            self.things.append(thing)
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
        self._known: Numbering[str] = Numbering()
        self._spelling: _Spelling | None = None

    @property
    def ids(self) -> Sequence[str | None]:
        """By number; None where one is free."""
        return self._known.things

    def find(self, name: str) -> int | None:
        return self._known.find(name)

    def number(self, name: str) -> int:
        """The number of an id, a new one if it has none yet."""
        number = self._known.find(name)
        if number is None:
            number = self._known.take(name)
            if self._spelling is not None:
                self._spelling.unwritten.add(number)
        return number

    def release(self, name: str) -> None:
        """Takes an id's number back, if it has one."""
        number = self._known.find(name)
        if number is not None:
            self._known.release(number)

    def spelled(self) -> "Spelled":
        """The letters of all ids; nothing is kept of them before this is asked for the first time.

        >>> numbers = Numbers()
        >>> numbers.number("Ć"), bytes(numbers.spelled().letters[:2]).decode()
        (0, 'Ć')
        """
        if self._spelling is None:
            self._spelling = _Spelling(self.ids)
        return self._spelling.spelled()


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
