"""Who lives where: the broker of every shortlist, subscription and advertisement."""

from shortlist.intake.roster import registry_commands
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
from shortlist.overlay.topology import Topology


class Homes:
    """A shortlist lives where its subscriber is attached, an advertisement where its source is.

    >>> from shortlist.intake.files import registry_from_documents
    >>> from shortlist.overlay.topology import Topology
    >>> network = Topology(("a", "b"), (("a", "b"),), subscribers={"anna": "b"})
    >>> registry = registry_from_documents({"subscriptions": [{"id": "s", "subscriber": "anna"}]})
    >>> [len(part.subscriptions) for part in Homes(network).parts(registry).values()]
    [0, 1]
    """

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._shortlists: dict[str, str] = {}
        self._subscriptions: dict[str, str] = {}
        self._advertisements: dict[str, str] = {}

    def parts(self, registry: Registry) -> dict[str, Registry]:
        """By broker, what of a registry lives there."""
        for command in registry_commands(registry):
            self.of(command)
        return {
            broker: Registry(
                vocabulary=registry.vocabulary,
                shortlists=tuple(
                    each for each in registry.shortlists if self._shortlists[each.id] == broker
                ),
                subscriptions=tuple(
                    each
                    for each in registry.subscriptions
                    if self._subscriptions[each.id] == broker
                ),
                advertisements=tuple(
                    each
                    for each in registry.advertisements
                    if self._advertisements[each.id] == broker
                ),
            )
            for broker in self._topology.brokers
        }

    def of(self, command: Command) -> str:
        """The broker whose client gives a command that is not refused."""
        match command:
            case Open(shortlist=shortlist):
                home = self._topology.home_of_subscriber(shortlist.subscriber)
                self._shortlists[shortlist.id] = home
            case Close(shortlist=name):
                home = self._shortlists[name]
            case Subscribe(subscription=subscription):
                own = subscription.own_shortlist()
                if own is not None:
                    self.of(Open(time=command.time, position=command.position, shortlist=own))
                home = self._shortlists[subscription.shortlist_id]
                self._subscriptions[subscription.id] = home
            case Unsubscribe(subscription=name):
                home = self._subscriptions[name]
            case Advertise(advertisement=made):
                home = self._topology.home_of_source(made.source)
                self._advertisements[made.id] = home
            case Unadvertise(advertisement=name):
                home = self._advertisements[name]
            case _:
                raise AssertionError(f"expected a command that brokers take, found {command}")
        return home
