"""The proxies that a broker knows: to whom does a publication have to go?"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from shortlist.engine.matching import Matching
from shortlist.matching.arrays import with_length
from shortlist.matching.blocks import Block, Bools, Floats, Ints
from shortlist.model.advertisement import Advertisement
from shortlist.model.command import Advertise, Close, Open, Subscribe, Unadvertise, Unsubscribe
from shortlist.model.items import Items
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary
from shortlist.overlay.messages import Proxy, span_of
from shortlist.scoring.combined import Combined

AT_ONCE = {"time": 0, "position": 0}


class ProxyTable:
    """Proxies by destination: the neighbour, or the broker, that they stand for.

    A shortlist stands at one destination.
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits) -> None:
        self._matching = Matching(vocabulary, limits)
        self._known: dict[str, tuple[str, Proxy]] = {}
        self._destinations: list[str] = []
        self._codes: Ints = np.empty(0, np.int32)
        """By the number of a shortlist, the place of its destination."""
        self._thresholds: Floats = np.empty(0)
        """By the number of a shortlist; less is not wanted now."""
        self._thresholded: set[str] = set()

    def put(self, destination: str, proxy: Proxy) -> None:
        """Takes in a proxy, in place of what was known of it, and of its shortlist elsewhere."""
        there, known = self._known.get(proxy.id, (None, proxy))
        if there == destination and known._replace(threshold=proxy.threshold) == proxy:
            self._known[proxy.id] = destination, proxy
            number = self._matching.shortlists.number(proxy.shortlist.id)
            self._thresholds[number] = proxy.threshold
            return
        self._forget(proxy.id)
        home = proxy.shortlist
        roster = self._matching.roster
        members = roster.members(home.id) if home.id in roster.shortlists else []
        for name in members:
            if self._known[name][0] != destination:
                self._forget(name)
        if home.id not in roster.shortlists:
            self._matching.apply(Open(shortlist=home, **AT_ONCE))
            self._note(self._matching.shortlists.number(home.id), destination)
        self._thresholds[self._matching.shortlists.number(home.id)] = proxy.threshold
        named = replace(
            proxy.subscription, shortlist=home.id, subscriber=None, policy=None, combine=None
        )
        self._matching.apply(Subscribe(subscription=named, **AT_ONCE))
        self._known[proxy.id] = destination, proxy
        if proxy.is_thresholded:
            self._thresholded.add(proxy.id)

    def drop(self, destination: str, subscription: str) -> None:
        """Forgets a proxy, unless it has come to stand for somebody else since."""
        if subscription in self._known and self._known[subscription][0] == destination:
            self._forget(subscription)

    def relaxes(self, destination: str, proxy: Proxy) -> bool:
        """Whether a proxy wants more than what is known of it, if anything is."""
        there, known = self._known.get(proxy.id, (None, proxy))
        is_same = there == destination and known.born == proxy.born
        return not is_same or proxy.threshold < known.threshold

    def advertise(self, advertisement: Advertisement) -> None:
        self._matching.apply(Advertise(advertisement=advertisement, **AT_ONCE))

    def unadvertise(self, advertisement: str) -> None:
        self._matching.apply(Unadvertise(advertisement=advertisement, **AT_ONCE))

    def proxies(self, but: str) -> Iterator[Proxy]:
        """Those of all destinations except one."""
        return (proxy for destination, proxy in self._known.values() if destination != but)

    def longest_window(self) -> int | None:
        """For how long something may be wanted that is not wanted now; None for ever."""
        spans = [span_of(self._known[name][1].shortlist) for name in self._thresholded]
        return None if None in spans else max((span for span in spans if span), default=0)

    def wanted(self, items: Items) -> dict[str, Bools]:
        """By destination, which publications somebody there wants."""
        if not self._known or not len(items):
            return {}
        combined, _ = self._combined(items)
        is_wanted = combined.scores >= self._thresholds[combined.shortlists]
        combined = combined.kept(is_wanted)
        codes = self._codes[combined.shortlists]
        found: dict[str, Bools] = {}
        for code in np.unique(codes).tolist():
            wanted = found[self._destinations[code]] = np.zeros(len(items), np.bool_)
            wanted[combined.publications[codes == code]] = True
        return found

    def chosen(self, items: Items, but: str) -> Iterator[tuple[str, int, str]]:
        """Destination, place of a publication, shortlist: those that its publisher reaches, among
        the shortlists of all destinations except one."""
        combined, block = self._combined(items)
        if but in self._destinations:
            elsewhere = self._codes[combined.shortlists] != self._destinations.index(but)
            combined = combined.kept(elsewhere)
        reached = combined.kept(self._matching.is_chosen(items, block, combined, None))
        ids = self._matching.shortlists.names
        for place, number in zip(
            reached.publications.tolist(), reached.shortlists.tolist(), strict=True
        ):
            yield self._destinations[self._codes[number]], place, ids[number]

    def _forget(self, subscription: str) -> None:
        if subscription not in self._known:
            return
        _, proxy = self._known.pop(subscription)
        self._thresholded.discard(subscription)
        self._matching.apply(Unsubscribe(subscription=subscription, **AT_ONCE))
        if not self._matching.roster.members(proxy.shortlist.id):
            self._matching.apply(Close(shortlist=proxy.shortlist.id, **AT_ONCE))

    def _combined(self, items: Items) -> tuple[Combined, Block]:
        block = Block.of_items(items, self._matching.values)
        return self._matching.combined(block)[0], block

    def _note(self, number: int, destination: str) -> None:
        if destination not in self._destinations:
            self._destinations.append(destination)
        self._codes = with_length(self._codes, number + 1)
        self._thresholds = with_length(self._thresholds, number + 1)
        self._codes[number] = self._destinations.index(destination)
