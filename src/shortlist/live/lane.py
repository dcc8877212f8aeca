"""A lane: matching alone, with the subscriptions that its publications can meet."""

import numpy as np

from shortlist.engine.live_registry import LiveRegistry
from shortlist.engine.matching import Finder
from shortlist.live.found_matches import Outgoing
from shortlist.live.keys import Key, Lanes, Meeting
from shortlist.live.slots import shard_of
from shortlist.matching.arrays import with_length
from shortlist.matching.blocks import Block, Ints, Longs
from shortlist.model.items import Items
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.selection.bank.offers import NEVER


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
        self._finder = Finder(vocabulary, limits)
        self._lanes: Ints = np.zeros(8, np.int64)
        """By subscription: those that hold it."""
        self._destinations: Ints = np.zeros(8, np.int32)
        """By subscription: the shard that selects for its shortlist."""

    def match(self, items: Items, outgoing: Outgoing) -> list[int]:
        """Reports the matches of those publications that go to this lane; the positions of those
        among them that take others back, once for all lanes. Without a key, all that come do."""
        lanes = self._lanes_of(items)
        is_here = (lanes & self._own) != 0
        items, lanes = items.kept(is_here), lanes[is_here]
        is_first = (lanes & (self._own - 1)) == 0
        takes_back = np.asarray(items.batch.column("replaces").is_valid())
        is_dead = items.numbers("expiry", NEVER) <= items.times
        replacing: list[int] = items.positions[takes_back & is_first].tolist()
        items, lanes, is_first = items.kept(~is_dead), lanes[~is_dead], is_first[~is_dead]
        if len(items):
            self.census.observe(Block.of_items(items.kept(is_first), self.values))
            found = self._finder.found(Block.of_items(items, self.values))
            common = lanes[found.publications] & self._lanes[found.subscriptions]
            found = found.kept(common & (self._own - 1) == 0)
            shards = self._destinations[found.subscriptions]
            outgoing.add(items.positions, shards, found, self._finder.name)
        return replacing

    def _lanes_of(self, items: Items) -> Longs:
        """All that publications go to."""
        if self._meeting is None:
            return np.full(len(items), self._own)
        block, path = Block.of_items(items, self.values), self._meeting.key.path
        lanes = [
            self._meeting.of_publication(block.value(place, path), position)
            for place, position in enumerate(items.positions.tolist())
        ]
        return np.array(lanes, np.int64)

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
