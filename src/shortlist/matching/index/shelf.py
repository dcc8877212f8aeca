"""The segments of an index and who shares their conditions; small ones are merged as they come."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shortlist.matching.blocks import Ints
from shortlist.matching.index.conditions import Condition
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


class Shelf:
    """Segments by number, and the place of every subscription's condition."""

    def __init__(self) -> None:
        self.held: dict[int, Held] = {}
        self.sharers = Sharers()
        self._next = 0
        self._segment_of = np.full(8, NOBODY, np.int32)
        self._condition_of = np.full(8, NOBODY, np.int32)

    def __iter__(self) -> Iterator[Held]:
        return iter(self.held.values())

    def put(self, conditions: dict[Condition, list[int]]) -> None:
        """Adds conditions, each with those who share it."""
        wanted = list(conditions)
        segment, order = Segment.of(wanted)
        heads = np.full(segment.count, NOBODY, np.int32)
        for place, which in enumerate(order.tolist()):
            for number in conditions[wanted[which]]:
                heads[place] = self.sharers.put(number, int(heads[place]))
                self._settle(number, self._next, place)
        self.held[self._next] = Held(segment, heads, segment.count)
        self._next += 1

    def join(self, number: int, sharer: int) -> None:
        """Lets a subscription share another one's condition."""
        where, condition = self._home(sharer)
        held = self.held[where]
        held.heads[condition] = self.sharers.put(number, int(held.heads[condition]))
        self._settle(number, where, condition)

    def drop(self, number: int) -> int:
        """Takes a subscription away; the answer is one that shares its condition, or nobody."""
        where, condition = self._home(number)
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
        heads = np.concatenate([held.heads for held in old])[origin]
        self.held[self._next] = Held(segment, heads, heads.size)
        settle(heads, self.sharers.following, self._next, self._segment_of, self._condition_of)
        self._next += 1

    def _home(self, number: int) -> tuple[int, int]:
        return int(self._segment_of[number]), int(self._condition_of[number])

    def _settle(self, number: int, where: int, condition: int) -> None:
        while number >= self._segment_of.size:
            self._segment_of = np.append(self._segment_of, self._segment_of)
            self._condition_of = np.append(self._condition_of, self._condition_of)
        self._segment_of[number], self._condition_of[number] = where, condition
