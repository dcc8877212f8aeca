"""Where new subscribers go: the broker at which their subscriptions add least.

A subscriber probes some brokers and looks at their subscription graphs. Similar subscriptions then
gather, so that publications which match them travel towards fewer brokers.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random

from shortlist.covering.condition_graph import ConditionGraph, condition_graph
from shortlist.language.parser import parse_any_where
from shortlist.language.tree import Where
from shortlist.model.registry import Registry
from shortlist.model.settings import UNLIMITED
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary


class Server:
    """A broker as a subscriber sees it that looks for one: its subscription graph.

    >>> server = Server(Vocabulary())
    >>> server.join([Subscription(id="comedies", where="genre = 'comedy'")])
    >>> long = Subscription(id="long", where="genre = 'comedy' and length > 120")
    >>> server.new_top_level([long]), server.nodes
    (0, 1)
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._graph: ConditionGraph = condition_graph(vocabulary)

    @property
    def nodes(self) -> int:
        """Criterion 2: the fewer there are, the sooner they are searched."""
        return len(self._graph.nodes)

    def new_top_level(self, subscriptions: Sequence[Subscription]) -> int:
        """Criterion 1: the fewer nodes nothing covers, the fewer publications have to come here."""
        before = {*self._graph.roots}
        for subscription in subscriptions:
            self._graph.insert(subscription.id, self._where(subscription))
        added = len({*self._graph.roots} - before)
        for subscription in subscriptions:
            self._graph.remove(subscription.id)
        return added

    def join(self, subscriptions: Iterable[Subscription]) -> None:
        for subscription in subscriptions:
            self._graph.insert(subscription.id, self._where(subscription))

    def _where(self, subscription: Subscription) -> Where | None:
        return parse_any_where(subscription.where, self._vocabulary, UNLIMITED)


CRITERIA: Mapping[str, Callable[[Server, Sequence[Subscription]], tuple[int, ...]]] = {
    "random": lambda server, some: (),
    "top-level": lambda server, some: (server.new_top_level(some),),
    "nodes": lambda server, some: (server.nodes,),
    "both": lambda server, some: (server.new_top_level(some), server.nodes),
}
"""What a broker is to be avoided for, the most important first."""


def placed(
    registry: Registry,
    brokers: Sequence[str],
    criterion: str,
    *,
    probes: int | None = None,
    seed: int = 0,
) -> Mapping[str, str]:
    """By subscriber, the broker that it joins; they come one after the other, as the registry has
    them, and probe so many brokers each, or all. Of equally good brokers the first probed is taken.
    """
    chance = Random(f"{seed} {criterion}")
    servers = {name: Server(registry.vocabulary) for name in brokers}
    homes: dict[str, str] = {}
    for subscriber, subscriptions in _by_subscriber(registry).items():
        probed = chance.sample([*brokers], min(probes or len(brokers), len(brokers)))
        costs = {name: CRITERIA[criterion](servers[name], subscriptions) for name in probed}
        homes[subscriber] = min(costs, key=lambda name: costs[name])
        servers[homes[subscriber]].join(subscriptions)
    return homes


def _by_subscriber(registry: Registry) -> dict[str, list[Subscription]]:
    owners = {shortlist.id: shortlist.subscriber for shortlist in registry.every_shortlist}
    found: dict[str, list[Subscription]] = defaultdict(list)
    for subscription in registry.subscriptions:
        found[owners[subscription.shortlist_id]].append(subscription)
    return found
