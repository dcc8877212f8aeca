"""Networks of brokers: who is linked to whom, and who is attached where."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from random import Random

Link = tuple[str, str]


@dataclass(frozen=True)
class Topology:
    """Brokers and links; whoever is attached to no broker in particular gets one by name.

    >>> network = chain(cores=2, edges=2)
    >>> network.brokers
    ('core1', 'core1-1', 'core1-2', 'core2', 'core2-1', 'core2-2')
    >>> network.path("core1-1", "core2-2")
    ('core1-1', 'core1', 'core2', 'core2-2')
    """

    brokers: tuple[str, ...]
    links: tuple[Link, ...]
    publishers: Mapping[str, str] = field(default_factory=dict)
    """By source, the broker that it publishes at."""
    subscribers: Mapping[str, str] = field(default_factory=dict)
    subscriptions: Mapping[str, str] = field(default_factory=dict)
    """By subscription, the broker that holds it, where that is not the home of its shortlist."""

    @cached_property
    def neighbours(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {name: [] for name in self.brokers}
        for one, other in self.links:
            found[one].append(other)
            found[other].append(one)
        return {name: tuple(others) for name, others in found.items()}

    @cached_property
    def tree(self) -> "Topology":
        """The same brokers with only the links that are needed to reach everyone, breadth first."""
        reached = self._reached(self.brokers[0])
        return replace(self, links=tuple((near, far) for far, near in reached.items()))

    @cached_property
    def edges(self) -> tuple[str, ...]:
        """The brokers with one link only, or all where there are none."""
        ends = tuple(name for name in self.brokers if len(self.neighbours[name]) < 2)
        return ends or self.brokers

    def next_hops(self, start: str) -> Mapping[str, str]:
        """By destination, the neighbour that is next on the shortest way."""
        hops: dict[str, str] = {}
        for far, near in self._reached(start).items():
            hops[far] = hops.get(near, far)
        return hops

    def depths(self, start: str) -> Mapping[str, int]:
        """By broker, how many hops away it is.

        >>> star(2).depths("b1")
        {'b1': 0, 'hub': 1, 'b2': 2}
        """
        hops = {start: 0}
        for far, near in self._reached(start).items():
            hops[far] = hops[near] + 1
        return hops

    def path(self, start: str, end: str) -> tuple[str, ...]:
        way = [start]
        while way[-1] != end:
            way.append(self._hops[way[-1]][end])
        return tuple(way)

    @cached_property
    def diameter(self) -> int:
        """Hops between the two brokers that are farthest apart."""
        return max(max(self.depths(name).values()) for name in self.brokers)

    def home_of_subscriber(self, name: str) -> str:
        return self.subscribers.get(name) or self._dealt(name)

    def home_of_source(self, name: str) -> str:
        return self.publishers.get(name) or self._dealt(name)

    def _dealt(self, name: str) -> str:
        digest = hashlib.sha256(name.encode(errors="surrogatepass")).digest()
        return self.edges[int.from_bytes(digest[:8]) % len(self.edges)]

    def _reached(self, start: str) -> dict[str, str]:
        """By broker, from which one it is reached first, breadth first."""
        reached: dict[str, str] = {}
        waiting = [start]
        for near in waiting:  # it grows meanwhile
            for far in self.neighbours[near]:
                if far != start and far not in reached:
                    reached[far] = near
                    waiting.append(far)
        return reached

    @cached_property
    def _hops(self) -> Mapping[str, Mapping[str, str]]:
        return {name: self.next_hops(name) for name in self.brokers}


def chain(cores: int = 10, edges: int = 5) -> Topology:
    """Core brokers in a row, each with edge brokers that clients are attached to."""
    middle = [f"core{n}" for n in range(1, cores + 1)]
    outer = {name: [f"{name}-{n}" for n in range(1, edges + 1)] for name in middle}
    brokers = tuple(each for name in middle for each in (name, *outer[name]))
    spokes = ((name, edge) for name in middle for edge in outer[name])
    return Topology(brokers, (*pairwise(middle), *spokes))


def star(edges: int = 5) -> Topology:
    """One broker in the middle, all others linked to it.

    >>> star(2).links
    (('hub', 'b1'), ('hub', 'b2'))
    """
    outer = tuple(f"b{n}" for n in range(1, edges + 1))
    return Topology(("hub", *outer), tuple(("hub", name) for name in outer))


def hierarchy(levels: int = 3, children: int = 2) -> Topology:
    """A tree in which each broker above the lowest level has as many below it.

    >>> hierarchy(2, 3).links
    (('b1', 'b2'), ('b1', 'b3'), ('b1', 'b4'))
    """
    count = sum(children**level for level in range(levels))
    links = tuple((f"b{(n - 2) // children + 1}", f"b{n}") for n in range(2, count + 1))
    return Topology(_named(count), links)


def random_tree(brokers: int = 8, seed: int = 0) -> Topology:
    """Each broker after the first is linked to one before it, by chance."""
    chance = Random(seed)
    links = tuple((f"b{chance.randrange(1, n)}", f"b{n}") for n in range(2, brokers + 1))
    return Topology(_named(brokers), links)


def random_graph(brokers: int = 8, more: int = 4, seed: int = 0) -> Topology:
    """A random tree with more links, between brokers that have none yet.

    >>> network = random_graph(6, 3)
    >>> len(network.links), len(network.tree.links)
    (8, 5)
    """
    tree = random_tree(brokers, seed)
    chance = Random(f"{seed} more")
    linked = {frozenset(link) for link in tree.links}
    free = [
        (one, other)
        for place, one in enumerate(tree.brokers)
        for other in tree.brokers[place + 1 :]
        if frozenset((one, other)) not in linked
    ]
    return Topology(tree.brokers, (*tree.links, *chance.sample(free, min(more, len(free)))))


def _named(count: int) -> tuple[str, ...]:
    return tuple(f"b{n}" for n in range(1, count + 1))
