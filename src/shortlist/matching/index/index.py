"""The compiled matcher: conditions in segments, publications in blocks."""

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from shortlist.matching.base import Match
from shortlist.matching.blocks import Block, Ints, Longs
from shortlist.matching.index.compiling import Compiling, Read
from shortlist.matching.index.literals import Attribute
from shortlist.matching.index.masks import MOST
from shortlist.matching.index.matches import Matches
from shortlist.matching.index.numbering import NOBODY, Numbering, Requests
from shortlist.matching.index.search import FuzzySearch, Search
from shortlist.matching.index.segments import FULL, Segment, Shelf
from shortlist.matching.index.storage import bytes_of, open_parts, save_parts
from shortlist.matching.index.terms import Terms, document_of, vocabulary_of
from shortlist.matching.kernels.conditions import NARROW
from shortlist.matching.scan import reaches
from shortlist.matching.values import Reader
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary

FEW = 256
"""Pairs of a publication and a subscription up to which it is not worth while to make masks."""
OFTEN = 4
"""Where one in so many ends is one of its numbers, an attribute is asked about often."""
SPARSE = 64
"""Where one pair in so many matches, moving the matches back takes longer than order saves."""
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
        self,
        vocabulary: Vocabulary,
        limits: Limits | None = None,
        *,
        few: int = FEW,
    ) -> None:
        self.terms = Terms(vocabulary, limits or Limits())
        self.numbering = Numbering()
        self.requests = Requests(self.terms.request)
        self._shelf = Shelf()
        self._few = few
        self._compiling = Compiling(self.terms)
        self._waiting: dict[int, Read] = {}
        self._room = 4096
        self._is_dense = False
        """Many pairs of the last block matched."""
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

    @property
    def nbytes(self) -> int:
        """Of all arrays and tables, without the texts of ids and conditions."""
        self._flush()
        return self.numbering.nbytes + self.requests.nbytes + bytes_of(self._shelf)

    def add(self, subscription: Subscription) -> None:
        self.take(subscription)

    def take(self, subscription: Subscription) -> int:
        """Adds a subscription; the answer is its number."""
        request = self.terms.request(subscription)
        sharer = self.requests.find(request)
        made = self._waiting.get(sharer)
        if sharer == NOBODY:
            made = self._compiling.read(request)
        number = self.enter(subscription, sharer)
        if made is None:
            self.share(number, sharer)
            return number
        self._waiting[number] = made
        if len(self._waiting) == FULL:
            self._flush()
        return number

    def enter(self, subscription: Subscription, sharer: int) -> int:
        """Numbers a subscription; someone who asks the same is known, or nobody does."""
        number = self.numbering.add(subscription.id)
        self.requests.put(number, subscription, sharer)
        return number

    def share(self, number: int, sharer: int) -> None:
        """Lets a subscription have someone's condition; nobody's is none."""
        if sharer == NOBODY:
            self._shelf.put_unconditional(number)
        else:
            self._shelf.join(number, sharer)

    def shelve(self, segment: Segment, numbers: Ints, places: Ints) -> None:
        """Takes conditions that are compiled already, for subscriptions that have numbers."""
        self._shelf.put(segment, numbers, places)

    def remove(self, subscription: str) -> None:
        number = self.numbering.remove(subscription)
        is_waiting = self._waiting.pop(number, None) is not None
        self.requests.drop(number, NOBODY if is_waiting else self._shelf.drop(number))

    def match(self, read: Reader) -> list[Match]:
        found = self.match_block(Block.of_readers([read]))
        rows = zip(found.subscriptions, found.possibility, found.necessity, strict=True)
        names = self.numbering.names
        return sorted(Match(names[number], float(high), float(low)) for number, high, low in rows)

    def match_block(self, block: Block, unconditional: bool = True) -> Matches:
        """All matches of some publications, in no order that means anything.

        Those who have no condition match everything; they may be left aside.
        """
        found = self._exact(block, unconditional)
        bits = self.terms.limits.degree_bits
        return found if bits is None else found.packed(bits)

    def _exact(self, block: Block, unconditional: bool) -> Matches:
        if block.size * len(self.requests) <= self._few:
            return self._judged_all(block, unconditional)
        self._flush()
        self._shelf.tidy()
        is_ordered = block.size > 64 * NARROW and not self._is_dense
        order = self._order(block) if is_ordered else None
        if order is None and block.size <= MOST:
            found = [self._matches(block)]
        else:
            every = np.arange(block.size) if order is None else order
            pieces = np.array_split(every, -(-block.size // MOST))
            found = [self._matches(block.taken(piece)).moved(piece) for piece in pieces]
        count = sum(each.count for each in found)
        self._is_dense = count * SPARSE > block.size * len(self.requests)
        if unconditional and self._shelf.unconditional != NOBODY:
            everyone = self._shelf.sharers.members(self._shelf.unconditional)
            every = np.repeat(np.arange(block.size, dtype=np.int32), everyone.size)
            found.append(Matches.sure(every, np.tile(everyone, block.size)))
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
            return self._crisp_matches(block)
        fuzzy, crisp = np.flatnonzero(is_fuzzy), np.flatnonzero(~is_fuzzy)
        some = block.taken(fuzzy) if crisp.size else block
        search = FuzzySearch(some, paths, self._room)
        for held in self._shelf:
            search.take(held.segment, (held.heads, self._shelf.sharers.following))
        found = self._noted(search.matches())
        if not crisp.size:
            return found
        others = self._crisp_matches(block.taken(crisp))
        return Matches.joined([found.moved(fuzzy), others.moved(crisp)])

    def _crisp_matches(self, block: Block) -> Matches:
        """The matches of publications without a fuzzy value where a condition looks."""
        search = Search(block, self._room)
        for held in self._shelf:
            search.take(held.segment, (held.heads, self._shelf.sharers.following))
        return self._noted(search.matches())

    def _noted(self, found: Matches) -> Matches:
        self._room = 4096 + found.count * 5 // 4  # the next block will need about as much
        return found

    def _judged_all(self, block: Block, unconditional: bool) -> Matches:
        """As a plain matcher does it: for a few pairs that is less work."""
        rows = []
        for number in range(len(self.requests)):
            if number not in self.requests:
                continue
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
            self.shelve(segment, numbers, places)
            self._waiting.clear()
