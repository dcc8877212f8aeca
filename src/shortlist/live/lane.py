"""A lane: the matching half alone, with the subscriptions that its publications can meet."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shortlist.engine.finding import Finder
from shortlist.engine.live import LiveRegistry
from shortlist.live.found_matches import Outgoing
from shortlist.live.keys import Key, Lanes, Meeting
from shortlist.live.slots import shard_of
from shortlist.matching.arrays import with_length
from shortlist.matching.blocks import Block, Ints
from shortlist.matching.index.index import Index
from shortlist.matching.values import Reader
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary


class Visit(NamedTuple):
    """A publication on a lane."""

    read: Reader
    lanes: Lanes
    """All that it goes to."""


class Lane(LiveRegistry):
    """It holds some subscriptions only, but counts values of another type for all of them.

    Where a publication and a subscription have several lanes in common, the first one reports.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        limits: Limits,
        *,
        lane: int,
        lanes: int,
        shards: int,
        key: Key | None,
    ) -> None:
        super().__init__(vocabulary, limits)
        self._own: Lanes = 1 << lane
        self._meeting = None if key is None else Meeting(key, lanes, vocabulary, limits)
        self._shards = shards
        self._finder = Finder(vocabulary, limits, Index(vocabulary, limits))
        self._lanes: Ints = np.zeros(8, np.int64)
        """By subscription: those that hold it."""
        self._destinations: Ints = np.zeros(8, np.int32)
        """By subscription: the shard that selects for its shortlist."""

    def visit(self, publication: Publication) -> Visit | None:
        """A publication, if it goes to this lane; without a key, all that come do."""
        read, lanes = self.read(publication), self._own
        if self._meeting is not None:
            value = read(self._meeting.key.path)
            lanes = self._meeting.of_publication(value, publication.position)
        return Visit(read, lanes) if lanes & self._own else None

    def is_first(self, visit: Visit) -> bool:
        """Whether a publication goes to no earlier lane."""
        return visit.lanes & (self._own - 1) == 0

    def match(self, block: Sequence[Visit], outgoing: Outgoing) -> None:
        """Reports the matches of some publications."""
        if not block:
            return
        publications = Block.of_readers([visit.read for visit in block])
        firsts = [place for place, visit in enumerate(block) if self.is_first(visit)]
        if firsts:
            every = len(firsts) == len(block)
            self.census.observe(publications if every else publications.taken(np.array(firsts)))
        found = self._finder.found(publications)
        lanes = np.array([visit.lanes for visit in block], np.int64)
        common = lanes[found.publications] & self._lanes[found.subscriptions]
        found = found.kept(common & (self._own - 1) == 0)
        positions = np.array([visit.read.publication.position for visit in block], np.int64)
        outgoing.add(positions, self._destinations[found.subscriptions], found, self._finder.name)

    def _subscribed(self, subscription: Subscription) -> None:
        lanes = -1 if self._meeting is None else self._meeting.of_subscription(subscription)
        if lanes & self._own:
            number = self._finder.add(subscription)
            self._lanes = with_length(self._lanes, number + 1)
            self._destinations = with_length(self._destinations, number + 1)
            self._lanes[number] = lanes
            self._destinations[number] = shard_of(subscription.shortlist_id, self._shards)

    def _unsubscribed(self, subscription: str) -> None:
        if self._finder.knows(subscription):
            self._finder.remove(subscription)
