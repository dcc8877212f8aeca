"""How a shard matches: a block of publications in, one row for each candidate out."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from shortlist.engine.live_registry import LiveRegistry
from shortlist.intake.columns import RegistryColumns
from shortlist.matching.blocks import Block, Bools, Floats, Ints, Longs
from shortlist.matching.index.index import Index
from shortlist.matching.index.names import NameColumn
from shortlist.matching.index.numbering import NOBODY, Numbering, SavedNumbers
from shortlist.matching.index.storage import Parts
from shortlist.matching.values import Read
from shortlist.model.items import Items
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.blocks import Arrivals, BulkScores
from shortlist.scoring.combined import BlockCombining, Combined, Expected
from shortlist.scoring.kernels.distances import Hopes
from shortlist.scoring.match_sets import MatchSets
from shortlist.scoring.numbers import Numbers
from shortlist.selection.audience import Inducement
from shortlist.selection.bank.audience import BulkAudience

FEW = 8
"""Matched apart from all others are subscriptions of which there are so many times more."""

NOMINATIONS = pa.schema(
    {
        "position": pa.int64(),
        "reach": pa.int64(),
        "shortlist": pa.string(),
        "score": pa.float64(),
    }
)
"""A publisher's candidates; a score that cannot be computed is null."""

Chosen = Mapping[int, Sequence[str]]
"""By position of a publication, the shortlists that its publisher reaches."""


class Finder:
    """The compiled matcher, and the scores of what it finds; gives subscriptions numbers, which may
    be used again."""

    def __init__(self, vocabulary: Vocabulary, limits: Limits, saved: Parts | None = None) -> None:
        self._index = Index(vocabulary, limits)
        self._scoring = BulkScores(vocabulary, limits)
        if saved is not None:
            self._index.load(saved)
            self._scoring.load(saved["scoring"])

    def saved(self) -> Parts:
        return {**self._index.saved(), "scoring": self._scoring.saved()}

    @property
    def names(self) -> NameColumn:
        return self._index.numbering.names

    def number(self, subscription: str) -> int:
        return self._index.numbering.number(subscription)

    def knows(self, subscription: str) -> bool:
        return self._index.numbering.find(subscription) != NOBODY

    def add(self, subscription: Subscription) -> int:
        number = self._index.take(subscription)
        self._scoring.add(number, subscription)
        return number

    def remove(self, subscription: Subscription) -> int:
        number = self._index.give_up(subscription)
        self._scoring.remove(number)
        return number

    def replace(self, old: Subscription, new: Subscription) -> int:
        number = self._index.replace(old, new)
        self._scoring.replace(number, old, new)
        return number

    def wants_nearest(self, number: int) -> bool:
        """Whether publications are left out that are too far for a subscription."""
        return self._scoring.wants_nearest(number)

    def found(self, block: Block) -> Arrivals:
        """All that matches and has a score."""
        return self._scoring.scored(block, self._index.match_block(block, unconditional=False))

    def found_for(self, numbers: Ints, block: Block) -> Arrivals:
        """The same for some subscriptions, which are few among all."""
        matches = self._index.match_some(block, numbers.tolist())
        return self._scoring.scored(block, matches, among=numbers)

    def hopeful(self, block: Block, hopes: Hopes, lasts: Bools) -> tuple[Arrivals, int]:
        """The same without what cannot matter, and how much that was."""
        matches = self._index.match_block(block, unconditional=False)
        return self._scoring.hopeful(block, matches, hopes, lasts)


class FoundElsewhere:
    """The numbers of a `Finder` and nothing else: for those who are told what matches.

    >>> known, (a, b) = FoundElsewhere(), (Subscription(id=name) for name in "ab")
    >>> known.add(a), known.add(b), known.remove(a)
    (0, 1, 0)
    >>> known.number("b")
    1
    """

    def __init__(self, saved: Parts | None = None) -> None:
        self._numbers = Numbering(None if saved is None else saved["numbers"].copied())

    def saved(self) -> Parts:
        return {"numbers": self._numbers.saved()}

    @property
    def names(self) -> NameColumn:
        return self._numbers.names

    def number(self, subscription: str) -> int:
        return self._numbers.number(subscription)

    def add(self, subscription: Subscription) -> int:
        return self._numbers.add(subscription.id)

    def remove(self, subscription: Subscription) -> int:
        return self._numbers.remove(subscription.id)

    def replace(self, old: Subscription, new: Subscription) -> int:
        return self.number(new.id)

    def wants_nearest(self, number: int) -> bool:
        return False


