"""State in arrays: a head for every place, and rows that belong to it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from shortlist.matching.arrays import with_length
from shortlist.matching.blocks import Ints, Longs
from shortlist.selection.kernels.arena import HEAD, OWNED, TAKEN, Records, mark, renumber, with_room

SPARE = 16
"""A place that is loaded has room for so small a part more than it holds."""

Fields = Sequence[tuple[str, str]]


class Arena:
    """Rows of many places in one array; a place that was closed is opened again.

    Fields named `publication`, `subscription` and `matched` hold numbers that others give and may
    change (-1 for none): whoever does so finds them by these names.

    >>> arena = Arena(head=[("k", "i4")], row=[("score", "f8")])
    >>> [place] = arena.open_all(1, k=3)
    >>> arena.put(place, np.array([(0.5,), (0.25,)], arena.rows.dtype))
    >>> arena.rows_of(place)["score"].tolist(), arena.heads["k"][place].item()
    ([0.5, 0.25], 3)
    """

    def __init__(self, head: Fields, row: Fields) -> None:
        self.heads: Records = np.zeros(8, np.dtype([*HEAD, *head]))
        self.rows: Records = np.empty(64, np.dtype([*row]))
        self.tail: Longs = np.zeros(2, np.int64)
        self._opened = 0
        self._free: list[int] = []

    def open_all(self, count: int, /, **settings: Any) -> Longs:
        """So many places without rows, each with these fields of its head; one may be given as a
        column, and the others are 0.

        >>> arena = Arena(head=[("k", "i4"), ("seed", "i8")], row=[])
        >>> places = arena.open_all(2, k=3, seed=[7, 8])
        >>> arena.heads["k"][places], arena.heads["seed"][places]
        (array([3, 3], dtype=int32), array([7, 8]))
        """
        used_again = [self._free.pop() for _ in range(min(count, len(self._free)))]
        end = self._opened + count - len(used_again)
        places = np.array([*used_again, *range(self._opened, end)], np.int64)
        self.reserve(end - 1)
        for name, value in settings.items():
            self.heads[name][places] = value
        self.heads["is_open"][places] = 1
        return places

    def reserve(self, place: int) -> None:
        """Lets places up to this one have heads."""
        self._opened = max(self._opened, place + 1)
        self.heads = with_length(self.heads, place + 1)

    def close_all(self, places: Longs) -> None:
        self.vacate_all(places)
        self._free += places.tolist()

    def vacate_all(self, places: Longs) -> None:
        """Lets go of what places hold, which stay somebody's."""
        self.tail[OWNED] -= self.heads["capacity"][places].sum()
        self.heads[places] = 0

    def rows_of(self, place: int) -> Records:
        """What a place holds: a view."""
        start = self.heads["start"][place]
        return self.rows[start : start + self.heads["length"][place]]

    def put(self, place: int, rows: Records) -> None:
        """Replaces what a place holds."""
        self.heads["length"][place] = 0
        self.rows = with_room(self.rows, self.heads, self.tail, place, rows.size)
        self.heads["length"][place] = rows.size
        self.rows_of(place)[:] = rows

    def load(
        self, places: Longs, heads: Mapping[str, Records], rows: Mapping[str, Records]
    ) -> None:
        """Replaces what many places hold by columns of heads, `length` among them, and of rows."""
        self.tail[OWNED] -= self.heads["capacity"][places].sum()
        lengths = heads["length"].astype(np.int64)
        capacities = np.where(lengths > 0, lengths + lengths // SPARE + 1, 0)
        ends = np.cumsum(capacities)
        total = int(capacities.sum())
        self.rows = with_length(self.rows, int(self.tail[TAKEN]) + total)
        self.heads["start"][places] = self.tail[TAKEN] + ends - capacities
        self.heads["capacity"][places] = capacities
        self.tail += total
        self.heads["is_restored"][places] = 1
        for name, column in heads.items():
            self.heads[name][places] = column
        where = self.rows_of_all(places)
        for name, column in rows.items():
            self.rows[name][where] = column

    def rows_of_all(self, places: Longs) -> Longs:
        """Where the rows of places stand, place by place."""
        starts, lengths = self.heads["start"][places], self.heads["length"][places].astype(np.int64)
        ends = np.cumsum(lengths)
        inside = np.arange(ends[-1] if places.size else 0) - np.repeat(ends - lengths, lengths)
        where: Longs = np.repeat(starts, lengths) + inside
        return where

    def holds(self, name: str) -> bool:
        """Whether rows have such a field."""
        return name in (self.rows.dtype.names or ())

    def holders(self, name: str, number: int) -> Longs:
        """The places with a row that has a number in a field, ascending.

        >>> arena = Arena(head=[], row=[("publication", "i4")])
        >>> for place, some in zip(arena.open_all(3), ([(4,), (9,)], [(7,)], [(9,)])):
        ...     arena.put(place, np.array(some, arena.rows.dtype))
        >>> arena.holders("publication", 9)
        array([0, 2])
        """
        found = np.flatnonzero(self.rows[name][: self.tail[TAKEN]] == number)
        places = np.flatnonzero(self.heads["length"])
        places = places[np.argsort(self.heads["start"][places])]
        before = np.searchsorted(self.heads["start"][places], found, "right")
        found, nearest = found[before > 0], places[before[before > 0] - 1]
        # what stands behind a place's rows was left there by others
        is_held = found - self.heads["start"][nearest] < self.heads["length"][nearest]
        return np.unique(nearest[is_held])

    def field(self, name: str) -> tuple[Longs, Longs, Longs]:
        """A field of all rows, and where those of each place stand."""
        return self.rows[name], self.heads["start"], self.heads["length"]

    @property
    def nbytes(self) -> int:
        return self.heads.nbytes + self.rows.nbytes


def translated(known: Records, numbers: Longs | Ints) -> Records:
    """numbers[n] for every n; -1 stays what it is.

    >>> translated(np.array([1, -1]), np.array([8, 9]))
    array([ 9, -1])
    """
    return np.append(numbers, -1)[known]


def sweep(arenas: Iterable[Arena], name: str, count: int) -> Longs:
    """Of so many numbers those that rows hold in a field; there they are then 0, 1, 2, …

    >>> arena = Arena(head=[], row=[("publication", "i4")])
    >>> arena.put(arena.open_all(1)[0], np.array([(4,), (9,)], arena.rows.dtype))
    >>> sweep([arena], "publication", count=10), arena.rows_of(0)["publication"]
    (array([4, 9]), array([0, 1], dtype=int32))
    """
    holding = [arena for arena in arenas if arena.holds(name)]
    is_held = np.zeros(count, np.bool_)
    for arena in holding:
        mark(*arena.field(name), is_held)
    numbers = np.cumsum(is_held) - 1
    for arena in holding:
        renumber(*arena.field(name), numbers)
    return np.flatnonzero(is_held)
