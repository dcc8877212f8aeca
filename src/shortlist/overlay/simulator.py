"""A network of brokers in one process: it owns time, links, delays and losses.

Deterministic: the same input and seed lead to the same messages in the same order.
"""

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import count, pairwise
from random import Random

import numpy as np

from shortlist.engine.admission import Admission
from shortlist.engine.admitted import Admitted
from shortlist.engine.steps import BLOCK, CommandReader, steps
from shortlist.intake.lines import ItemReader
from shortlist.intake.reading import items_of
from shortlist.model.command import Command, Item
from shortlist.model.items import Items, Wanted
from shortlist.model.problem import Reject
from shortlist.model.registry import Registry
from shortlist.model.times import END_OF_TIME
from shortlist.overlay.broker import Broker, Network, Options, Place
from shortlist.overlay.central import admitting, check_taken, ever, split_shortlists
from shortlist.overlay.homes import Homes, Told
from shortlist.overlay.messages import Send, has_threshold
from shortlist.overlay.report import Report, Traffic
from shortlist.overlay.strategies import Strategy, likely_axes
from shortlist.overlay.topology import Topology

MESSAGE, FLUSH, TICK, ITEM, SETTLE = range(5)
"""What happens at one instant, in this order; messages come before whatever waits."""
BEFORE_ALL = -(2**62)


def simulate(
    topology: Topology,
    registry: Registry,
    items: Sequence[Item],
    strategy: Strategy,
    network: Network | None = None,
) -> Report:
    """What a finite input leads to if brokers route it.

    >>> from shortlist.intake.files import registry_from_documents
    >>> from shortlist.model.publication import Publication
    >>> from shortlist.overlay.strategies import STRATEGIES
    >>> from shortlist.overlay.topology import star
    >>> registry = registry_from_documents({"subscriptions": [{"id": "all"}]})
    >>> news = [Publication(id="n1", source="cinema", time=0, position=1)]
    >>> report = simulate(star(3), registry, news, STRATEGIES["publication-flooding"])
    >>> len(report.deliveries), report.traffic.of("publish")
    (1, 3)
    """
    network = network or Network()
    check_taken(registry, items, strategy)
    simulation = _Simulation(topology, registry, items, strategy, network)
    return simulation.run()


