"""Small numbers for things in use, the letters of ids, and places for rows; all used again."""

from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shortlist.matching.arrays import Longs
from shortlist.matching.index.numbering import NOBODY
from shortlist.matching.index.numbering import Numbering as IdNumbering
from shortlist.matching.index.storage import Parts

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

    def take(self, thing: Thing, times: int = 1) -> int:
        number = self._numbers.get(thing)
        if number is None:
            self.introduced += 1
            if self._free:
                number = self._free.pop()
                self.things[number] = thing
            else:
                number = len(self.things)
                self.things.append(thing)
                self._uses.append(0)
            self._numbers[thing] = number
        self._uses[number] += times
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

    def saved(self) -> Parts:
        """All there is; things are tuples, or a file cannot say them."""
        return {
            "things": [*self.things],
            "uses": np.array(self._uses, np.int64),
            "free": np.array(self._free, np.int64),
            "introduced": self.introduced,
        }

    def load(self, saved: Parts, thing_of: Callable[[Any], Thing] = lambda each: each) -> None:
        """Takes the place of what is there; given how a thing is made of a tuple, if it must be."""
        self.things = [each and thing_of(each) for each in saved["things"]]
        self._numbers = {thing: n for n, thing in enumerate(self.things) if thing is not None}
        self._uses, self._free = saved["uses"].tolist(), saved["free"].tolist()
        self.introduced = saved["introduced"]


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

    def saved(self) -> Parts:
        free = {length: np.array(starts, np.int64) for length, starts in self._free.items()}
        return {"end": self.end, "free": free}

    def load(self, saved: Parts) -> None:
        self.end = saved["end"]
        self._free.update({length: starts.tolist() for length, starts in saved["free"].items()})


class Numbers(IdNumbering):
    """Gives each id a number when it is first asked for; one that was released goes to another id.

    >>> numbers = Numbers()
    >>> numbers.number("a"), numbers.number("b"), numbers.number("a")
    (0, 1, 0)
    >>> numbers.release("a")
    >>> numbers.find("a") == NOBODY, numbers.number("c"), numbers.names[0]
    (True, 0, 'c')
    """

    _spelled: "tuple[pa.StringArray, Spelled] | None" = None

    def number(self, name: str) -> int:
        """The number of an id, a new one if it has none yet."""
        number = self.find(name)
        return self.add(name) if number == NOBODY else number

    def release(self, name: str) -> None:
        """Takes an id's number back, if it has one."""
        if self.find(name) != NOBODY:
            self.remove(name)

    def spelled(self) -> "Spelled":
        """The letters of all ids; nothing is kept of them before this is asked for the first time.

        >>> numbers = Numbers()
        >>> numbers.number("Ć"), bytes(numbers.spelled().letters[:2]).decode()
        (0, 'Ć')
        """
        column = self.names.column()
        if self._spelled is None or self._spelled[0] is not column:
            texts = self.names.saved()
            # kernels are compiled for arrays that can be written
            offsets, letters = texts.offsets.copy(), texts.data.copy()
            self._spelled = column, Spelled(offsets[:-1], offsets[1:], letters)
        return self._spelled[1]


class Spelled(NamedTuple):
    """Ids in UTF-8, which keeps their order; at numbers that are free anything may stand.

    Number n stands from starts[n] to ends[n].
    """

    starts: Longs
    ends: Longs
    letters: npt.NDArray[np.uint8]
