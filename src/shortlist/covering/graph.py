"""The covering graph: distinct conditions, with edges to those that each covers directly."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, KeysView
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Generic, NamedTuple, TypeVar

Condition = TypeVar("Condition")
Covers = Callable[[Condition, Condition], bool]
Score = str | float | None
"""As a subscription gives it."""


class Entry(NamedTuple, Generic[Condition]):
    """A subscription that is to stand in a graph."""

    subscription: str
    condition: Condition
    score: Score = None


@dataclass(eq=False, slots=True)
class Node(Generic[Condition]):
    """A condition, with the score that each subscription gives it.

    Neighbours are the keys of dictionaries, which unlike sets keep an order.
    """

    condition: Condition
    scores: dict[str, Score] = field(default_factory=dict)
    parents: "Nodes[Condition]" = field(default_factory=dict, repr=False)
    children: "Nodes[Condition]" = field(default_factory=dict, repr=False)


Nodes = dict[Node[Condition], None]


class CoveringGraph(Generic[Condition]):
    """Subscriptions by their conditions; those that cover each other stand at one node.

    Covering must be transitive. Where it is strict every subscription has a node of its own.

    >>> graph = CoveringGraph(lambda a, b: b % a == 0)  # of numbers: to divide
    >>> for number in (12, 2, 24, 3):
    ...     node = graph.insert(f"s{number}", number)
    >>> [parent.condition for parent in graph.node("s12").parents]
    [2, 3]
    >>> last = graph.node("s24")
    >>> len(graph.ancestors(last))
    3
    >>> graph.remove("s12")
    >>> [root.children.keys() == {last} for root in graph.roots]
    [True, True]
    """

    def __init__(self, covers: Covers[Condition]) -> None:
        self._covers = covers
        self._standing: dict[str, Node[Condition]] = {}
        self._roots: Nodes[Condition] = {}
        self._leaves: Nodes[Condition] = {}

    @staticmethod
    def linked(
        covers: Covers[Condition],
        entries: Iterable[Entry[Condition]],
        places: Iterable[int],
        edges: Iterable[tuple[int, int]],
    ) -> "CoveringGraph[Condition]":
        """The graph of which all is known: the node of each entry, and who covers whom directly.

        >>> things = [Entry("any thing", ""), Entry("red thing", "red")]
        >>> graph = CoveringGraph.linked(lambda a, b: a in b, things, places=[0, 1], edges=[(0, 1)])
        >>> [root.scores for root in graph.roots]
        [{'any thing': None}]
        """
        graph = CoveringGraph(covers)
        nodes: dict[int, Node[Condition]] = {}
        for (subscription, condition, score), place in zip(entries, places, strict=True):
            if place not in nodes:
                nodes[place] = Node(condition)
            graph._stand(subscription, nodes[place], score)
        for parent, child in edges:
            _link(nodes[parent], nodes[child])
        graph._note_ends(nodes.values())
        return graph

    def __contains__(self, subscription: str) -> bool:
        return subscription in self._standing

    def node(self, subscription: str) -> Node[Condition]:
        return self._standing[subscription]

    @property
    def nodes(self) -> KeysView[Node[Condition]]:
        return dict.fromkeys(self._standing.values()).keys()

    @property
    def roots(self) -> KeysView[Node[Condition]]:
        """The nodes that no other one covers."""
        return self._roots.keys()

    def insert(
        self, subscription: str, condition: Condition, score: Score = None
    ) -> Node[Condition]:
        """Lets a subscription stand at the node of its condition, a new one if there is none."""
        above = dict.fromkeys(self.matching(lambda node: self._covers(node.condition, condition)))
        parents = [node for node in above if above.keys().isdisjoint(node.children)]
        for node in parents:
            if self._covers(condition, node.condition):
                self._stand(subscription, node, score)
                return node
        below = dict.fromkeys(self._covered(condition, but=above))
        children = [node for node in below if below.keys().isdisjoint(node.parents)]
        node = Node(condition)
        self._stand(subscription, node, score)
        for parent in parents:
            for child in children:
                _unlink(parent, child)
            _link(parent, node)
        for child in children:
            _link(node, child)
        self._note_ends([node, *parents, *children])
        return node

    def remove(self, subscription: str) -> None:
        """Takes a subscription away, and its node if no other one stands there."""
        node = self._standing.pop(subscription)
        del node.scores[subscription]
        if node.scores:
            return
        parents, children = list(node.parents), list(node.children)
        for parent in parents:
            _unlink(parent, node)
        for child in children:
            _unlink(node, child)
        for child in children:
            still_above = self.ancestors(child)
            for parent in parents:
                if parent not in still_above:
                    _link(parent, child)
        self._note_ends([node, *parents, *children])

    def ancestors(self, *nodes: Node[Condition]) -> KeysView[Node[Condition]]:
        """Every node that covers one of these without being the same."""
        found: Nodes[Condition] = {}
        waiting = list(nodes)
        for node in waiting:  # it grows meanwhile
            waiting += [parent for parent in node.parents if parent not in found]
            found.update(node.parents)
        return found.keys()

    def matching(self, matches: Callable[[Node[Condition]], bool]) -> Iterator[Node[Condition]]:
        """The nodes that match; one that does not spares all that it covers, which cannot either.

        >>> graph = CoveringGraph(lambda a, b: b.startswith(a))
        >>> for word in ("car", "cart", "dog", "dogma"):
        ...     node = graph.insert(word, word)
        >>> asked = []
        >>> def begins_cartoon(node):
        ...     asked.append(node.condition)
        ...     return "cartoon".startswith(node.condition)
        >>> [node.condition for node in graph.matching(begins_cartoon)], asked
        (['car', 'cart'], ['car', 'dog', 'cart'])
        """
        return _reached(self._roots, attrgetter("parents"), attrgetter("children"), matches)

    def most_specific(self, subscriptions: Iterable[str]) -> set[str]:
        """Those that cover no other one of them; equal ones do not exclude each other.

        >>> graph = CoveringGraph(lambda a, b: b.startswith(a))
        >>> for word in ("car", "cart", "dog"):
        ...     node = graph.insert(word, word)
        >>> sorted(graph.most_specific(["car", "cart", "dog"]))
        ['cart', 'dog']
        """
        asked = {subscription: self._standing[subscription] for subscription in subscriptions}
        general = self.ancestors(*asked.values())
        return {subscription for subscription, node in asked.items() if node not in general}

    def _covered(self, condition: Condition, but: Nodes[Condition]) -> Iterator[Node[Condition]]:
        def covered(node: Node[Condition]) -> bool:
            return node not in but and self._covers(condition, node.condition)

        return _reached(self._leaves, attrgetter("children"), attrgetter("parents"), covered)

    def _stand(self, subscription: str, node: Node[Condition], score: Score) -> None:
        self._standing[subscription] = node
        node.scores[subscription] = score

    def _note_ends(self, nodes: Iterable[Node[Condition]]) -> None:
        for node in nodes:
            _keep(self._roots, node, bool(node.scores) and not node.parents)
            _keep(self._leaves, node, bool(node.scores) and not node.children)


def _reached(
    starts: Iterable[Node[Condition]],
    before: Callable[[Node[Condition]], Nodes[Condition]],
    after: Callable[[Node[Condition]], Nodes[Condition]],
    holds: Callable[[Node[Condition]], bool],
) -> Iterator[Node[Condition]]:
    """The nodes that hold, each asked once, when all directly before it have held."""
    waiting = list(starts)
    held_before: Counter[Node[Condition]] = Counter()
    for node in waiting:  # it grows meanwhile
        if holds(node):
            yield node
            for follower in after(node):
                held_before[follower] += 1
                if held_before[follower] == len(before(follower)):
                    waiting.append(follower)


def _link(parent: Node[Condition], child: Node[Condition]) -> None:
    parent.children[child] = child.parents[parent] = None


def _unlink(parent: Node[Condition], child: Node[Condition]) -> None:
    parent.children.pop(child, None)
    child.parents.pop(parent, None)


def _keep(nodes: Nodes[Condition], node: Node[Condition], wanted: bool) -> None:
    if wanted:
        nodes[node] = None
    else:
        nodes.pop(node, None)
