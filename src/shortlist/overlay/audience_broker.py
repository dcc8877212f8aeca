"""A publisher's k best across brokers: at every hop the audience is split among the links."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa

from shortlist.model.items import Items
from shortlist.overlay.covering_broker import Covering
from shortlist.overlay.messages import Proxies, Proxy, Publications, Send


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
