"""State in arrays: a head for every place, and rows that belong to it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist.matching.blocks import Longs
from shortlist.selection.kernels.arena import HEAD, OWNED, Records, with_room

Fields = Sequence[tuple[str, str]]


class Arena:
    """Rows of many places in one array; a place that was closed is opened again.

    Fields named `publication`, `subscription` and `matched` hold numbers that others give and may
    change (-1 for none): whoever does so finds them by these names. A place is `touched` when what
    it holds has changed.

    >>> arena = Arena(head=[("k", "i4")], row=[("score", "f8")])
    >>> place = arena.open(k=3)
    >>> arena.put(place, np.array([(0.5,), (0.25,)], arena.rows.dtype))
    >>> arena.rows_of(place)["score"].tolist(), arena.heads["k"][place]
    ([0.5, 0.25], 3)
    """

    def __init__(self, head: Fields, row: Fields) -> None:
        self.heads: Records = np.zeros(8, np.dtype([*HEAD, *head]))
        self.rows: Records = np.empty(64, np.dtype([*row]))
        self.tail: Longs = np.zeros(2, np.int64)
        self._opened = 0
        self._free: list[int] = []

    def open(self, **settings: Any) -> int:
        """A place without rows, and these fields of its head; the others are 0."""
        if self._free:
            place = self._free.pop()
        else:
            place = self._opened
            self.reserve(place)
        self.heads[place] = 0
        for name, value in settings.items():
            self.heads[name][place] = value
        self.heads["touched"][place] = 1
        return place

    def reserve(self, place: int) -> None:
        """Lets places up to this one have heads."""
        self._opened = max(self._opened, place + 1)
        if place >= self.heads.size:
            more = np.zeros(max(place + 1, 2 * self.heads.size), self.heads.dtype)
            more[: self.heads.size] = self.heads
            self.heads = more

    def close(self, place: int) -> None:
        self.tail[OWNED] -= self.heads["capacity"][place]
        self.heads[place] = 0
        self._free.append(place)

    def rows_of(self, place: int) -> Records:
        """What a place holds: a view."""
        start = self.heads["start"][place]
        return self.rows[start : start + self.heads["length"][place]]

    def put(self, place: int, rows: Records) -> None:
        """Replaces what a place holds."""
        self.heads["length"][place] = 0
        self.rows = with_room(self.rows, self.heads, self.tail, place, rows.size)
        self.heads["length"][place] = rows.size
        self.heads["touched"][place] = 1
        self.rows_of(place)[:] = rows

    @property
    def nbytes(self) -> int:
        return self.heads.nbytes + self.rows.nbytes
