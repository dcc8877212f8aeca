"""The sets of matches that publications carry along on their way through a chain of policies."""

from collections.abc import Iterable, Sequence

import numpy as np

from shortlist.matching.blocks import Floats, Ints
from shortlist.scoring.match_sets import NO_SETS, MatchSets
from shortlist.selection.bank.arena import Arena, sweep

LEAST = 1024
"""So many may be carried by nobody before that is looked into."""


class KeptSets:
    """Equal sets are kept once; those of one publication in one shortlist seldom differ.

    >>> kept = KeptSets()
    >>> two = MatchSets(np.array([0, 2]), np.array([7, 8], np.int32), np.ones(2), np.ones(2))
    >>> kept.keep(np.array([-1, 0, 0], np.int32), two)
    array([-1,  0,  0], dtype=int32)
    >>> kept.without(7, np.array([0, -1], np.int32)), kept.sets.subscriptions
    (array([ 1, -1], dtype=int32), array([7, 8, 8], dtype=int32))
    """

    def __init__(self) -> None:
        self._sets: list[tuple[bytes, bytes, bytes]] = []
        self._numbers: dict[tuple[bytes, bytes, bytes], int] = {}
        self._joined: MatchSets | None = NO_SETS
        self._most = LEAST

    @property
    def sets(self) -> MatchSets:
        """All of them."""
        if self._joined is None:
            self._joined = _joined(self._sets)
        return self._joined

    def are(self, sets: MatchSets) -> bool:
        """Whether these are the ones that are kept here."""
        return sets is self._joined

    def keep(self, numbers: Ints, sets: MatchSets) -> Ints:
        """The numbers, here, of sets that have these numbers there."""
        kept = numbers.copy()
        for place, number in enumerate(numbers.tolist()):
            if number >= 0:
                which = slice(*sets.offsets[number:][:2])
                kept[place] = self._number(column[which] for column in sets[1:])
        return kept

    def without(self, subscription: int, numbers: Ints) -> Ints:
        """For each of these numbers that of the same set without a subscription which goes."""
        known, places = np.unique(numbers, return_inverse=True)
        for place, number in enumerate(known.tolist()):
            if number >= 0:
                _, *columns = self.subset(known[place : place + 1])
                others = columns[0] != subscription
                known[place] = self._number(column[others] for column in columns)
        changed: Ints = known[places]
        return changed

    def subset(self, numbers: Ints) -> MatchSets:
        """Some of them, in this order."""
        some = [self._sets[number] for number in numbers.tolist()]
        return _joined(some)

    def _number(self, columns: Iterable[Ints | Floats]) -> int:
        members, high, low = (column.tobytes() for column in columns)
        key = members, high, low
        if key not in self._numbers:
            self._numbers[key] = len(self._sets)
            self._sets.append(key)
            self._joined = None
        return self._numbers[key]

    @property
    def is_worth_sweeping(self) -> bool:
        return len(self._sets) >= self._most

    def sweep(self, arenas: Iterable[Arena]) -> None:
        """Forgets those that no arena holds, and renumbers the rest in all of them."""
        kept = sweep(arenas, "matched", len(self._sets))
        self._sets = [self._sets[number] for number in kept.tolist()]
        self._numbers = {key: number for number, key in enumerate(self._sets)}
        self._joined = None if self._sets else NO_SETS
        self._most = max(LEAST, 2 * len(self._sets))


def _joined(some: Sequence[tuple[bytes, bytes, bytes]]) -> MatchSets:
    members = [np.frombuffer(each, np.int32) for each, _, _ in some]
    return MatchSets(
        np.cumsum([0, *(each.size for each in members)]),
        np.concatenate([np.empty(0, np.int32), *members]),
        np.frombuffer(b"".join(high for _, high, _ in some)),
        np.frombuffer(b"".join(low for _, _, low in some)),
    )
