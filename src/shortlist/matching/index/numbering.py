"""Subscriptions by number, and which of them share a condition."""

from collections.abc import Callable

import numpy as np

from shortlist.matching.blocks import Ints

NOBODY = -1


class NumberTable:
    """A hash table of numbers, four bytes an entry; it knows only hashes of what they stand for.

    >>> words = ["war", "drama"]
    >>> table = NumberTable(lambda number: hash(words[number]))
    >>> table.put(0), table.put(1)
    (None, None)
    >>> table.find(hash("drama"), lambda number: words[number] == "drama")
    1
    """

    def __init__(self, hash_of: Callable[[int], int]) -> None:
        self._hash_of = hash_of
        self._table = np.full(8, _EMPTY, np.int32)
        self._count = 0
        self._used = 0

    def find(self, hashed: int, is_it: Callable[[int], bool]) -> int:
        """The number with this hash that is the one, or -1."""
        return int(self._table[self._place(hashed, is_it)])

    def put(self, number: int) -> None:
        if 3 * (self._used + 1) > 2 * self._table.size:
            self._rehash()
        self._table[self._place(self._hash_of(number), lambda _: False)] = number
        self._count += 1
        self._used += 1

    def drop(self, number: int) -> bool:
        """Takes a number out; whether it was there."""
        place = self._place(self._hash_of(number), number.__eq__)
        if self._table[place] == _EMPTY:
            return False
        self._table[place] = _GONE
        self._count -= 1
        return True

    def _place(self, hashed: int, is_it: Callable[[int], bool]) -> int:
        last = self._table.size - 1
        # the golden ratio spreads hashes that differ in few bits
        place = (hashed * 0x9E3779B97F4A7C15 >> 20) & last
        while (number := int(self._table[place])) != _EMPTY:
            if number != _GONE and is_it(number):
                return place
            place = (place + 1) & last
        return place

    def _rehash(self) -> None:
        old = self._table
        size = 8
        while size < 2 * (self._count + 1):
            size *= 2
        self._table, self._count, self._used = np.full(size, _EMPTY, np.int32), 0, 0
        for number in old[old >= 0].tolist():
            self.put(number)


_EMPTY, _GONE = -1, -2


class Numbering:
    """Gives each id a small number, and takes it back.

    >>> numbers = Numbering()
    >>> numbers.add("a"), numbers.add("b"), numbers.remove("a"), numbers.add("c")
    (0, 1, 0, 0)
    >>> numbers.name(0), len(numbers)
    ('c', 2)
    """

    def __init__(self) -> None:
        self._names: list[str | None] = []
        self._free: list[int] = []
        self._table = NumberTable(lambda number: hash(self._names[number]))

    def __len__(self) -> int:
        return len(self._names) - len(self._free)

    def name(self, number: int) -> str:
        name = self._names[number]
        assert name is not None
        return name

    def number(self, name: str) -> int:
        number = self._table.find(hash(name), lambda one: self._names[one] == name)
        if number < 0:
            raise KeyError(name)
        return number

    def add(self, name: str) -> int:
        number = self._free.pop() if self._free else len(self._names)
        if number == len(self._names):
            self._names.append(name)
        self._names[number] = name
        self._table.put(number)
        return number

    def remove(self, name: str) -> int:
        number = self.number(name)
        self._table.drop(number)
        self._names[number] = None
        self._free.append(number)
        return number


class Sharers:
    """Lists of subscriptions by number, each number in at most one of them.

    A list is known by its first member, its head.

    >>> sharers = Sharers()
    >>> head = sharers.put(3, NOBODY)
    >>> head = sharers.put(5, head)
    >>> sharers.members(head), sharers.members(sharers.drop(5, head))
    ([5, 3], [3])
    """

    def __init__(self) -> None:
        self.following: Ints = np.full(8, NOBODY, np.int32)
        self._preceding: Ints = np.full(8, NOBODY, np.int32)

    def put(self, number: int, head: int) -> int:
        """Puts a number before a list's head; the answer is the new head."""
        while number >= self.following.size:
            self.following = np.append(self.following, np.full_like(self.following, NOBODY))
            self._preceding = np.append(self._preceding, np.full_like(self._preceding, NOBODY))
        self.following[number], self._preceding[number] = head, NOBODY
        if head != NOBODY:
            self._preceding[head] = number
        return number

    def drop(self, number: int, head: int) -> int:
        """Takes a number out of the list with this head; the answer is the new head."""
        before, after = int(self._preceding[number]), int(self.following[number])
        if after != NOBODY:
            self._preceding[after] = before
        if before == NOBODY:
            return after
        self.following[before] = after
        return head

    def members(self, head: int) -> list[int]:
        found = []
        while head != NOBODY:
            found.append(int(head))
            head = self.following[head]
        return found