class Matching(LiveRegistry):
    """Subscriptions are known by number, and so are shortlists.

    One that does not find matches is told them, and only combines.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        limits: Limits,
        *,
        finds: bool = True,
        shortlists: SavedNumbers | None = None,
        columns: RegistryColumns | None = None,
        saved: Parts | None = None,
    ) -> None:
        super().__init__(vocabulary, limits, columns)
        self.finds = finds
        found = None if saved is None else saved["numbered"]
        self._finder = Finder(self.vocabulary, limits, found) if finds else None
        self._numbered = self._finder or FoundElsewhere(found)
        self.shortlists = Numbers(shortlists if saved is None else saved["shortlists"].copied())
        self.names = self._numbered.names
        """The ids of subscriptions."""
        self.combining = BlockCombining(
            self.scoring,
            self.shortlists,
            self._numbered.number,
            self.names,
            self._numbered.wants_nearest,
        )
        self._audience = BulkAudience(
            self.advertisements, self.scoring, self.shortlists, self.subscription
        )
        if saved is not None:
            self.combining.load(saved["combining"])
            self.census.load(saved["census"])

    def saved(self) -> Parts:
        """What follows from the registry, to be opened with its columns."""
        return {
            "numbered": self._numbered.saved(),
            "shortlists": self.shortlists.saved(),
            "combining": self.combining.saved(),
            "census": self.census.saved(),
        }

    def number(self, subscription: str) -> int:
        return self._numbered.number(subscription)

    def subscription(self, number: int) -> Subscription:
        return self.roster.subscriptions[self.names[number]]

    def combined(
        self, block: Block, expected: Expected | None = None
    ) -> tuple[Combined, MatchSets, int]:
        """The candidates of a block's publications, in order of shortlist and publication.

        Where it is known what they must reach to matter, so many others are left out.
        """
        assert self._finder is not None
        self.census.observe(block)
        if expected is None:
            found, left_out = self._finder.found(block), 0
        else:
            hopes = self.combining.hopes(expected)
            found, left_out = self._finder.hopeful(block, hopes, expected.lasts)
        return *self.combining.grouped(block.size, found), left_out

    def combined_of(self, shortlists: Iterable[str], block: Block) -> tuple[Combined, MatchSets]:
        """The candidates of a block's publications for some live shortlists, and perhaps others."""
        assert self._finder is not None
        members = [member for name in shortlists for member in self.roster.members(name)]
        if len(members) * FEW > len(self.roster.subscriptions):
            return self.combining.grouped(block.size, self._finder.found(block))
        numbers = np.fromiter(map(self.number, members), np.int32, len(members))
        return self.combining.grouped(block.size, self._finder.found_for(numbers, block))

    def nominations(self, items: Items) -> pa.Table:
        """The best candidates of each publication that has a reach, by its publisher's own score:
        rows of NOMINATIONS."""
        block, limits = Block.of_items(items, self.values), inducements(items)
        combined, *_ = self.combined(block)
        parts: list[pa.RecordBatch] = []
        for place, candidates in _of_each([*limits], combined):
            some = combined.kept(candidates)
            best, scores = self._best(limits[place], partial(block.value, place), some)
            size = scores.size
            columns = [
                np.full(size, items.positions[place]),
                np.full(size, limits[place].k),
                self.shortlists.names.taken(some.shortlists[best]),
                pa.array(scores, mask=np.isnan(scores)),
            ]
            parts.append(pa.record_batch([*columns], schema=NOMINATIONS))
        return pa.Table.from_batches(parts, NOMINATIONS)

    def is_chosen(
        self, items: Items, block: Block, combined: Combined, chosen: Chosen | None
    ) -> Bools:
        """Which candidates the publishers want to reach: the best of those here, unless somebody
        has chosen among more."""
        is_chosen = np.ones(combined.publications.size, np.bool_)
        limits = inducements(items)
        for place, candidates in _of_each([*limits], combined):
            is_chosen[candidates] = False
            some = combined.kept(candidates)
            if chosen is None:
                reached = self._best(limits[place], partial(block.value, place), some)[0]
            else:
                names = chosen.get(int(items.positions[place]), ())
                numbers = [self.shortlists.find(name) for name in names]
                reached = np.flatnonzero(np.isin(some.shortlists, numbers))
            is_chosen[candidates[reached]] = True
        return is_chosen

    def _best(
        self, inducement: Inducement, read: Read, candidates: Combined
    ) -> tuple[Longs, Floats]:
        return self._audience.chosen(
            inducement, read, candidates.shortlists, candidates.scores, candidates.named
        )

    def _subscribed(self, subscription: Subscription) -> None:
        self.combining.add(self._numbered.add(subscription), subscription)

    def _unsubscribed(self, subscription: Subscription) -> None:
        number = self._numbered.remove(subscription)
        self.combining.remove(number, subscription)
        self._audience.forget(number)

    def _replaced(self, old: Subscription, new: Subscription) -> None:
        number = self._numbered.replace(old, new)
        self.combining.add(number, new)
        self._audience.forget(number)

    def _reopen(self, shortlist: Shortlist) -> None:
        super()._reopen(shortlist)
        self.combining.reopen(shortlist.id)

    def _close(self, shortlist: str) -> None:
        super()._close(shortlist)
        self.shortlists.release(shortlist)


FoundMatches = Callable[[Items, Matching], Arrivals]
"""The matches of a block of publications that were found elsewhere, with the numbers of here."""


def inducements(items: Items) -> dict[int, Inducement]:
    """How far the publishers of some publications reach at most, by place."""
    if not len(items) or (reach := items.batch.column("reach")).null_count == len(reach):
        return {}
    limits = zip(reach.to_pylist(), items.values("advertisement"), strict=True)
    return {
        place: Inducement(k, name)
        for place, (k, name) in enumerate(limits)
        if k is not None and name is not None
    }


def _of_each(places: Sequence[int], combined: Combined) -> Iterator[tuple[int, Longs]]:
    """The candidates of publications at some places of a block."""
    if not places:
        return
    order = np.argsort(combined.publications, kind="stable")
    sorted_places = combined.publications[order]
    firsts = np.searchsorted(sorted_places, places, "left").tolist()
    ends = np.searchsorted(sorted_places, places, "right").tolist()
    for place, first, end in zip(places, firsts, ends, strict=True):
        yield place, order[first:end]
