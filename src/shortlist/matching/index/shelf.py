"""The segments of an index and who shares their conditions; small ones are merged as they come."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from shortlist.matching.arrays import Ints, with_length
from shortlist.matching.index.numbering import NOBODY, Sharers
from shortlist.matching.index.segments import Segment
from shortlist.matching.kernels.conditions import settle

FULL = 16_384
"""Conditions of a full segment: what its masks point into stays in a core's own cache."""
FAN = 4
"""So many segments of about one size are merged into one."""


@dataclass(slots=True)
class Held:
    """A segment, and the first subscription of each condition; nobody is left where it is -1."""

    segment: Segment
    heads: Ints
    live: int


@dataclass(slots=True)
class Shelf:
    """Segments by number, and the place of every subscription's condition."""

    held: dict[int, Held] = field(default_factory=dict)
    sharers: Sharers = field(default_factory=Sharers)
    segment_of: Ints = field(default_factory=lambda: np.full(8, NOBODY, np.int32))
    condition_of: Ints = field(default_factory=lambda: np.full(8, NOBODY, np.int32))
    next: int = 0
    unconditional: int = NOBODY
    """The head of those who have no condition; they have no segment."""

    def __iter__(self) -> Iterator[Held]:
        return iter(self.held.values())

    def put(self, segment: Segment, numbers: Ints, places: Ints) -> None:
        """Adds a segment, given subscriptions and each one's condition in it."""
        self._reserve(int(numbers.max()))
        heads = np.full(segment.count, NOBODY, np.int32)
        self.sharers.put_all(numbers, places, heads)
        self._hold(segment, heads)

    def put_unconditional(self, number: int) -> None:
        """Adds a subscription without a condition."""
        self._reserve(number)
        self.unconditional = self.sharers.put(number, self.unconditional)
        self.segment_of[number] = NOBODY

    def join(self, number: int, sharer: int) -> None:
        """Lets a subscription share another one's condition."""
        where, condition = self._home(sharer)
        if where == NOBODY:
            self.put_unconditional(number)
            return
        self._reserve(number)
        held = self.held[where]
        held.heads[condition] = self.sharers.put(number, int(held.heads[condition]))
        self.segment_of[number], self.condition_of[number] = where, condition

    def drop(self, number: int) -> int:
        """Takes a subscription away; the answer is one that shares its condition, or nobody."""
        where, condition = self._home(number)
        if where == NOBODY:
            self.unconditional = self.sharers.drop(number, self.unconditional)
            return self.unconditional
        held = self.held[where]
        held.heads[condition] = self.sharers.drop(number, int(held.heads[condition]))
        if held.heads[condition] == NOBODY:
            held.live -= 1
            if held.live == 0:
                del self.held[where]
        return int(held.heads[condition])

    def tidy(self) -> None:
        """Merges a few segments, if there are too many small ones; never more than fill one."""
        for size in (FULL // FAN**2, FULL // FAN, FULL):
            small = [where for where, held in self.held.items() if held.live <= size // FAN]
            if len(small) >= FAN:
                self._merge(small[:FAN])
                return
        for where, held in self.held.items():
            if 2 * held.live < held.segment.count:
                self._merge([where])
                return

    def _merge(self, some: list[int]) -> None:
        old = [self.held.pop(where) for where in some]
        named = [
            (held.segment, np.flatnonzero(held.heads != NOBODY).astype(np.int32)) for held in old
        ]
        segment, origin = Segment.merged(named)
        self._hold(segment, np.concatenate([held.heads for held in old])[origin])

    def _hold(self, segment: Segment, heads: Ints) -> None:
        """All conditions have somebody."""
        self.held[self.next] = Held(segment, heads, heads.size)
        settle(heads, self.sharers.following, self.next, self.segment_of, self.condition_of)
        self.next += 1

    def _home(self, number: int) -> tuple[int, int]:
        return int(self.segment_of[number]), int(self.condition_of[number])

    def _reserve(self, number: int) -> None:
        """Makes room for a subscription."""
        self.sharers.reserve(number + 1)
        self.segment_of = with_length(self.segment_of, number + 1, NOBODY)
        self.condition_of = with_length(self.condition_of, number + 1, NOBODY)
