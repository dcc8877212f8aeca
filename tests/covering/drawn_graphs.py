"""Covering graphs as plain sets, and the same from the definition: all pairs are compared."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from shortlist.covering.graph import CoveringGraph, Node

Names = frozenset[str]


class Drawn(NamedTuple):
    """The names at each node, the edges between nodes, and the roots."""

    nodes: set[Names]
    edges: set[tuple[Names, Names]]
    roots: set[Names]


def drawn(graph: CoveringGraph[Any]) -> Drawn:
    def named(node: Node[Any]) -> Names:
        return frozenset(node.scores)

    edges = {(named(node), named(child)) for node in graph.nodes for child in node.children}
    assert edges == {
        (named(parent), named(node)) for node in graph.nodes for parent in node.parents
    }
    return Drawn(set(map(named, graph.nodes)), edges, set(map(named, graph.roots)))


def by_definition(conditions: Mapping[str, Any], covers: Callable[[Any, Any], bool]) -> Drawn:
    """What the graph of these conditions, by name, has to be."""
    covering = {
        (a, b)
        for a, general in conditions.items()
        for b, special in conditions.items()
        if a != b and covers(general, special)
    }
    strictly = {(a, b) for a, b in covering if (b, a) not in covering}
    nodes = {
        name: frozenset(
            other
            for other in conditions
            if other == name or {(name, other), (other, name)} <= covering
        )
        for name in conditions
    }
    edges = {
        (nodes[a], nodes[b])
        for a, b in strictly
        if not any((a, between) in strictly and (between, b) in strictly for between in conditions)
    }
    covered = {nodes[b] for _, b in strictly}
    return Drawn(set(nodes.values()), edges, set(nodes.values()) - covered)


def depth_of(node: Node[Any]) -> int:
    """The length of the longest chain from a root to the node; 1 for a root."""
    depth, level = 0, {node}
    while level:
        depth += 1
        level = {parent for each in level for parent in each.parents}
    return depth
