"""Covering: each neighbour knows as few proxies as will do; publications go back on their way.

Where publishers limit their audience, it is split among the links at every hop.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from shortlist.model.advertisement import Advertisement
from shortlist.model.items import Items
from shortlist.model.registry import Registry
from shortlist.overlay.broker import Broker, Options, Place
from shortlist.overlay.frontier import Judge, Rule, Uncovered
from shortlist.overlay.messages import Advertisements, Proxies, Proxy, Publications, Send

MakeRule = Callable[[Judge], Rule]


class Covering(Broker):
    """Forwards to each neighbour what its rule picks of all that did not come from there.

    After every change (`flush`) the broker compares what a neighbour should know with what it was
    told: so a proxy that was hidden is told when nothing hides it any more, whatever the reason.
    """

    def __init__(
        self,
        place: Place,
        registry: Registry,
        options: Options,
        make_rule: MakeRule | None = None,
    ) -> None:
        super().__init__(place, registry, options)
        make_rule = make_rule or partial(Uncovered, merges=options.network.merges)
        self._rule = make_rule(Judge(registry.vocabulary, options.limits))
        self._told: dict[str, dict[str, Proxy]] = {name: {} for name in place.neighbours}
        self._advertised: dict[str, tuple[str | None, Advertisement]] = {}
        """With the neighbour that each came from; None for those of local publishers."""
        self._stale: dict[str, int] = {}
        """Neighbours that may have to be told something, and after how many hops."""

    def flush(self) -> list[Send]:
        stale, self._stale = self._stale, {}
        return [send for name, hop in stale.items() for send in self._bring_up_to_date(name, hop)]

    def _announce(self, news: Proxies) -> list[Send]:
        self._mark_stale(None, 0)
        return []

    def _hear(self, sender: str, message: Proxies, hop: int) -> list[Send]:
        self._mark_stale(sender, hop)
        return self._learn(sender, message, hop)

    def _advertise(self, message: Advertisements) -> list[Send]:
        return self._spread(None, message, 0)

    def _hear_advertisements(self, sender: str, message: Advertisements, hop: int) -> list[Send]:
        self._stale.setdefault(sender, 0)
        return self._spread(sender, message, hop)

    def _route(self, sender: str | None, message: Publications, hop: int) -> list[Send]:
        self._local.take(message.items)
        return self._pass_on(message, {sender} if sender is not None else (), hop)

    def _spread(self, sender: str | None, message: Advertisements, hop: int) -> list[Send]:
        """Everyone hears of advertisements; whoever tells of one wants to hear of subscriptions."""
        for name in message.dropped:
            if name in self._advertised and self._advertised[name][0] == sender:
                self._withdraw(name)
        for advertisement in message.put:
            if advertisement.id in self._advertised:
                self._withdraw(advertisement.id)
            self._advertised[advertisement.id] = sender, advertisement
            self._table.advertise(advertisement)
        return [Send(name, message, hop + 1) for name in self._place.neighbours if name != sender]

    def _withdraw(self, advertisement: str) -> None:
        del self._advertised[advertisement]
        self._table.unadvertise(advertisement)

    def _held(self, but: str) -> list[Proxy]:
        """All that is known, except what came from one neighbour."""
        return [*self._mine.values(), *self._table.proxies(but=but)]

    def _mark_stale(self, sender: str | None, hop: int) -> None:
        """Something has changed that all neighbours may have to know but who said so."""
        for name in self._place.neighbours:
            if name != sender:
                self._stale[name] = max(hop, self._stale.get(name, 0))

    def _bring_up_to_date(self, name: str, hop: int) -> list[Send]:
        """Tells a neighbour what has changed of that which it should know."""
        asked = [made for sender, made in self._advertised.values() if sender == name]
        known = self._told[name]
        forwarded = self._rule.forwarded(self._held(but=name), asked)
        wanted = {proxy.id: proxy for proxy in forwarded}
        # one of an earlier life is another one
        same = {name for name in known.keys() & wanted if known[name].born == wanted[name].born}
        news = Proxies(
            home=self.name,
            put=tuple(one for name, one in wanted.items() if name not in same),
            updated=tuple(
                one for name, one in wanted.items() if name in same and one != known[name]
            ),
            dropped=tuple(name for name in known if name not in wanted),
        )
        self._told[name] = wanted
        return [Send(name, news, hop + 1)] if news.put or news.updated or news.dropped else []


class Audience(Covering):
    """Of all that is known here, local shortlists included, the k best are chosen, and each link
    gets its share of k.

    Whoever gets a share chooses that many of what it knows itself, which is more than others know
    of it.
    """

    def _announce(self, news: Proxies) -> list[Send]:
        for name in news.dropped:
            self._table.drop(self.name, name)
        for proxy in (*news.put, *news.updated):
            self._table.put(self.name, proxy)
        return super()._announce(news)

    def _held(self, but: str) -> list[Proxy]:
        return [*self._table.proxies(but=but)]

    def _route(self, sender: str | None, message: Publications, hop: int) -> list[Send]:
        items = message.items
        chosen: dict[int, list[str]] = {}
        shares: dict[str, Counter[int]] = {}
        for destination, place, shortlist in self._table.chosen(items, but=sender or ""):
            if destination == self.name:
                chosen.setdefault(place, []).append(shortlist)
            else:
                shares.setdefault(destination, Counter())[place] += 1
        here = items.taken(np.array([*chosen], np.int64))
        names = dict(zip(here.positions.tolist(), chosen.values(), strict=True))
        self._local.take(here, names)
        return [
            Send(name, replace(message, kind="deliver", items=shared(items, share)), hop + 1)
            for name, share in shares.items()
        ]


def shared(items: Items, share: Counter[int]) -> Items:
    """Some publications, each with as large an audience as it has left."""
    some = items.taken(np.array([*share], np.int64))
    return some.with_columns(reach=pa.array([*share.values()], pa.int64()))
