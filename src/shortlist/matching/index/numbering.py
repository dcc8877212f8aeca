"""Subscriptions by number, and which of them share a condition."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from shortlist.matching.arrays import Ints, Longs, with_length
from shortlist.matching.index.layers import Layered
from shortlist.matching.index.texts import Texts, stable_hash
from shortlist.matching.kernels.numbering import EMPTY, GONE, enter_all, link_all, listed

NOBODY = -1
HALF = 2**31 - 1
"""The part of a hash that an entry keeps."""


@dataclass(slots=True)
class NumberTable:
    """A hash table of numbers, eight bytes an entry; it knows only hashes of what they stand for.

    >>> words = ["war", "drama"]
    >>> table = NumberTable()
    >>> for number, word in enumerate(words):
    ...     table.put(number, stable_hash(word))
    >>> table.find(stable_hash("drama"), lambda number: words[number] == "drama")
    1
    """

    entries: Longs = field(default_factory=lambda: np.full(8, EMPTY, np.int64))
    """Half a hash, and the number, in the two halves of each."""
    count: int = 0
    used: int = 0

    def find(self, hashed: int, is_it: Callable[[int], bool]) -> int:
        """The number with this hash that is the one, or -1."""
        return next((number for _, number in self._alike(hashed) if is_it(number)), NOBODY)

    def put(self, number: int, hashed: int) -> None:
        if 3 * (self.used + 1) > 2 * self.entries.size:
            self._make_room()
        last = self.entries.size - 1
        place = hashed & HALF & last
        while (entry := self.entries.item(place)) >= 0:
            place = (place + 1) & last
        self.entries[place] = (hashed & HALF) << 32 | number
        self.count += 1
        self.used += entry == EMPTY

    def drop(self, number: int, hashed: int) -> bool:
        """Takes a number out; whether it was there."""
        for place, found in self._alike(hashed):
            if found == number:
                self.entries[place] = GONE
                self.count -= 1
                return True
        return False

    def _alike(self, hashed: int) -> Iterator[tuple[int, int]]:
        """The places and numbers that may have this hash."""
        last, half = self.entries.size - 1, hashed & HALF
        place = half & last
        while (entry := self.entries.item(place)) != EMPTY:
            if entry >> 32 == half:
                yield place, entry & (2**32 - 1)
            place = (place + 1) & last

    def _make_room(self) -> None:
        size = 8
        while size < 2 * (self.count + 1):
            size *= 2
        larger = np.full(size, EMPTY, np.int64)
        enter_all(self.entries, larger)
        self.entries, self.used = larger, self.count


@dataclass(frozen=True, slots=True)
class SavedNumbers:
    """A numbering as it is saved."""

    names: Texts = field(default_factory=lambda: Texts.plain(()))
    table: NumberTable = field(default_factory=NumberTable)
    free: Ints = field(default_factory=lambda: np.empty(0, np.int32))


class Numbering:
    """Gives each id a small number, and takes it back.

    >>> numbers = Numbering()
    >>> numbers.add("a"), numbers.add("b"), numbers.remove("a"), numbers.add("c")
    (0, 1, 0, 0)
    >>> numbers.name(0), len(numbers), numbers.names().to_pylist()
    ('c', 2, ['c', 'b'])
    """

    def __init__(self, saved: SavedNumbers | None = None) -> None:
        saved = saved or SavedNumbers()
        self._names = Layered(len(saved.names), saved.names.__getitem__)
        self._free: list[int] = saved.free.tolist()
        self._table = saved.table
        self._array = saved.names.arrow()
        self._changed: set[int] = set()

    def __len__(self) -> int:
        return len(self._names) - len(self._free)

    @property
    def nbytes(self) -> int:
        """Without the names themselves."""
        return self._names.nbytes + self._table.entries.nbytes + 8 * len(self._array)

    def name(self, number: int) -> str:
        name = self._names[number]
        assert name is not None
        return name

    def names(self) -> pa.LargeStringArray:
        """Every number's name, made anew only after changes; at free numbers anything may stand."""
        known, total = len(self._array), len(self._names)
        if self._changed or known < total:
            numbers = [*self._changed, *range(known, total)]
            new = pa.array([self._names[number] for number in numbers], pa.large_string())
            order = np.arange(total)
            order[numbers] = known + np.arange(len(numbers))
            self._array = pa.concat_arrays([self._array, new]).take(pa.array(order))
            self._changed.clear()
        return self._array

    def number(self, name: str) -> int:
        number = self._table.find(stable_hash(name), lambda one: self._names[one] == name)
        if number < 0:
            raise KeyError(name)
        return number

    def add(self, name: str) -> int:
        number = self._free.pop() if self._free else len(self._names)
        self._rename(number, name)
        self._table.put(number, stable_hash(name))
        return number

    def remove(self, name: str) -> int:
        number = self.number(name)
        self._table.drop(number, stable_hash(name))
        self._rename(number, None)
        self._free.append(number)
        return number

    def saved(self) -> SavedNumbers:
        names = Texts.of_arrow(self.names())
        return SavedNumbers(names, self._table, np.array(self._free, np.int32))

    def _rename(self, number: int, name: str | None) -> None:
        self._names[number] = name
        if number < len(self._array):
            self._changed.add(number)


@dataclass(slots=True)
class Sharers:
    """Lists of subscriptions by number, each number in at most one of them.

    A list is known by its first member, its head.

    >>> sharers = Sharers()
    >>> sharers.reserve(6)
    >>> head = sharers.put(3, NOBODY)
    >>> head = sharers.put(5, head)
    >>> sharers.members(head), sharers.members(sharers.drop(5, head))
    (array([5, 3], dtype=int32), array([3], dtype=int32))
    """

    following: Ints = field(default_factory=lambda: np.full(8, NOBODY, np.int32))
    preceding: Ints = field(default_factory=lambda: np.full(8, NOBODY, np.int32))

    def reserve(self, count: int) -> None:
        """Makes room for numbers below this count."""
        self.following = with_length(self.following, count, NOBODY)
        self.preceding = with_length(self.preceding, count, NOBODY)

    def put(self, number: int, head: int) -> int:
        """Puts a number before a list's head; the answer is the new head."""
        self.following[number], self.preceding[number] = head, NOBODY
        if head != NOBODY:
            self.preceding[head] = number
        return number

    def put_all(self, numbers: Ints, lists: Ints, heads: Ints) -> None:
        """Puts each number before the head of one of some lists, which it becomes itself."""
        link_all(numbers, lists, heads, self.following, self.preceding)

    def drop(self, number: int, head: int) -> int:
        """Takes a number out of the list with this head; the answer is the new head."""
        before, after = int(self.preceding[number]), int(self.following[number])
        if after != NOBODY:
            self.preceding[after] = before
        if before == NOBODY:
            return after
        self.following[before] = after
        return head

    def members(self, head: int) -> Ints:
        return listed(head, self.following)
