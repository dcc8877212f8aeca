"""The covering graph of subscriptions' conditions."""

from collections.abc import Sequence
from functools import partial

from shortlist.covering.boxes import boxes
from shortlist.covering.covers import exactly_covers
from shortlist.covering.graph import CoveringGraph, Entry
from shortlist.covering.interval_order import interval_order
from shortlist.language.tree import Where
from shortlist.model.vocabulary import Vocabulary

ConditionGraph = CoveringGraph[Where | None]

FEW = 64
"""As many are inserted one by one before the kernels are loaded that order more of them."""


def condition_graph(
    vocabulary: Vocabulary, entries: Sequence[Entry[Where | None]] = ()
) -> ConditionGraph:
    """The graph of these entries: numeric ranges are ordered all at once, others one by one.

    >>> from shortlist.language.parser import parse_where
    >>> texts = {"flat": "rent < 1000", "cheap flat": "rent < 500", "home": None}
    >>> entries = [Entry(name, text and parse_where(text)) for name, text in texts.items()]
    >>> graph = condition_graph(Vocabulary(), entries)
    >>> [list(root.scores) for root in graph.roots], graph.depth(graph.node("cheap flat"))
    ([['home']], 3)
    """
    covers = partial(exactly_covers, vocabulary=vocabulary)
    if len(entries) > FEW:
        ranges = boxes([entry.condition for entry in entries], vocabulary)
        if ranges is not None:
            order = interval_order(ranges)
            return CoveringGraph.linked(covers, entries, order.nodes.tolist(), order.edges())
    graph: ConditionGraph = CoveringGraph(covers)
    for entry in entries:
        graph.insert(*entry)
    return graph
