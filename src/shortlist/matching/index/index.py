"""The compiled matcher: conditions in segments, publications in blocks."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from shortlist.language.parser import parse_any_where
from shortlist.language.tree import Where
from shortlist.matching.base import Match
from shortlist.matching.blocks import Block, Bools, Longs
from shortlist.matching.conditions import Meets, condition, predicates
from shortlist.matching.index.coarse import Bits, lowered, with_lowered
from shortlist.matching.index.conditions import Condition, compiled_condition
from shortlist.matching.index.masks import MOST
from shortlist.matching.index.matches import Matches
from shortlist.matching.index.numbering import Numbering, NumberTable
from shortlist.matching.index.search import Search, possible
from shortlist.matching.index.shelf import FULL, Shelf
from shortlist.matching.scan import reaches
from shortlist.matching.values import Reader
from shortlist.model.paths import Path
from shortlist.model.settings import Limits
from shortlist.model.subscription import AtLeast, Norm, Subscription
from shortlist.model.vocabulary import Vocabulary

FEW = 256
"""Pairs of a publication and a subscription up to which it is not worth while to make masks."""
REMEMBERED = 4096
"""Conditions that are kept ready to be judged one by one."""


class Index:
    """As `Scan`, but all conditions are asked about many publications at once.

    >>> from shortlist.matching.values import Values
    >>> from shortlist.model.publication import Publication
    >>> index = Index(Vocabulary())
    >>> index.add(Subscription(id="s1", where="genre = 'drama' and rating > 7"))
    >>> film = {"genre": "drama", "rating": 8}
    >>> film = Publication(id="f", source="cinema", time=0, position=0, data=film)
    >>> index.match(Values(Vocabulary()).of(film))
    [Match(subscription='s1', possibility=1.0, necessity=1.0)]
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        limits: Limits | None = None,
        *,
        few: int = FEW,
        degree_bits: Bits | None = None,
    ) -> None:
        self._vocabulary = vocabulary
        self._limits = limits or Limits()
        self._few = few
        self._bits = degree_bits
        self.numbering = Numbering()
        self._shelf = Shelf()
        self._known = _KnownConditions(self._condition_of)
        self._subscriptions: list[Subscription | None] = []
        self._unconditional: set[int] = set()
        self._waiting: dict[int, Condition] = {}
        self._paths: set[Path] = set()
        self._room = 4096
        self._meets = lru_cache(REMEMBERED)(self._compiled_meets)

    def add(self, subscription: Subscription) -> None:
        tree = self._tree(subscription.where)
        number = self.numbering.add(subscription.id)
        if number == len(self._subscriptions):
            self._subscriptions.append(subscription)
        self._subscriptions[number] = subscription
        if tree is None:
            self._unconditional.add(number)
            return
        self._paths.update(predicate.path for predicate in predicates(tree))
        self._waiting[number] = self._compiled(subscription, tree)
        if len(self._waiting) == FULL:
            self._flush()

    def remove(self, subscription: str) -> None:
        number = self.numbering.remove(subscription)
        if number in self._unconditional:
            self._unconditional.remove(number)
        elif number in self._waiting:
            del self._waiting[number]
        else:
            sharer = self._shelf.drop(number)
            self._known.drop(number, sharer)
        self._subscriptions[number] = None

    def match(self, read: Reader) -> list[Match]:
        found = self.match_block(Block.of_readers([read]))
        rows = zip(found.subscriptions, found.possibility, found.necessity, strict=True)
        name = self.numbering.name
        return sorted(Match(name(number), float(high), float(low)) for number, high, low in rows)

    def match_block(self, block: Block, unconditional: bool = True) -> Matches:
        """All matches of some publications, in no order that means anything.

        Those who have no condition match everything; they may be left aside.
        """
        found = self._exact(block, unconditional)
        return found.packed(self._bits) if self._bits else found

    def _exact(self, block: Block, unconditional: bool) -> Matches:
        if block.size * len(self.numbering) <= self._few:
            return self._judged_all(block, unconditional)
        self._flush()
        self._shelf.tidy()
        if block.size <= MOST:
            found = [self._matches(block)]
        else:
            pieces = np.array_split(np.arange(block.size), -(-block.size // MOST))
            found = [self._matches(block.taken(piece)).moved(piece) for piece in pieces]
        if unconditional and self._unconditional:
            everyone = np.fromiter(self._unconditional, np.int32, len(self._unconditional))
            every = np.repeat(np.arange(block.size, dtype=np.int32), everyone.size)
            found.append(Matches.sure(every, np.tile(everyone, block.size)))
        return Matches.joined(found)

    def _matches(self, block: Block) -> Matches:
        """The matches of no more publications than a mask has bits."""
        search = Search(block, self._room)
        for held in self._shelf:
            search.take(held.segment, held.heads, self._shelf.sharers.following)
        found = search.matches()
        self._room = 4096 + found.count * 5 // 4
        fuzzy = self._fuzzy(block)
        if fuzzy.any():
            found = found.kept(~fuzzy[found.publications])
            found = Matches.joined([found, self._judged(block, np.flatnonzero(fuzzy))])
        return found

    def _judged_all(self, block: Block, unconditional: bool) -> Matches:
        """As a plain matcher does it: for a few pairs that is less work."""
        rows = []
        for number, subscription in enumerate(self._subscriptions):
            if subscription is None or (number in self._unconditional and not unconditional):
                continue
            meets = self._meets(subscription.where, subscription.norm)
            for publication in range(block.size):
                degrees = meets(partial(block.value, publication))
                if reaches(self._at_least(subscription), degrees):
                    rows.append((publication, number, *degrees))
        return Matches.of_rows(rows)

    def _fuzzy(self, block: Block) -> Bools:
        """Which publications have a fuzzy value where a condition looks."""
        fuzzy = np.zeros(block.size, np.bool_)
        for path in self._paths:
            fuzzy[block.column(path).fuzzy] = True
        return fuzzy

    def _judged(self, block: Block, places: Longs) -> Matches:
        """The matches of publications with fuzzy values: what may match is judged one by one."""
        some = block.taken(places)
        rows = []
        segments = [(held.segment, held.heads) for held in self._shelf]
        for held, (publications, conditions) in zip(
            self._shelf, possible(some, segments), strict=True
        ):
            for publication, which in zip(publications.tolist(), conditions.tolist(), strict=True):
                sharers = self._shelf.sharers.members(held.heads[which])
                one = self._subscription(sharers[0])
                meets = self._meets(one.where, one.norm)
                degrees = meets(partial(some.value, publication))
                rows += [
                    (places[publication], number, *degrees)
                    for number in sharers
                    if reaches(self._at_least(self._subscription(number)), degrees)
                ]
        return Matches.of_rows(rows)

    def _flush(self) -> None:
        """Shelves what waits: with those who share its condition already, or anew."""
        new: dict[Condition, list[int]] = {}
        for number, made in self._waiting.items():
            sharer = -1 if made in new else self._known.find(made)
            if sharer >= 0:
                self._shelf.join(number, sharer)
                self._known.note(number, made)
            else:
                new.setdefault(made, []).append(number)
        self._waiting.clear()
        if new:
            self._shelf.put(new)
            for made, numbers in new.items():
                for number in numbers:
                    self._known.note(number, made)
                self._known.put(numbers[0])

    def _subscription(self, number: int) -> Subscription:
        subscription = self._subscriptions[number]
        assert subscription is not None
        return subscription

    def _condition_of(self, number: int) -> Condition:
        subscription = self._subscription(number)
        tree = self._tree(subscription.where)
        assert tree is not None
        return self._compiled(subscription, tree)

    def _compiled(self, subscription: Subscription, tree: Where) -> Condition:
        at_least = self._at_least(subscription)
        least = max(at_least.possibility, at_least.necessity)
        return compiled_condition(tree, self._vocabulary, subscription.norm, least)

    def _compiled_meets(self, where: str | None, norm: Norm) -> Meets:
        return condition(self._tree(where), self._vocabulary, norm)

    def _tree(self, where: str | None) -> Where | None:
        tree = parse_any_where(where, self._vocabulary, self._limits)
        return with_lowered(tree, self._bits) if tree is not None and self._bits else tree

    def _at_least(self, subscription: Subscription) -> AtLeast:
        at_least = subscription.at_least
        if self._bits is None:
            return at_least
        return replace(
            at_least,
            possibility=lowered(at_least.possibility, self._bits),
            necessity=lowered(at_least.necessity, self._bits),
        )


class _KnownConditions:
    """Which subscription has a condition already."""

    def __init__(self, condition_of: Callable[[int], Condition]) -> None:
        self._condition_of = condition_of
        self._hashes = np.zeros(8, np.int64)
        self._table = NumberTable(lambda number: int(self._hashes[number]))

    def find(self, wanted: Condition) -> int:
        """Someone who has the condition, or -1."""
        return self._table.find(hash(wanted), lambda one: self._condition_of(one) == wanted)

    def note(self, number: int, made: Condition) -> None:
        """Someone has the condition."""
        while number >= self._hashes.size:
            self._hashes = np.append(self._hashes, np.zeros_like(self._hashes))
        self._hashes[number] = hash(made)

    def put(self, number: int) -> None:
        """Whoever looks for the condition of this one will find it."""
        self._table.put(number)

    def drop(self, number: int, sharer: int) -> None:
        """Whoever looks for it will find a sharer in its place, if there is one."""
        if self._table.drop(number) and sharer >= 0:
            self._table.put(sharer)