class _Simulation:
    def __init__(
        self,
        topology: Topology,
        registry: Registry,
        items: Sequence[Item],
        strategy: Strategy,
        network: Network,
    ) -> None:
        self._strategy = strategy
        self._network = network
        self._topology = topology if strategy.takes_all_links else topology.tree
        self._chance = Random(f"{network.seed} links")
        self._delays = {
            frozenset(link): self._chance.randint(min(1, network.delay), network.delay)
            for link in self._topology.links
        }
        across = self._topology.diameter * network.delay
        self._patience = 4 * across + 1 if across else 0  # there and back, twice
        knows_thresholds = strategy.has_proxies and not strategy.has_audience
        shortlists = ever(registry, items).every_shortlist
        withholds = knows_thresholds and any(map(has_threshold, shortlists))
        split = split_shortlists(topology, registry, items, strategy)
        exchanges = split and network.exchange is not None
        self._at_once = 1 if withholds or across or exchanges else BLOCK
        self._homes = Homes(topology, split)
        self._brokers = self._made(registry, withholds)
        self._admitted = self._admit(registry, items)
        self._reader = ItemReader(registry.vocabulary, network.settings.limits.for_what_was_read())
        self._report = Report(strategy.name, [], Traffic(), split=sorted(split))
        self._events: list[tuple[int, int, int, Callable[..., None], tuple[object, ...]]] = []
        self._numbers = count()
        self._clock = BEFORE_ALL
        self._scheduled: set[int] = set()
        self._to_flush: set[str] = set()

    def run(self) -> Report:
        for name, broker in self._brokers.items():
            self._post(name, broker.start())
        for told in self._homes.made_split:
            self._post(told.broker, self._brokers[told.broker].split.tell(*told[1:]))
        self._drain()
        commands = CommandReader(self._reader, self._admitted.commands)
        first = 0
        for step in steps(self._admitted.items, commands, self._at_once):
            size = 1 if isinstance(step, Command) else len(step)
            row = self._admitted.items.between(first, first + size)
            first += size
            self._drain(before=int(row.times[0]))
            self._happen(row, step if isinstance(step, Command) else None)
        self._drain()
        for broker in self._brokers.values():
            self._report.deliveries += broker.settle(END_OF_TIME)[1]
        self._report.deliveries.sort(key=lambda delivery: delivery.order)
        self._report.known = {
            name: broker.known_elsewhere for name, broker in self._brokers.items()
        }
        self._report.rejects += [
            Reject(refusal.position or 0, refusal.reason) for refusal in self._admitted.refusals
        ]
        return self._report

    def _happen(self, row: Items, command: Command | None) -> None:
        """Items are due at the time of the first, and settled at that of the last."""
        time = int(row.times[0])
        self._instant(int(row.times[-1]))
        if command is not None:
            for told in self._homes.of(command):
                self._at(time, ITEM, self._command, row, told)
            return
        sources = np.array(row.values("source"), object)
        for source in dict.fromkeys(sources):
            self._at(time, ITEM, self._publish, source, row.kept(sources == source))

    def _command(self, row: Items, told: Told) -> None:
        self._post(told.broker, self._brokers[told.broker].command(row, *told[1:]))

    def _publish(self, source: str, items: Items) -> None:
        home = self._topology.home_of_source(source)
        self._post(home, self._brokers[home].publish(items))

    def _instant(self, time: int) -> None:
        """Brokers hear what time it is, and later that everything up to then is there."""
        if time not in self._scheduled:
            self._scheduled.add(time)
            self._at(max(time, self._clock), TICK, self._tick, time)
            self._at(max(time, self._clock) + self._patience, SETTLE, self._settle, time)

    def _tick(self, time: int) -> None:
        for name, broker in self._brokers.items():
            self._post(name, broker.tick(time))

    def _settle(self, time: int) -> None:
        for name, broker in self._brokers.items():
            self._post(name, broker.tick(self._clock))
            sends, deliveries = broker.settle(time)
            self._report.deliveries += deliveries
            self._post(name, sends)
            if broker.next_tick is not None:
                self._instant(broker.next_tick)

    def _post(self, sender: str, sends: Iterable[Send]) -> None:
        """A broker has done something: it sends this, and more once it has heard all."""
        if sender not in self._to_flush:
            self._to_flush.add(sender)
            self._at(self._clock, FLUSH, self._flush, sender)
        for send in sends:
            self._report.traffic.count(sender, send)
            if self._network.loss and self._chance.random() < self._network.loss:
                self._report.traffic.lost += 1
                continue
            time = self._clock + self._delay(sender, send.to)
            self._at(time, MESSAGE, self._take, sender, send)

    def _flush(self, name: str) -> None:
        self._to_flush.discard(name)
        sends = self._brokers[name].flush()
        if sends:
            self._post(name, sends)

    def _take(self, sender: str, send: Send) -> None:
        self._post(send.to, self._brokers[send.to].take(sender, send.message, send.hop))

    def _delay(self, sender: str, receiver: str) -> int:
        if not self._network.delay:
            return 0
        way = self._topology.path(sender, receiver)
        return sum(self._delays[frozenset(link)] for link in pairwise(way))

    def _at(self, time: int, phase: int, do: Callable[..., None], *about: object) -> None:
        heapq.heappush(self._events, (time, phase, next(self._numbers), do, about))

    def _drain(self, before: int | None = None) -> None:
        """Lets everything happen, or what is due before an instant."""
        while self._events and (before is None or self._events[0][0] < before):
            time, _, _, do, about = heapq.heappop(self._events)
            self._clock = max(self._clock, time)
            do(*about)

    def _made(self, registry: Registry, withholds: bool) -> dict[str, Broker]:
        network = self._network
        if not network.axes:
            network = replace(network, axes=likely_axes(registry))
        options = Options(
            network=network,
            brokers=self._topology.brokers,
            slack=self._patience,
            withholds=withholds,
        )
        return {
            name: self._strategy.make(
                Place(name, self._topology.neighbours[name], self._topology.next_hops(name)),
                part,
                options,
            )
            for name, part in self._homes.parts(registry).items()
        }

    def _admit(self, registry: Registry, items: Sequence[Item]) -> Admitted:
        """What is let in, in order: of each source its own broker could tell as much."""
        settings = admitting(self._strategy, self._network.settings)
        admission = Admission(registry, settings)
        commands = [item for item in items if isinstance(item, Command)]
        wanted = admission.wanted_with(commands).joined(Wanted(data=True))
        admitted = admission.admit(*items_of(items, wanted), last=True)
        if not self._strategy.has_audience:
            admitted.items = admitted.items.without(["reach", "advertisement"])
        return admitted
