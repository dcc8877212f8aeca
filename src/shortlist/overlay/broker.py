"""A broker as a pure state machine: a message in, messages to send and deliveries out.

It has no clock and no sockets. Whoever runs it says what time it is (`tick`), and when everything
up to an instant has arrived (`settle`).
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import floor, inf, isinf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shortlist.intake.roster import Roster, registry_commands
from shortlist.model.command import Advertise, Close, Command, Open, Subscribe, Unadvertise
from shortlist.model.delivery import Delivery
from shortlist.model.items import Items
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits, Settings
from shortlist.model.times import END_OF_TIME
from shortlist.overlay.local import Local
from shortlist.overlay.messages import (
    Advertisements,
    Cancelled,
    Counts,
    Matches,
    Message,
    Order,
    Proxies,
    Proxy,
    Publications,
    Send,
    Totals,
    has_threshold,
)
from shortlist.overlay.proxy_table import ProxyTable
from shortlist.overlay.split import Feeds, SplitShortlists

if TYPE_CHECKING:
    from shortlist.overlay.rendezvous import GridAxis


class Place(NamedTuple):
    """Where a broker stands."""

    name: str
    neighbours: tuple[str, ...]
    next_hops: Mapping[str, str] = {}
    """By destination, the neighbour that is next on the way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """How links are, and what brokers agree upon."""

    delay: int = 0
    """The most that a message takes over one link, in microseconds; each link has its own."""
    loss: float = 0.0
    """The share of messages that links lose."""
    cell: float | None = None
    """Thresholds are told when they come into another cell of this width; None: whenever they
    change."""
    seed: int = 0
    exchange: int | None = None
    """After how many matches a holder tells its counts for a split shortlist, and decides by itself
    in between; None: homes hear of every match, and decide."""
    merges: bool = False
    """Whether covering merges proxies that overlap."""
    rounds: int = 4
    fan_out: int = 2
    """How often a gossip is passed on, and to how many."""
    axes: "tuple[GridAxis, ...]" = ()
    """Of the cells of a rendezvous."""
    settings: Settings = field(default_factory=Settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What brokers of one network are told."""

    network: Network = field(default_factory=Network)
    brokers: tuple[str, ...] = ()
    """All of them."""
    slack: int = 0
    """How long after an instant its messages may come, in microseconds."""
    withholds: bool = True
    """Whether any window is told by its threshold."""

    @property
    def limits(self) -> Limits:
        return self.network.settings.limits


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


class Broker(ABC):
    """What all strategies share: the shortlists that live here, and their thresholds.

    A strategy says what others are told of local subscriptions (`_announce`), what it makes of what
    it is told, and where publications go next. If it knows proxies, they are in the table.

    Withheld is not dropped: what nobody wants is kept for as long as the longest window, and sent
    to whoever relaxes a threshold so far that it is wanted.
    """

    sends_directly = False
    """Whether a destination is any broker, or a neighbour."""

    def __init__(self, place: Place, registry: Registry, options: Options) -> None:
        self.name = place.name
        self._place = place
        self._options = options
        self._vocabulary = registry.vocabulary
        self._registry = registry
        self._local = Local(registry, options.limits, may_come_late=options.withholds)
        self._roster = Roster(registry.vocabulary, options.limits)
        self.split = SplitShortlists(place.name, place.next_hops, options.network.exchange)
        """What is done here for shortlists whose subscriptions live at several brokers."""
        self._table = ProxyTable(registry.vocabulary, options.limits)
        self._kept: list[_Kept] = []
        self._mine: dict[str, Proxy] = {}
        """The local subscriptions, as others are to know them."""
        self._thresholds: dict[str, float] = {}
        self._changing: dict[str, int] = {}
        """Shortlists whose subscriptions change, and when; until then all is wanted."""
        self._seen: set[int] = set()
        self._now = self._settled = -(2**62)
        self.next_tick: int | None = None
        """The first instant at which a threshold relaxes by itself."""

    @property
    def known_elsewhere(self) -> int:
        """How many subscriptions of other brokers are known here."""
        return sum(1 for _ in self._table.proxies(but=self.name))

    def start(self) -> list[Send]:
        """Tells others what the registry holds."""
        put: list[Proxy] = []
        for command in registry_commands(self._registry):
            self._roster.apply(command)
            if isinstance(command, Subscribe):
                put.append(self._noted(command))
        self._mine.update({proxy.id: self._described(proxy) for proxy in put})
        news = Proxies(home=self.name, put=(*self._mine.values(),))
        sends = self._announce(news) if put else []
        made = self._registry.advertisements
        return sends + (self._advertise(Advertisements(put=made)) if made else [])

    def command(self, row: Items, command: Command, feeds: Feeds | None = None) -> list[Send]:
        """A client that is attached here wants something; `row` is the item that it is.

        If it is about a split shortlist, `feeds` says about which.
        """
        told = self.split.tell(command, feeds)
        if feeds is not None and isinstance(command, Open | Close):
            return told
        return told + self._command(row, command)

    def _command(self, row: Items, command: Command) -> list[Send]:
        match command:
            case Advertise(advertisement=advertisement):
                return self._advertise(Advertisements(put=(advertisement,)))
            case Unadvertise(advertisement=name):
                return self._advertise(Advertisements(dropped=(name,)))
        self._local.tell(row, command)
        home = self._roster.shortlist_of(command)
        assert home is not None
        before = {*self._roster.members(home)} if home in self._roster.shortlists else set()
        self._roster.apply(command)
        after = self._roster.members(home) if home in self._roster.shortlists else []
        if isinstance(command, Subscribe):
            self._mine[command.subscription.id] = self._noted(command)
        gone = before - {*after}
        for name in gone:
            del self._mine[name]
        if home in self._roster.shortlists:
            self._changing[home] = command.time
        else:
            self._changing.pop(home, None)
            self._thresholds.pop(home, None)
        put = [name for name in after if name not in before]
        return self._retold(after, put, dropped=sorted(gone))

    def publish(self, items: Items) -> list[Send]:
        """A publisher that is attached here publishes."""
        return self._arrived(None, Publications(items=items, kind="publish", origin=self.name), 0)

    def take(self, sender: str, message: Message, hop: int) -> list[Send]:
        """Another broker says something."""
        match message:
            case Advertisements():
                return self._hear_advertisements(sender, message, hop)
            case _ if message.to not in (None, self.name):
                to = message.to
                assert to is not None
                return [Send(self._place.next_hops[to], message, hop + 1)]
            case Publications():
                return self._arrived(sender, message, hop)
            case Proxies():
                return self._hear(sender, message, hop)
            case Matches() | Cancelled() | Counts() | Totals():
                return self.split.take(message)

    def flush(self) -> list[Send]:
        """All messages of an instant are here: what follows from them together."""
        return []

    def tick(self, now: int) -> list[Send]:
        """It is this instant: what leaves at it, or before it, does not count any more."""
        if self._kept:
            longest, settled = self._table.longest_window(), now - self._options.slack
            self._kept = [kept for kept in self._kept if kept.end(longest) > settled]
        self._now = max(self._now, now)
        return self._tell_thresholds()

    def settle(self, until: int) -> tuple[list[Send], list[Delivery]]:
        """All that belongs up to an instant is here: it happens; what is sent, and delivered."""
        found = self._local.settle(until)
        # what holders find at this instant is told after it
        heard = min(self._settled, until - self._options.slack - 1)
        sends, deliveries = self.split.settle(found, heard)
        self._settled = until
        self._changing = {name: time for name, time in self._changing.items() if time > until}
        return sends + self._tell_thresholds(), deliveries

    @abstractmethod
    def _announce(self, news: Proxies) -> list[Send]:
        """Tells others that local subscriptions have changed; `_mine` has them as they are now."""

    def _hear(self, sender: str, message: Proxies, hop: int) -> list[Send]:
        """Subscriptions behind another broker have changed."""
        return []

    def _advertise(self, message: Advertisements) -> list[Send]:
        """Local publishers advertise."""
        return []

    def _hear_advertisements(self, sender: str, message: Advertisements, hop: int) -> list[Send]:
        return []

    @abstractmethod
    def _route(self, sender: str | None, message: Publications, hop: int) -> list[Send]:
        """Publications that were not here before; `_local` has to get those of interest."""

    def _arrived(self, sender: str | None, message: Publications, hop: int) -> list[Send]:
        positions = message.items.positions.tolist()
        is_new = np.array([position not in self._seen for position in positions], np.bool_)
        self._seen.update(positions)
        if not is_new.any():
            return []
        return self._route(sender, replace(message, items=message.items.kept(is_new)), hop)

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

    def _noted(self, command: Subscribe) -> Proxy:
        subscription = command.subscription
        home = self._roster.shortlists[subscription.shortlist_id]
        return Proxy(subscription, home, (command.time, command.position))

    def _described(self, proxy: Proxy) -> Proxy:
        """A local subscription as others are to know it now."""
        home = proxy.shortlist.id
        return proxy._replace(
            is_alone=len(self._roster.members(home)) == 1,
            threshold=self._thresholds.get(home, -inf),
        )

    def _retold(
        self, names: Iterable[str], put: Collection[str] = (), dropped: Collection[str] = ()
    ) -> list[Send]:
        """Announces some local subscriptions as they are now, those that are new or have changed.

        What has to be known of changes that are due is that all is wanted.
        """
        updated = []
        for name in names:
            home = self._mine[name].shortlist.id
            if home in self._changing:
                self._thresholds.pop(home, None)
            proxy = self._described(self._mine[name])
            if proxy != self._mine[name] and name not in put:
                updated.append(proxy)
            self._mine[name] = proxy
        if not (put or updated or dropped):
            return []
        fresh = tuple(self._mine[name] for name in put)
        return self._announce(
            Proxies(home=self.name, put=fresh, updated=(*updated,), dropped=(*dropped,))
        )

    def _tell_thresholds(self) -> list[Send]:
        """Announces those subscriptions whose thresholds have moved."""
        self.next_tick = None
        if not self._options.withholds:
            return []
        moved: list[str] = []
        for home, shortlist in self._roster.shortlists.items():
            if home in self._changing or not has_threshold(shortlist):
                continue
            exact, until = self._local.floor(home, self._now)
            threshold = in_cell(exact, self._options.network.cell)
            if until is not None and not isinf(threshold):
                self.next_tick = until if self.next_tick is None else min(until, self.next_tick)
            if threshold != self._thresholds.get(home, -inf):
                self._thresholds[home] = threshold
                moved += self._roster.members(home)
        return self._retold(moved)


def in_cell(threshold: float, width: float | None) -> float:
    """The lower end of the cell that a threshold lies in; never above it.

    >>> in_cell(0.78, 0.25), in_cell(0.78, None)
    (0.75, 0.78)
    """
    if width is None or isinf(threshold):
        return threshold
    end = floor(threshold / width) * width
    return end if end <= threshold else end - width
