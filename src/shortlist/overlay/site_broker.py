"""The broker of a real site: covering towards each neighbour, with nothing that cannot be found
again in what was written.

What a neighbour should know is a function of what is known here. So nobody has to remember what is
still to be said: `news` compares it with what the neighbour was told, and `tell` notes what was
written. Selection is not done here: a site's own deployment selects from all that arrives.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from shortlist.engine.mentions import Mentions
from shortlist.intake.documents import Documents, brief
from shortlist.intake.reading import with_wanted
from shortlist.intake.roster import BEFORE_ALL_TIME
from shortlist.matching.blocks import Bools
from shortlist.model.items import Items, Wanted
from shortlist.model.problem import ShortlistError
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.times import END_OF_TIME
from shortlist.model.vocabulary import Vocabulary
from shortlist.overlay.frontier import Judge, Uncovered
from shortlist.overlay.messages import Proxy
from shortlist.overlay.proxy_table import ProxyTable

LEAST_FORGOTTEN = 1_000
"""Questions about proxies that are gone are forgotten once there are so many more of them."""


class NotReadable(ShortlistError):
    """Something that another site said and that means nothing here."""


class News(NamedTuple):
    """What a neighbour has to be told of the subscriptions on this side of the link."""

    put: tuple[Proxy, ...] = ()
    dropped: tuple[str, ...] = ()
    since: int | None = None
    """Publications from this time on may be wanted that were not wanted when they came."""


NOTHING = News()


def proxy_of(site: str, subscription: Subscription, born: int) -> Proxy:
    """A subscription as other sites know it: what it matches, and nothing else.

    Its id follows from its condition, so that subscriptions of a site that ask for the same are
    one, and nobody has to say that one has changed.

    >>> some = Subscription(id="s1", where="rent < 900", subscriber="anna")
    >>> other = Subscription(id="s2", where="rent < 900", subscriber="ben")
    >>> proxy_of("oslo", some, born=0) == proxy_of("oslo", other, born=0)
    True
    """
    asked = Subscription(
        id="?",
        where=subscription.where,
        score=subscription.score,
        norm=subscription.norm,
        at_least=subscription.at_least,
    )
    text = json.dumps(brief(asked), sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return _named(replace(asked, id=f"{site}/{digest}"), born)


def _named(subscription: Subscription, born: int) -> Proxy:
    home = Shortlist(id=subscription.id, subscriber=subscription.id)
    return Proxy(subscription, home, (born, 0))


class SiteBroker:
    """Pure: it is told of subscriptions here and behind neighbours, and says who wants what."""

    def __init__(
        self, name: str, neighbours: Sequence[str], vocabulary: Vocabulary, limits: Limits
    ) -> None:
        self.name = name
        self._vocabulary = vocabulary
        self._limits = limits
        self._rule = Uncovered(Judge(vocabulary, limits))
        self._asked = 0
        """Proxies that came since the rule has forgotten its answers."""
        self._table = ProxyTable(vocabulary, limits)
        self._mentions = Mentions(vocabulary, limits)
        self.mentioned = Wanted()
        """What has to be known of publications."""
        self._mine: dict[str, Proxy] = {}
        self._behind: dict[str, dict[str, Proxy]] = {name: {} for name in neighbours}
        self._told: dict[str, set[str]] = {name: set() for name in neighbours}
        self._fresh: dict[str, dict[str, int]] = {name: {} for name in neighbours}
        """By neighbour, what came to be known here since it was last told; and since when it wants
        something."""
        self._newest: dict[str, int] = dict.fromkeys(neighbours, BEFORE_ALL_TIME)
        """By neighbour, the latest time that anything it was told wants something since."""
        self._counted: dict[str, set[str]] = {name: set() for name in neighbours}
        """What is fresh, and was there when a neighbour's news were asked for."""
        self._is_stale = dict.fromkeys(neighbours, True)

    def offer(self, proxies: Iterable[Proxy]) -> None:
        """The subscriptions that are live here now, or will be."""
        wanted = {proxy.id: proxy for proxy in proxies}
        if wanted.keys() == self._mine.keys():
            return
        fresh = {name: proxy for name, proxy in wanted.items() if name not in self._mine}
        self._mine = {name: self._mine.get(name, proxy) for name, proxy in wanted.items()}
        self._changed(None, {name: proxy.born[0] for name, proxy in fresh.items()})

    def hear(self, neighbour: str, news: News) -> None:
        """Subscriptions behind a neighbour have changed."""
        known = self._behind[neighbour]
        since = END_OF_TIME if news.since is None else news.since
        for name in news.dropped:
            if known.pop(name, None) is not None:
                self._table.drop(neighbour, name)
        fresh: dict[str, int] = {}
        if news.since is not None:  # also for what is hidden from us, and perhaps not from others
            fresh[f"since {since}"] = since
        for proxy in news.put:
            if proxy.id not in known:
                known[proxy.id] = proxy
                self._table.put(neighbour, proxy)
                self._mention(proxy)
                fresh[proxy.id] = since
        self._changed(neighbour, fresh)

    def news(self, neighbour: str) -> News:
        """What a neighbour has to be told now; asked twice it says the same."""
        if not self._is_stale[neighbour]:
            return NOTHING
        wanted = {proxy.id: proxy for proxy in self._forwarded(self._held(but=neighbour))}
        told = self._told[neighbour]
        news = News(
            tuple(proxy for name, proxy in wanted.items() if name not in told),
            tuple(sorted(told - wanted.keys())),
            self._since(neighbour, {name for name in wanted if name not in told}),
        )
        self._counted[neighbour] = {*self._fresh[neighbour]}
        if news == NOTHING:
            self.tell(neighbour, news)
            self._is_stale[neighbour] = False
        return news

    def tell(self, neighbour: str, news: News) -> None:
        """A neighbour's news were written down as they were when it was last asked for them."""
        self.recall(neighbour, news)
        fresh = self._fresh[neighbour]
        self._fresh[neighbour] = {
            name: since for name, since in fresh.items() if name not in self._counted[neighbour]
        }

    def recall(self, neighbour: str, news: News) -> None:
        """Some news, or a part of them, are found written down for a neighbour."""
        told = self._told[neighbour]
        told |= {proxy.id for proxy in news.put}
        told -= {*news.dropped}
        self._is_stale[neighbour] = True
        if news.since is not None:
            self._newest[neighbour] = max(self._newest[neighbour], news.since)

    def wanted(self, items: Items) -> dict[str, Bools]:
        """By neighbour, which publications somebody behind it wants."""
        return self._table.wanted(with_wanted(items, self.mentioned))

    def counts(self, neighbour: str) -> dict[str, int]:
        """How many subscriptions a neighbour knows of, of how many; and how many are behind it."""
        return {
            "told": len(self._told[neighbour]),
            "held": len(self._held(but=neighbour)),
            "behind": len(self._behind[neighbour]),
        }

    def state(self, former: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """All that is known, as a document; with what was `former`ly known of other neighbours."""
        known: dict[str, dict[str, Any]] = {
            "behind": {name: written(held.values()) for name, held in self._behind.items()},
            "told": {name: sorted(told) for name, told in self._told.items()},
            "fresh": {**self._fresh},
            "newest": {**self._newest},
        }
        for key, before in former.items() if former is not None else ():
            if key in known:
                known[key] = {**before, **known[key]}
        return {"neighbours": [*self._behind], "mine": written(self._mine.values()), **known}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on where another one was. Neighbours that it did not have then look again at all
        that they keep."""
        self._mine = {proxy.id: proxy for proxy in self.read(state["mine"])}
        for name, known in self._behind.items():
            if name in state["behind"]:
                for proxy in self.read(state["behind"][name]):
                    known[proxy.id] = proxy
                    self._table.put(name, proxy)
                    self._mention(proxy)
                self._told[name] = {*state["told"][name]}
                self._fresh[name] = dict(state["fresh"][name])
                self._newest[name] = state["newest"][name]
        for name in self._behind.keys() - {*state["neighbours"]}:
            self._fresh[name] = {proxy.id: BEFORE_ALL_TIME for proxy in self._held(but=name)}

    def read(
        self, documents: Iterable[Mapping[str, Any]], depth: int | None = None
    ) -> tuple[Proxy, ...]:
        """Read proxies as other sites, or this one, have written them.

        Conditions and scores of strangers may be nested `depth` levels deep: covering is decided
        recursively, and 300 levels end a process.
        """
        limits = self._limits if depth is None else replace(self._limits, expression_depth=depth)
        reading = Documents(self._vocabulary, limits)
        found = [reading.read("subscription", document) for document in documents]
        if reading.problems:
            raise NotReadable("; ".join(map(str, reading.problems)))
        return tuple(_named(one, BEFORE_ALL_TIME) for one in found if isinstance(one, Subscription))

    def _held(self, but: str) -> list[Proxy]:
        """All that is known, except what is behind one neighbour."""
        held = [*self._mine.values()]
        for name, proxies in self._behind.items():
            held += proxies.values() if name != but else ()
        return held

    def _changed(self, sender: str | None, fresh: Mapping[str, int]) -> None:
        for name, known in self._fresh.items():
            if name != sender:
                self._is_stale[name] = True
                for proxy, since in fresh.items():
                    known[proxy] = min(since, known.get(proxy, since))

    def _since(self, neighbour: str, put: set[str]) -> int | None:
        """Since when the neighbour has to look again at what it has.

        What is hidden by something that it was told asks for no look, unless it wants something
        older than what hides it.
        """
        newest = self._newest[neighbour]
        fresh = self._fresh[neighbour].items()
        asked = [since for name, since in fresh if name in put or since < newest]
        since = min(asked, default=END_OF_TIME)
        return None if since == END_OF_TIME else since

    def _forwarded(self, held: Sequence[Proxy]) -> Iterable[Proxy]:
        if self._asked > 2 * len(held) + LEAST_FORGOTTEN:
            self._rule = Uncovered(Judge(self._vocabulary, self._limits))
            self._asked = 0
        return self._rule.forwarded(held, ())

    def _mention(self, proxy: Proxy) -> None:
        self._asked += 1
        paths = self._mentions.of_subscription(proxy.subscription)
        self.mentioned = self.mentioned.joined(Wanted(paths))


def written(proxies: Iterable[Proxy]) -> list[Any]:
    """Proxies as documents."""
    return [brief(proxy.subscription) for proxy in proxies]
