"""The conditions of a shelf, asked about blocks of publications."""

from collections import Counter

import numpy as np

from shortlist.matching.blocks import Block, Longs
from shortlist.matching.index.literals import Attribute
from shortlist.matching.index.masks import MOST
from shortlist.matching.index.matches import Matches
from shortlist.matching.index.search import Search
from shortlist.matching.index.segments import Shelf
from shortlist.matching.kernels.conditions import NARROW

OFTEN = 4
"""Where one in so many ends is one of its numbers, an attribute is asked about often."""
SPARSE = 64
"""Where one pair in so many matches, moving the matches back takes longer than order saves."""


class ShelfMatching:
    """Finds who on a shelf matches; from each block it learns how to go about the next one.

    >>> from shortlist.matching.index.compiling import Compiling
    >>> from shortlist.matching.index.terms import Request, Terms
    >>> from shortlist.matching.values import Values
    >>> from shortlist.model.publication import Publication
    >>> from shortlist.model.settings import Limits
    >>> from shortlist.model.vocabulary import Vocabulary
    >>> compiling, shelf = Compiling(Terms(Vocabulary(), Limits())), Shelf()
    >>> some = [compiling.read(Request(f"rent < {rent}", "min", 0, 0)) for rent in (800, 900)]
    >>> segment, places = compiling.segment(some)
    >>> shelf.put(segment, np.array([0, 1]), places)
    >>> flat = Publication(id="f", source="ads", time=0, position=0, data={"rent": 850})
    >>> block = Block.of_readers([Values(Vocabulary()).of(flat)])
    >>> ShelfMatching(shelf).matches(block, subscriptions=2).subscriptions
    array([1], dtype=int32)
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._room = 4096
        self._is_dense = False
        """Many pairs of the last block matched."""

    def matches(self, block: Block, subscriptions: int) -> Matches:
        """Those of all who have a condition; so many subscriptions there are, about."""
        is_ordered = block.size > 64 * NARROW and not self._is_dense
        order = self._order(block) if is_ordered else None
        if order is None and block.size <= MOST:
            found = [self._matches(block)]
        else:
            every = np.arange(block.size) if order is None else order
            pieces = np.array_split(every, -(-block.size // MOST))
            found = [self._matches(block.taken(piece)).moved(piece) for piece in pieces]
        count = sum(each.count for each in found)
        self._is_dense = count * SPARSE > block.size * subscriptions
        return Matches.joined(found)

    def _order(self, block: Block) -> Longs | None:
        """The publications by the numbers of one attribute, if conditions ask about it often: then
        what lies between two of them is few words of a mask."""
        asked: Counter[Attribute] = Counter()
        for held in self._shelf:
            for ends in held.segment.slots.ends:
                asked[ends.attribute] += ends.keys.size
        if not asked:
            return None
        [(attribute, count)] = asked.most_common(1)
        if attribute.kind != "number" or count * OFTEN < asked.total():
            return None
        return np.argsort(block.column(attribute.path).rough_numbers)

    def _matches(self, block: Block) -> Matches:
        """The matches of no more publications than a mask has bits."""
        paths = {path for held in self._shelf for path in held.segment.slots.paths}
        is_fuzzy = np.zeros(block.size, np.bool_)
        for path in paths:
            is_fuzzy[block.column(path).fuzzy] = True
        if not is_fuzzy.any():
            return self._found(Search(block, self._room))
        fuzzy, crisp = np.flatnonzero(is_fuzzy), np.flatnonzero(~is_fuzzy)
        some = block.taken(fuzzy) if crisp.size else block
        found = self._found(Search(some, self._room, paths))
        if not crisp.size:
            return found
        others = self._found(Search(block.taken(crisp), self._room))
        return Matches.joined([found.moved(fuzzy), others.moved(crisp)])

    def _found(self, search: Search) -> Matches:
        """What a search finds: no value is fuzzy where a condition looks, or any may be."""
        for held in self._shelf:
            search.take(held.segment, (held.heads, self._shelf.sharers.following))
        found = search.matches()
        self._room = 4096 + found.count * 5 // 4  # the next block will need about as much
        return found
