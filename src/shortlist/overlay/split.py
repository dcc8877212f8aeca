"""Split shortlists: those whose subscriptions, the members, are held by several brokers.

A member matches at its holder like a subscription with a shortlist of its own. What it matches is
not delivered there: either the shortlist's home hears of it and decides, which is exact, or the
holder decides by what it knows of the others, and tells its counts from time to time.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import isfinite
from typing import NamedTuple

from shortlist.model.command import Close, Command, Open, Subscribe, Unsubscribe
from shortlist.model.delivery import Delivery
from shortlist.model.policy import Novelty
from shortlist.model.publication import Publication
from shortlist.model.shortlist import Shortlist
from shortlist.overlay.messages import (
    Cancelled,
    Counts,
    Matches,
    Noted,
    Order,
    Send,
    SplitMessage,
    Totals,
)
from shortlist.scoring.candidates import Candidate
from shortlist.scoring.combine import ScoredMatch, combined
from shortlist.selection.novelty import NoveltySelector

Event = Open | Close | Cancelled | Matches


@dataclass(slots=True)
class _Live:
    """A split shortlist that lives here."""

    shortlist: Shortlist
    opened: Order
    selector: NoveltySelector
    delivered: set[int] = field(default_factory=set)
    """The positions of what was delivered."""
    included: Counter[str] = field(default_factory=Counter)
    """By holder, how many of its matches the selector knows."""


class SplitHome:
    """Split shortlists that live at a broker.

    If it decides itself, it does so in the order of the input, once all that comes before is there.
    Where holders decide it adds up what they count, and delivers nothing twice.
    """

    def __init__(self, *, decides: bool) -> None:
        self._decides = decides
        self._live: dict[str, _Live] = {}
        self._waiting: list[Event] = []
        self._deliveries: list[Delivery] = []

    def hear(self, event: Event) -> None:
        """Something happens to a split shortlist; commands may come before older matches."""
        if self._decides:
            self._waiting.append(event)
        else:
            self._carry_out([event])

    def decided(self, until: int) -> list[Delivery]:
        """What is delivered of all that came up to an instant, and not said yet."""
        due = sorted((each for each in self._waiting if _order(each)[0] <= until), key=_order)
        self._waiting = [each for each in self._waiting if _order(each)[0] > until]
        for _, together in groupby(due, _order):
            self._carry_out([*together])
        deliveries, self._deliveries = self._deliveries, []
        return deliveries

    def count(self, counts: Counts) -> list[Totals]:
        """A holder says what it has decided on; everyone who is concerned hears the totals."""
        live = self._live.get(counts.shortlist)
        if live is None:
            return []
        for noted in counts.noted:
            live.selector.note(noted.members, delivered=noted.is_delivered)
        live.included[counts.holder] += len(counts.noted)
        return self.totals(counts.shortlist, None if counts.noted else counts.holder)

    def totals(self, shortlist: str, holder: str | None = None) -> list[Totals]:
        """What all holders of a shortlist are to know, or one of them."""
        live = self._live.get(shortlist)
        if live is None:
            return []
        state = live.selector.state()
        return [
            Totals(shortlist=shortlist, state=state, included=live.included[name], to=name)
            for name in ([*live.included] if holder is None else [holder])
        ]

    def _carry_out(self, events: list[Event]) -> None:
        """What happens at one place in the input."""
        found: dict[str, list[Matches]] = {}
        for event in events:
            match event:
                case Open(shortlist=shortlist):
                    self._live[shortlist.id] = _Live(shortlist, _order(event), selector(shortlist))
                case Close(shortlist=name):
                    del self._live[name]
                case Cancelled(shortlist=name, member=member):
                    if self._is_live(event):
                        self._live[name].selector.cancel(member, event.order[0])
                case Matches(shortlist=name):
                    if self._is_live(event):
                        found.setdefault(name, []).append(event)
        for name, together in sorted(found.items()):
            self._deliver(self._live[name], together)

    def _is_live(self, event: Cancelled | Matches) -> bool:
        """Whether it is about a shortlist that is there, and was there at that time."""
        live = self._live.get(event.shortlist)
        return live is not None and live.opened < event.order

    def _deliver(self, live: _Live, together: list[Matches]) -> None:
        """One publication, as its holders have found it."""
        publication = together[0].publication
        if publication.position in live.delivered:
            return  # a holder found it later than others
        matches = tuple(sorted(match for each in together for match in each.matches))
        score, named = together[0].novelty, matches[0]
        if self._decides and is_match(live.shortlist, matches):
            candidate = Candidate(publication, live.shortlist.id, 0.0, named, matches)
            for placed in live.selector.arrive(candidate, publication.time).placements:
                score, named = placed.score, placed.named
        if score is not None:
            live.delivered.add(publication.position)
            self._deliveries.append(_delivery(live.shortlist, together[0], score, named))


def selector(shortlist: Shortlist) -> NoveltySelector:
    """The policy of a split shortlist, with nothing seen yet."""
    assert isinstance(shortlist.policy, Novelty)
    return NoveltySelector(shortlist.policy, shortlist.id)


def is_match(shortlist: Shortlist, matches: Sequence[ScoredMatch]) -> bool:
    """Whether there is a score for members that match together, in order of id."""
    return bool(shortlist.prefers) or isfinite(combined(shortlist.combine, matches)[0])


def _delivery(shortlist: Shortlist, told: Matches, score: float, named: ScoredMatch) -> Delivery:
    return Delivery(
        time=told.publication.time,
        shortlist=shortlist.id,
        subscriber=shortlist.subscriber,
        publication=told.publication,
        subscription=named.subscription,
        score=score,
        possibility=named.possibility,
        necessity=named.necessity,
        rank=None,
        cause="arrival",
    )


def _order(event: Event) -> Order:
    if isinstance(event, Open | Close):
        return event.time, event.position
    return event.order


class Feeds(NamedTuple):
    """The split shortlist that a member feeds."""

    shortlist: Shortlist
    home: str
    weight: float = 1.0
    """Of the member."""


class _Replica:
    """A split shortlist as one of its holders knows it, who decides for it."""

    def __init__(self, shortlist: Shortlist) -> None:
        self._shortlist = shortlist
        self._selector = selector(shortlist)
        self._noted: list[Noted] = []
        """What the totals do not include yet."""
        self._told = 0
        """How many of these the home was told of."""
        self._included = 0

    @property
    def untold(self) -> int:
        return len(self._noted) - self._told

    def tell(self) -> tuple[Noted, ...]:
        """What the home was not told yet; now it is."""
        untold, self._told = self._noted[self._told :], len(self._noted)
        return tuple(untold)

    def hear(self, totals: Totals) -> None:
        """Goes on from what all know together, and what happened here since."""
        news = totals.included - self._included
        if not 0 <= news <= self._told:
            return  # they are of a shortlist of this name that was closed before
        self._included = totals.included
        self._noted = self._noted[news:]
        self._told -= news
        self._selector = selector(self._shortlist)
        self._selector.restore(totals.state)
        for members, is_delivered in self._noted:
            self._selector.note(members, delivered=is_delivered)

    def decide(
        self, publication: Publication, matches: tuple[ScoredMatch, ...]
    ) -> tuple[float, ScoredMatch] | None:
        """The novelty, and the member it is due to, if a publication is to be delivered."""
        candidate = Candidate(publication, self._shortlist.id, 0.0, matches[0], matches)
        placements = self._selector.arrive(candidate, publication.time).placements
        members = tuple(match.subscription for match in matches)
        self._noted.append(Noted(members, bool(placements)))
        return (placements[0].score, placements[0].named) if placements else None


class SplitShortlists:
    """What a broker does for split shortlists, as a holder and as a home."""

    def __init__(self, name: str, next_hops: Mapping[str, str], exchange: int | None) -> None:
        self._name = name
        self._next_hops = next_hops
        self._exchange = exchange
        self._home = SplitHome(decides=exchange is None)
        self._fed: dict[str, list[tuple[Order, Feeds | None]]] = {}
        """By member, which shortlist it feeds after some place in the input; None for none."""
        self._replicas: dict[str, _Replica] = {}

    def tell(self, command: Command, feeds: Feeds | None) -> list[Send]:
        """A command is carried out here that may be about a split shortlist."""
        order = command.time, command.position
        match command:
            case Open() | Close() if feeds is not None:
                self._home.hear(command)
            case Subscribe(subscription=subscription) if feeds is not None:
                self._fed.setdefault(subscription.id, []).append((order, feeds))
                return self._join(feeds)
            case Unsubscribe(subscription=name) if name in self._fed:
                self._fed[name].append((order, None))
                return self._leave(name, feeds, order)
        return []

    def take(self, message: SplitMessage) -> list[Send]:
        """Something that is said to this broker."""
        match message:
            case Totals(shortlist=name):
                if name in self._replicas:
                    self._replicas[name].hear(message)
                return []
            case Counts():
                return self._send(self._home.count(message))
            case Cancelled(shortlist=name):
                self._home.hear(message)
                return self._send(self._home.totals(name)) if self._exchange is not None else []
            case Matches():
                self._home.hear(message)
                return []

    def settle(self, found: Iterable[Delivery], until: int) -> tuple[list[Send], list[Delivery]]:
        """Shares out what local subscriptions match, and decides on what came up to an instant.

        Returns messages, and what is delivered here.
        """
        deliveries, sends = [], []
        matched: dict[tuple[Order, str], list[tuple[Feeds, Delivery]]] = {}
        for delivery in found:
            order = delivery.publication.time, delivery.publication.position
            feeds = self._fed_by(delivery.shortlist, order)
            if feeds is None:
                deliveries.append(delivery)
            else:
                matched.setdefault((order, feeds.shortlist.id), []).append((feeds, delivery))
        for _, together in sorted(matched.items(), key=lambda item: item[0]):
            sends += self._matched(together)
        return sends, deliveries + self._home.decided(until)

    def _matched(self, together: list[tuple[Feeds, Delivery]]) -> list[Send]:
        """A publication matches members of one shortlist here."""
        feeds, first = together[0]
        name, publication = feeds.shortlist.id, first.publication
        matches = tuple(sorted(_scored(delivery, of.weight) for of, delivery in together))

        def told(some: tuple[ScoredMatch, ...], novelty: float | None) -> Matches:
            return Matches(
                shortlist=name,
                publication=publication,
                matches=some,
                novelty=novelty,
                to=feeds.home,
            )

        if self._exchange is None:
            return self._send([told(matches, None)])
        replica = self._replicas.get(name)
        if replica is None or not is_match(feeds.shortlist, matches):
            return []
        decided = replica.decide(publication, matches)
        messages: list[SplitMessage] = []
        if decided is not None:
            novelty, named = decided
            messages.append(told((named,), novelty))
        if replica.untold >= self._exchange:
            messages.append(self._counts(feeds, replica))
        return self._send(messages)

    def _join(self, feeds: Feeds) -> list[Send]:
        """The first member that is held here asks how things are."""
        name = feeds.shortlist.id
        if self._exchange is None or name in self._replicas:
            return []
        self._replicas[name] = _Replica(feeds.shortlist)
        return self._send([self._counts(feeds, self._replicas[name])])

    def _leave(self, member: str, feeds: Feeds | None, order: Order) -> list[Send]:
        """A member goes; without `feeds` all of its shortlist does, as its home knows."""
        if feeds is None:
            before = self._fed[member][-2][1]
            if before is not None:
                self._replicas.pop(before.shortlist.id, None)
            return []
        name = feeds.shortlist.id
        messages: list[SplitMessage] = []
        if name in self._replicas:
            messages.append(self._counts(feeds, self._replicas[name]))
        messages.append(Cancelled(shortlist=name, member=member, order=order, to=feeds.home))
        return self._send(messages)

    def _counts(self, feeds: Feeds, replica: _Replica) -> Counts:
        return Counts(
            shortlist=feeds.shortlist.id, holder=self._name, noted=replica.tell(), to=feeds.home
        )

    def _fed_by(self, member: str, order: Order) -> Feeds | None:
        entries = self._fed.get(member, [])
        place = bisect_left(entries, order, key=lambda entry: entry[0])
        return entries[place - 1][1] if place else None

    def _send(self, messages: Iterable[SplitMessage]) -> list[Send]:
        """Messages on their way; what is for this broker is taken at once."""
        sends = []
        for message in messages:
            if message.to == self._name:
                sends += self.take(message)
            else:
                sends.append(Send(self._next_hops[message.to], message))
        return sends


def _scored(delivery: Delivery, weight: float) -> ScoredMatch:
    degrees = delivery.possibility, delivery.necessity
    return ScoredMatch(delivery.subscription, delivery.score, *degrees, weight)
