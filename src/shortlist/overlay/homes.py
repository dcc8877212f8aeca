"""Who lives where: the broker of every shortlist, subscription and advertisement."""

from collections.abc import Container, Iterable
from dataclasses import replace
from typing import NamedTuple

from shortlist.intake.roster import Roster, registry_commands
from shortlist.model.command import (
    Advertise,
    Close,
    Command,
    Open,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from shortlist.model.registry import Registry
from shortlist.model.subscription import Subscription
from shortlist.overlay.split import Feeds
from shortlist.overlay.topology import Topology


class Told(NamedTuple):
    """A command that a broker is to carry out."""

    broker: str
    command: Command
    feeds: Feeds | None = None
    """The split shortlist that it is about."""


class Homes:
    """A shortlist lives where its subscriber is attached, an advertisement where its source is.

    The subscriptions of a split shortlist are held where the topology says, or at its home.

    >>> from shortlist.intake.files import registry_from_documents
    >>> from shortlist.overlay.topology import Topology
    >>> network = Topology(("a", "b"), (("a", "b"),), subscribers={"anna": "b"})
    >>> registry = registry_from_documents({"subscriptions": [{"id": "s", "subscriber": "anna"}]})
    >>> [len(part.subscriptions) for part in Homes(network).parts(registry).values()]
    [0, 1]
    """

    def __init__(self, topology: Topology, split: Container[str] = ()) -> None:
        self._topology = topology
        self._split = split
        self._shortlists: dict[str, str] = {}
        self._subscriptions: dict[str, str] = {}
        self._advertisements: dict[str, str] = {}
        self._opened: dict[str, Feeds] = {}
        """The split shortlists that are live."""
        self._members: dict[str, Told] = {}
        """By live member of a split shortlist, how it was made."""
        self.made_split: list[Told] = []
        """What of a registry is about split shortlists."""

    def parts(self, registry: Registry) -> dict[str, Registry]:
        """By broker, what of a registry lives there."""
        commands = [told for command in registry_commands(registry) for told in self.of(command)]
        self.made_split += [told for told in commands if told.feeds is not None]
        return {
            broker: _registry(registry, [told for told in commands if told.broker == broker])
            for broker in self._topology.brokers
        }

    def of(self, command: Command) -> list[Told]:
        """Who is told what, if a client gives a command that is not refused."""
        match command:
            case Open(shortlist=shortlist):
                home = self._topology.home_of_subscriber(shortlist.subscriber)
                self._shortlists[shortlist.id] = home
                if shortlist.id in self._split:
                    self._opened[shortlist.id] = Feeds(shortlist, home)
                    return [Told(home, command, self._opened[shortlist.id])]
            case Close(shortlist=name):
                if name in self._opened:
                    return self._close(command, name)
                home = self._shortlists[name]
            case Subscribe(subscription=subscription):
                return self._subscribe(command, subscription)
            case Unsubscribe(subscription=name):
                if name in self._members:
                    return self._unsubscribe(command, name)
                home = self._subscriptions[name]
            case Advertise(advertisement=made):
                home = self._topology.home_of_source(made.source)
                self._advertisements[made.id] = home
            case Unadvertise(advertisement=name):
                home = self._advertisements[name]
            case _:
                raise AssertionError(f"expected a command that brokers take, found {command}")
        return [Told(home, command)]

    def _subscribe(self, command: Subscribe, subscription: Subscription) -> list[Told]:
        own = subscription.own_shortlist()
        opened: list[Told] = []
        if own is not None:
            opened = self.of(Open(time=command.time, position=command.position, shortlist=own))
        feeds = self._opened.get(subscription.shortlist_id)
        if feeds is None:
            home = self._shortlists[subscription.shortlist_id]
            self._subscriptions[subscription.id] = home
            return [Told(home, command)]
        told = Told(
            self._topology.subscriptions.get(subscription.id, feeds.home),
            replace(command, subscription=_alone(subscription)),
            feeds._replace(weight=subscription.weight),
        )
        self._members[subscription.id] = told
        return [*opened, told]

    def _unsubscribe(self, command: Unsubscribe, member: str) -> list[Told]:
        told = self._members[member]
        if told.feeds is not None and told.feeds.shortlist.id == member:
            return self._close(command, member)  # it owns the shortlist
        del self._members[member]
        return [told._replace(command=command)]

    def _close(self, command: Close | Unsubscribe, name: str) -> list[Told]:
        """A split shortlist goes: its home hears of it, and so do all who hold members."""
        place = {"time": command.time, "position": command.position}
        feeds = self._opened.pop(name)
        gone = [
            member
            for member, told in self._members.items()
            if told.feeds is not None and told.feeds.shortlist.id == name
        ]
        return [
            Told(feeds.home, Close(shortlist=name, **place), feeds),
            *(
                Told(self._members.pop(member).broker, Unsubscribe(subscription=member, **place))
                for member in gone
            ),
        ]


def _alone(subscription: Subscription) -> Subscription:
    """A member as its holder matches it: with a shortlist of its own that gets everything."""
    return replace(subscription, shortlist=None, subscriber=None, policy=None, combine=None)


def _registry(whole: Registry, told: Iterable[Told]) -> Registry:
    """What commands make of a part of a registry; split shortlists are opened elsewhere."""
    roster = Roster(whole.vocabulary)
    for _, command, feeds in told:
        if feeds is None or not isinstance(command, Open):
            roster.apply(command)
    return roster.registry()
