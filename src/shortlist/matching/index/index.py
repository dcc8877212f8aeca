"""The compiled matcher: conditions in segments, publications in blocks."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from shortlist.matching.base import Match
from shortlist.matching.blocks import Block
from shortlist.matching.index.compiling import Compiling, Read
from shortlist.matching.index.matches import Matches
from shortlist.matching.index.numbering import NOBODY, Numbering, Requests
from shortlist.matching.index.segments import FULL, Shelf
from shortlist.matching.index.shelved import ShelfMatching
from shortlist.matching.index.storage import open_parts, save_parts
from shortlist.matching.index.terms import Request, Terms, document_of, vocabulary_of
from shortlist.matching.scan import reaches
from shortlist.matching.values import Reader
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary

FEW = 256
"""Pairs of a publication and a subscription up to which it is not worth while to make masks."""
REMEMBERED = 4096
"""Conditions that are kept ready to be judged one by one."""


class Index:
    """As `Scan`, but all conditions are asked about many publications at once.

    Subscriptions that ask the same in the same words share a condition.

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
        self, vocabulary: Vocabulary, limits: Limits | None = None, *, few: int = FEW
    ) -> None:
        self.terms = Terms(vocabulary, limits or Limits())
        self.numbering = Numbering()
        self.requests = Requests(self.terms.request)
        self._shelf = Shelf()
        self._matching = ShelfMatching(self._shelf)
        self._few = few
        self._compiling = Compiling(self.terms)
        self._waiting: dict[int, Read] = {}
        self._meets = lru_cache(REMEMBERED)(self.terms.meets)

    @classmethod
    def open(
        cls, folder: str | os.PathLike[str], verify: bool = True, *, few: int = FEW
    ) -> "Index":
        """The index that was saved in a folder, or an `UnusableIndex`.

        It stays where it is on disk, and changes are this process's own. To verify every byte takes
        longer than all the rest: once on a machine is enough.
        """
        about, parts = open_parts(Path(folder), verify)
        vocabulary, limits = vocabulary_of(about["vocabulary"]), Limits(**about["limits"])
        index = cls(vocabulary, limits, few=few)
        index.load(parts)
        return index

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Saves the index in a folder of its own, in the place of what was saved there before."""
        about = {
            "subscriptions": len(self.numbering),
            "vocabulary": document_of(self.terms.vocabulary),
            "limits": asdict(self.terms.limits),
        }
        save_parts(Path(folder), about, self.saved())

    def saved(self) -> dict[str, Any]:
        """All but the terms."""
        self._flush()
        return {
            "numbers": self.numbering.saved(),
            "requests": self.requests.saved(),
            "shelf": self._shelf,
        }

    def load(self, saved: Mapping[str, Any]) -> None:
        """Takes the place of what is there."""
        self.numbering = Numbering(saved["numbers"].copied())
        self.requests = Requests(self.terms.request, saved["requests"])
        self._shelf = saved["shelf"]
        self._matching = ShelfMatching(self._shelf)

    def add(self, subscription: Subscription) -> None:
        self.take(subscription)

    def take(self, subscription: Subscription) -> int:
        """Adds a subscription; the answer is its number."""
        request = self.terms.request(subscription)
        sharer, made = self._read(request)
        number = self.numbering.add(subscription.id)
        self.requests.put(number, subscription, request, sharer)
        self._place(number, sharer, made)
        return number

    def replace(self, old: Subscription, new: Subscription) -> int:
        """A subscription that was added asks something else, or the same; its number stays.

        >>> index = Index(Vocabulary())
        >>> cheap, cheaper = (Subscription(id="s", where=f"rent < {rent}") for rent in (900, 800))
        >>> index.take(cheap), index.replace(cheap, cheaper), index.requests[0].where
        (0, 0, 'rent < 800')
        """
        number = self.numbering.number(new.id)
        asked, request = self.terms.request(old), self.terms.request(new)
        if request != asked:
            sharer, made = self._read(request)
            self._withdraw(number, asked)
            self.requests.put(number, new, request, sharer)
            self._place(number, sharer, made)
        return number

    def give_up(self, subscription: Subscription) -> int:
        """As `remove` does it, for one whose settings are at hand; the answer is its number."""
        number = self.numbering.remove(subscription.id)
        self._withdraw(number, self.terms.request(subscription))
        return number

    def remove(self, subscription: str) -> None:
        number = self.numbering.remove(subscription)
        self._withdraw(number, self.requests[number])

    def match(self, read: Reader) -> list[Match]:
        found = self.match_block(Block.of_readers([read]))
        rows = zip(found.subscriptions, found.possibility, found.necessity, strict=True)
        names = self.numbering.names
        return sorted(Match(names[number], float(high), float(low)) for number, high, low in rows)

    def match_block(self, block: Block, unconditional: bool = True) -> Matches:
        """All matches of some publications, in no order that means anything.

        Those who have no condition match everything; they may be left aside.
        """
        if block.size * len(self.requests) <= self._few:
            numbers = (number for number in range(len(self.requests)) if number in self.requests)
            return self._told(self._judged(block, numbers, unconditional))
        self._flush()
        self._shelf.tidy()
        found = self._matching.matches(block, len(self.requests))
        if unconditional and self._shelf.unconditional != NOBODY:
            everyone = self._shelf.sharers.members(self._shelf.unconditional)
            every = np.repeat(np.arange(block.size, dtype=np.int32), everyone.size)
            sure = Matches.sure(every, np.tile(everyone, block.size))
            found = Matches.joined([found, sure])
        return self._told(found)

    def match_some(self, block: Block, numbers: Sequence[int]) -> Matches:
        """The matches of some subscriptions that have a condition, by number, and of nobody else.

        >>> from shortlist.matching.values import Values
        >>> from shortlist.model.publication import Publication
        >>> index = Index(Vocabulary())
        >>> numbers = [index.take(Subscription(id=name, where="rent < 900")) for name in "abc"]
        >>> flat = Publication(id="f", source="ads", time=0, position=0, data={"rent": 850})
        >>> block = Block.of_readers([Values(Vocabulary()).of(flat)])
        >>> index.match_some(block, numbers[1:]).subscriptions
        array([1, 2], dtype=int32)
        """
        if block.size * len(numbers) <= self._few:
            return self._told(self._judged(block, numbers, unconditional=False))
        asked: dict[int, Read] = {}
        for number in numbers:
            made = self._waiting.get(number) or self._compiling.read(self.requests[number])
            if made is not None:
                asked[number] = made
        shelf = Shelf()
        if asked:
            segment, places = self._compiling.segment(asked.values())
            shelf.put(segment, np.arange(len(asked), dtype=np.int32), places)
        found = ShelfMatching(shelf).matches(block, len(asked))
        return self._told(found.renumbered(np.fromiter(asked, np.int32)))

    def _read(self, request: Request) -> tuple[int, Read | None]:
        """Someone who asks the same, or nobody; and what is to be shelved, if that is not done."""
        sharer = self.requests.find(request)
        if sharer == NOBODY:
            return NOBODY, self._compiling.read(request)
        return sharer, self._waiting.get(sharer)

    def _place(self, number: int, sharer: int, made: Read | None) -> None:
        """Lets a subscription have what `_read` gave."""
        if made is not None:
            self._waiting[number] = made
            if len(self._waiting) == FULL:
                self._flush()
        elif sharer == NOBODY:
            self._shelf.put_unconditional(np.array([number], np.int32))
        else:
            self._shelf.join(number, sharer)

    def _withdraw(self, number: int, request: Request) -> None:
        """Takes away what a subscription asks."""
        is_waiting = self._waiting.pop(number, None) is not None
        self.requests.drop(number, request, NOBODY if is_waiting else self._shelf.drop(number))

    def _told(self, found: Matches) -> Matches:
        bits = self.terms.limits.degree_bits
        return found if bits is None else found.coarse(bits)

    def _judged(self, block: Block, numbers: Iterable[int], unconditional: bool) -> Matches:
        """As a plain matcher does it: for a few pairs that is less work."""
        rows = []
        for number in numbers:
            request = self.requests[number]
            if request.where is None and not unconditional:
                continue
            meets = self._meets(request.where, request.norm, self.terms.vocabulary.version)
            for publication in range(block.size):
                degrees = meets(partial(block.value, publication))
                if reaches(request.at_least, degrees):
                    rows.append((publication, number, *degrees))
        return Matches.of_rows(rows)

    def _flush(self) -> None:
        """Shelves what waits."""
        if self._waiting:
            numbers = np.fromiter(self._waiting, np.int32)
            segment, places = self._compiling.segment(self._waiting.values())
            self._shelf.put(segment, numbers, places)
            self._waiting.clear()
