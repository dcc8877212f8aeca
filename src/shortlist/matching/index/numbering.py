"""Subscriptions by number: their names, what they ask, and which of them share a condition."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shortlist.matching.arrays import Ints, Longs, with_length
from shortlist.matching.index.names import Layered, NameColumn
from shortlist.matching.index.terms import Request
from shortlist.matching.index.texts import Texts, stable_hash
from shortlist.matching.kernels.numbering import EMPTY, GONE, enter_all, link_all, listed
from shortlist.model.subscription import Subscription

NOBODY = -1
HALF = 2**31 - 1
"""The part of a hash that an entry keeps."""
REMEMBERED = 4096
"""Ids that are not looked up again, and saved requests that are not read from their texts again."""


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

    @classmethod
    def of(cls, hashes: Sequence[int] | npt.NDArray[np.uint64]) -> "NumberTable":
        """One with the numbers 0, 1, 2, … of what has these hashes."""
        return cls.holding(entries_of(np.array(hashes, np.uint64), np.arange(len(hashes))))

    @classmethod
    def holding(cls, entries: Longs) -> "NumberTable":
        """One with these entries."""
        table = cls(entries, entries.size, entries.size)
        table._make_room()
        return table

    def find(self, hashed: int, is_it: Callable[[int], bool]) -> int:
        """The number with this hash that is the one, or -1."""
        place = self._place(hashed, is_it)
        return NOBODY if place == NOBODY else self.entries.item(place) & (2**32 - 1)

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
        place = self._place(hashed, number.__eq__)
        if place == NOBODY:
            return False
        self.entries[place] = GONE
        self.count -= 1
        return True

    def _place(self, hashed: int, is_it: Callable[[int], bool]) -> int:
        """Where the one stands among all that may have this hash, or -1."""
        item, last, half = self.entries.item, self.entries.size - 1, hashed & HALF
        place = half & last
        while (entry := item(place)) != EMPTY:
            if entry >> 32 == half and is_it(entry & (2**32 - 1)):
                return place
            place = (place + 1) & last
        return NOBODY

    def _make_room(self) -> None:
        size = 8
        while size < 2 * (self.count + 1):
            size *= 2
        larger = np.full(size, EMPTY, np.int64)
        enter_all(self.entries, larger)
        self.entries, self.used = larger, self.count


def entries_of(hashes: npt.NDArray[np.uint64], numbers: Longs) -> Longs:
    """Those of a table, for what has these hashes."""
    return ((hashes & np.uint64(HALF)) << np.uint64(32)).astype(np.int64) | numbers


@dataclass(frozen=True, slots=True)
class SavedNumbers:
    """A numbering as it is saved."""

    names: Texts = field(default_factory=lambda: Texts.plain(()))
    table: NumberTable = field(default_factory=NumberTable)
    free: Ints = field(default_factory=lambda: np.empty(0, np.int32))

    @classmethod
    def of(cls, ids: Sequence[str]) -> "SavedNumbers":
        """Different ids, numbered in their order.

        >>> SavedNumbers.of(["a", "b"]).find("b")
        1
        """
        return cls(Texts.plain(ids), NumberTable.of([*map(stable_hash, ids)]))

    def find(self, name: str) -> int:
        """The number of an id, or nobody's; only as long as nobody changes the table."""
        return self.table.find(stable_hash(name), lambda one: self.names[one] == name)

    def copied(self) -> "SavedNumbers":
        """With a table that may be changed."""
        table = NumberTable(self.table.entries.copy(), self.table.count, self.table.used)
        return SavedNumbers(self.names, table, self.free)


