"""What brokers tell each other.

A message may carry several proxies or publications that travel together; each of them counts.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Literal, NamedTuple, get_args

from shortlist.intake.documents import dump
from shortlist.model.advertisement import Advertisement
from shortlist.model.durations import Span
from shortlist.model.items import Items
from shortlist.model.policy import Window
from shortlist.model.publication import Publication
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.scoring.combine import ScoredMatch

Kind = Literal["advertise", "subscribe", "publish", "deliver", "update", "match", "counts"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Order = tuple[int, int]
"""Time and position of an item."""


class Proxy(NamedTuple):
    """A subscription as brokers know it that do not hold its shortlist."""

    subscription: Subscription
    shortlist: Shortlist
    born: Order
    """It sees only publications after this."""
    is_alone: bool = True
    """Whether its shortlist has no other subscription."""
    threshold: float = -inf
    """What scores less is not wanted now: the shortlist's window would not let it in."""

    @property
    def id(self) -> str:
        return self.subscription.id

    @property
    def key(self) -> tuple[str, Order, float]:
        """What tells it from every other proxy at any time."""
        return self.id, self.born, self.threshold

    @property
    def is_thresholded(self) -> bool:
        return has_threshold(self.shortlist)

    @property
    def wanting_now(self) -> Subscription:
        """The subscription that matches what is wanted now, and nothing else."""
        own = self.subscription.at_least.score
        score = self.threshold if own is None else max(own, self.threshold)
        if score == -inf:
            return self.subscription
        at_least = replace(self.subscription.at_least, score=score)
        return replace(self.subscription, at_least=at_least)


def has_threshold(shortlist: Shortlist) -> bool:
    """Whether a window is told by its threshold: where one subscription's score is what counts.

    A window of the last so many matches has to hear of every match.
    """
    return (
        isinstance(shortlist.policy, Window)
        and not isinstance(shortlist.policy.window, int)
        and shortlist.combine == "max"
        and not shortlist.prefers
    )


def span_of(shortlist: Shortlist) -> int | None:
    """How long a window holds what came; None for ever."""
    window = shortlist.policy.window if isinstance(shortlist.policy, Window) else None
    return window.micros if isinstance(window, Span) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxies:
    """What changed of the subscriptions behind a broker."""

    home: str
    """The broker that publications are to be sent to."""
    put: tuple[Proxy, ...] = ()
    updated: tuple[Proxy, ...] = ()
    """Those that are known, with another threshold."""
    dropped: tuple[str, ...] = ()
    to: str | None = None
    """The broker that this is for; None for whoever gets it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advertisements:
    """What changed of the advertisements behind a broker."""

    put: tuple[Advertisement, ...] = ()
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Publications:
    """Publications on their way."""

    items: Items
    kind: Literal["publish", "deliver"]
    """Whether they go to whoever is there, or to somebody who wants them."""
    origin: str
    """The broker that they were published at."""
    to: str | None = None
    rounds: int = 0
    """How many more times a gossip is passed on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """A publication that matches members of a split shortlist, for its home."""

    shortlist: str
    publication: Publication
    matches: tuple[ScoredMatch, ...]
    novelty: float | None
    """What its delivery is worth, if the holder has decided on one; it names the one match."""
    to: str

    @property
    def order(self) -> Order:
        return self.publication.time, self.publication.position


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """A member of a split shortlist is gone."""

    shortlist: str
    member: str
    order: Order
    to: str


class Noted(NamedTuple):
    """A match that a holder has decided on."""

    members: tuple[str, ...]
    is_delivered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What a holder has decided on since it last said so, for the home."""

    shortlist: str
    holder: str
    noted: tuple[Noted, ...]
    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a home knows of all holders together, for one of them."""

    shortlist: str
    state: Any
    """Of the policy's selector."""
    included: int
    """How many matches of this holder it includes."""
    to: str


SplitMessage = Matches | Cancelled | Counts | Totals
Message = Proxies | Advertisements | Publications | SplitMessage


class Send(NamedTuple):
    """A message to another broker."""

    to: str
    message: Message
    hop: int = 1
    """The how manieth on its way."""
    is_direct: bool = False
    """Not from neighbour to neighbour, but by whatever carries data between any two."""


def tally(message: Message) -> Iterator[tuple[Kind, int, int]]:
    """What a message counts as: of each kind how many, and their bytes as JSON.

    >>> [*tally(Proxies(home="b1", dropped=("s1", "s2")))]
    [('subscribe', 2, 8)]
    """
    match message:
        case Publications(items=items, kind=kind):
            lengths = [sum(map(len, row)) for row in _texts(items)]
            yield kind, len(lengths), sum(lengths)
        case Proxies(put=put, updated=updated, dropped=dropped):
            if put or dropped:
                size = sum(_size(dump(proxy.subscription)) for proxy in put)
                yield "subscribe", len(put) + len(dropped), size + sum(map(_size, dropped))
            if updated:
                told = ([proxy.id, proxy.threshold] for proxy in updated)
                yield "update", len(updated), sum(map(_size, told))
        case Advertisements(put=made, dropped=gone):
            size = sum(_size(dump(each)) for each in made) + sum(map(_size, gone))
            yield "advertise", len(made) + len(gone), size
        case Matches(publication=told, matches=matches):
            size = _size([told.source, told.id, told.data, matches, message.novelty])
            yield "match", 1, size
        case Cancelled(member=member):
            yield "subscribe", 1, _size(member)
        case Counts(noted=noted):
            yield "counts", 1, _size(noted)
        case Totals(state=state):
            yield "counts", 1, _size(state)


def _texts(items: Items) -> Iterator[tuple[str, ...]]:
    columns = (items.values(name) for name in ("source", "id", "data"))
    return ((source, name, data or "") for source, name, data in zip(*columns, strict=True))


def _size(document: object) -> int:
    return len(json.dumps(document))
