"""Brokers that know proxies: publications go where somebody wants them, now or later."""

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

from shortlist.model.items import Items
from shortlist.model.registry import Registry
from shortlist.model.times import END_OF_TIME
from shortlist.overlay.broker import Broker, Options, Place
from shortlist.overlay.messages import Order, Proxies, Publications, Send
from shortlist.overlay.proxy_table import ProxyTable


class _Kept(NamedTuple):
    """A publication that somebody may want yet."""

    items: Items
    origin: str
    sent: set[str]
    """Who has it."""

    @property
    def order(self) -> Order:
        return int(self.items.times[0]), int(self.items.positions[0])

    def end(self, longest: int | None) -> int:
        """When it has left a window of such a length, or has expired."""
        expiry = int(self.items.numbers("expiry", END_OF_TIME)[0])
        return expiry if longest is None else min(expiry, self.order[0] + longest)


class TableBroker(Broker):
    """What strategies with proxies share: the table of them, and what is withheld.

    Withheld is not dropped: what nobody wants is kept for as long as the longest window, and sent
    to whoever relaxes a threshold so far that it is wanted.
    """

    sends_directly = False
    """Whether a destination is any broker, or a neighbour."""

    def __init__(self, place: Place, registry: Registry, options: Options) -> None:
        super().__init__(place, registry, options)
        self._table = ProxyTable(registry.vocabulary, options.limits)
        self._kept: list[_Kept] = []

    @property
    def known_elsewhere(self) -> int:
        return sum(1 for _ in self._table.proxies(but=self.name))

    def tick(self, now: int) -> list[Send]:
        if self._kept:
            longest = self._table.longest_window()
            settled = now - self._options.slack
            self._kept = [kept for kept in self._kept if kept.end(longest) > settled]
        return super().tick(now)

    def _learn(self, destination: str, message: Proxies, hop: int) -> list[Send]:
        """Takes in what is said of proxies; what they want of all that was withheld is sent."""
        for name in message.dropped:
            self._table.drop(destination, name)
        relaxed = [
            proxy
            for proxy in (*message.put, *message.updated)
            if proxy.is_thresholded and self._table.relaxes(destination, proxy)
        ]
        for proxy in (*message.put, *message.updated):
            self._table.put(destination, proxy)
        if not relaxed:
            return []
        since = min(proxy.born for proxy in relaxed)
        kept = [each for each in self._kept if each.order > since and destination not in each.sent]
        if not kept:
            return []
        wanted = self._table.wanted(Items.joined([each.items for each in kept])).get(destination)
        if wanted is None:
            return []
        sends = []
        for each, is_wanted in zip(kept, wanted.tolist(), strict=True):
            if is_wanted:
                each.sent.add(destination)
                late = Publications(items=each.items, kind="deliver", origin=each.origin)
                sends.append(self._send(destination, late, hop))
        return sends

    def _pass_on(self, message: Publications, but: Collection[str], hop: int) -> list[Send]:
        """Sends publications to everyone who wants them and does not have them."""
        items, sends = message.items, []
        onward = replace(message, kind="deliver", to=None, rounds=max(0, message.rounds - 1))
        sent: list[set[str]] = [{*but} for _ in range(len(items))]
        for destination, wanted in self._table.wanted(items).items():
            if destination in but:
                continue
            some = replace(onward, items=items.kept(wanted))
            sends.append(self._send(destination, some, hop))
            for place in wanted.nonzero()[0].tolist():
                sent[place].add(destination)
        if self._options.withholds and self._table.longest_window() != 0:
            self._kept += [
                _Kept(items.between(place, place + 1), message.origin, sent[place])
                for place in range(len(items))
            ]
        return sends

    def _send(self, destination: str, message: Publications, hop: int) -> Send:
        if self.sends_directly:
            return Send(destination, message, 1, is_direct=True)
        return Send(destination, message, hop + 1)