class Numbering:
    """Gives each id a small number, and takes it back.

    >>> numbers = Numbering()
    >>> numbers.add("a"), numbers.add("b"), numbers.remove("a"), numbers.add("c")
    (0, 1, 0, 0)
    >>> numbers.names[0], len(numbers), numbers.names.column().to_pylist()
    ('c', 2, ['c', 'b'])
    """

    def __init__(self, saved: SavedNumbers | None = None) -> None:
        saved = saved or SavedNumbers()
        self.names = NameColumn(saved.names)
        """At free numbers anything may stand."""
        self._free: list[int] = saved.free.tolist()
        self._table = saved.table
        self._recent: dict[str, int] = {}
        """Of some that were added or found not long ago: whoever is named is soon named again."""

    def __len__(self) -> int:
        return len(self.names) - len(self._free)

    def find(self, name: str) -> int:
        """The number of an id, or nobody's."""
        recent = self._recent.get(name)
        if recent is not None:
            return recent
        found = self._table.find(stable_hash(name), lambda one: self.names.find(one) == name)
        if found != NOBODY:
            self._remember(name, found)
        return found

    def number(self, name: str) -> int:
        number = self.find(name)
        if number == NOBODY:
            raise KeyError(name)
        return number

    def add(self, name: str) -> int:
        number = self._free.pop() if self._free else len(self.names)
        self.names.put(number, name)
        self._table.put(number, stable_hash(name))
        self._remember(name, number)
        return number

    def remove(self, name: str) -> int:
        number = self.number(name)
        del self._recent[name]
        self._table.drop(number, stable_hash(name))
        self.names.put(number, None)
        self._free.append(number)
        return number

    def saved(self) -> SavedNumbers:
        return SavedNumbers(self.names.saved(), self._table, np.array(self._free, np.int32))

    def _remember(self, name: str, number: int) -> None:
        if len(self._recent) >= REMEMBERED:
            self._recent.clear()
        self._recent[name] = number


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


@dataclass(frozen=True, slots=True)
class SavedRequests:
    """Requests as they are saved: as texts, and each number's place among them."""

    texts: Texts = field(default_factory=lambda: Texts.plain(()))
    places: Ints = field(default_factory=lambda: np.empty(0, np.int32))
    table: NumberTable = field(default_factory=NumberTable)


class Requests:
    """What subscriptions ask, by number; of new ones only the subscription itself is kept.

    >>> from shortlist.matching.index.terms import Terms
    >>> from shortlist.model.settings import Limits
    >>> from shortlist.model.vocabulary import Vocabulary
    >>> request_of = Terms(Vocabulary(), Limits()).request
    >>> requests, cheap = Requests(request_of), Subscription(id="s1", where="rent < 900")
    >>> requests.put(0, cheap, request_of(cheap), sharer=NOBODY)
    >>> requests.find(requests[0]), requests[0].where
    (0, 'rent < 900')
    """

    def __init__(
        self, request_of: Callable[[Subscription], Request], saved: SavedRequests | None = None
    ) -> None:
        self._request_of = request_of
        self._saved = saved or SavedRequests()
        self._table = self._saved.table
        self._given: Layered[Request | Subscription] = Layered(
            self._saved.places.size, lru_cache(REMEMBERED)(self._saved_request)
        )

    def __len__(self) -> int:
        """With free numbers."""
        return len(self._given)

    def __contains__(self, number: int) -> bool:
        return self._given[number] is not None

    def __getitem__(self, number: int) -> Request:
        given = self._given[number]
        assert given is not None
        return given if isinstance(given, Request) else self._request_of(given)

    def find(self, request: Request) -> int:
        """Someone who asks the same, or nobody."""
        return self._table.find(request.hash, lambda one: self[one] == request)

    def put(self, number: int, subscription: Subscription, request: Request, sharer: int) -> None:
        """Notes what a subscription asks, given whom `find` found."""
        self._given[number] = subscription
        if sharer == NOBODY:
            self._table.put(number, request.hash)

    def drop(self, number: int, request: Request, sharer: int) -> None:
        """Takes a request away; whoever asks the same will find a sharer in its place, if there is
        one."""
        was_found = self._table.drop(number, request.hash)
        self._given[number] = None
        if was_found and sharer != NOBODY and self.find(self[sharer]) == NOBODY:
            self._table.put(sharer, self[sharer].hash)

    def saved(self) -> SavedRequests:
        """With texts that are still used, new ones last."""
        old, new = self._saved, dict[Request, int]()
        places = np.append(old.places, np.zeros(len(self) - old.places.size, np.int32))
        for number, given in self._given.changes():
            places[number] = NOBODY
            if given is not None:
                places[number] = len(old.texts) + new.setdefault(self[number], len(new))
        used = np.unique(places[places != NOBODY])
        texts = pa.concat_arrays([old.texts.arrow(), Texts.plain(one.text for one in new).arrow()])
        places[places != NOBODY] = np.searchsorted(used, places[places != NOBODY])
        return SavedRequests(Texts.of_arrow(texts.take(pa.array(used))), places, self._table)

    def _saved_request(self, number: int) -> Request | None:
        place = self._saved.places.item(number)
        return None if place == NOBODY else Request.of_text(self._saved.texts[place])
