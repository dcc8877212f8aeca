"""The covering graph of intervals, built at once, beside NumPy on all pairs and one by one.

The intervals are those of the rank-cover paper: 30 to 60 % of the range of one attribute, uniformly
placed. Run: python benchmarks/covering.py [--intervals 1000 10000 50000] [--one-by-one 1000]
Prints one JSON line per figure.
"""

import argparse
import tracemalloc
from collections.abc import Callable
from math import log
from typing import Any, TypeVar

import numpy as np
from common.report import Report
from common.timing import timed
from numpy.random import default_rng
from numpy.typing import NDArray

from shortlist.covering.condition_graph import Boxes, condition_graph, interval_order
from shortlist.covering.graph import Entry
from shortlist.covering.slices import CoveringOrder
from shortlist.language.tree import And, Between, Where
from shortlist.model.vocabulary import Vocabulary

Result = TypeVar("Result")
Entries = list[Entry[Where | None]]

BLOCK = 256
"""Rows of the matrix of all pairs that NumPy makes at a time."""

report = Report().add


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--intervals", type=int, nargs="+", default=[1_000, 10_000, 50_000])
    arguments.add_argument("--one-by-one", type=int, default=1_000)
    asked = arguments.parse_args()
    _, seconds = timed(lambda: [interval_order(intervals(10, attributes)) for attributes in (1, 2)])
    report("kernels loaded, or compiled where they were not", seconds=seconds)

    orders, graphs = {}, {}
    for count in asked.intervals:
        orders[count] = report_order(count)
        graphs[count] = report_graph(count)
    first, last = asked.intervals[0], asked.intervals[-1]
    for figure, seconds_of in (("order", orders), ("graph", graphs)):
        growth = log(seconds_of[last] / seconds_of[first]) / log(last / first)
        report(
            f"growth of the {figure}: its time goes as this power of the intervals", power=growth
        )
    report_one_by_one(asked.one_by_one)
    report_changes(asked.intervals[-1])
    for attributes in (2, 3):
        report_several_attributes(10_000, attributes)


def report_order(count: int) -> float:
    boxes = intervals(count, 1)
    order, seconds = best_of_three(lambda: interval_order(boxes))
    counted, baseline = timed(lambda: all_pairs(boxes))
    assert np.array_equal(counted, order.ancestors[order.nodes])
    report(
        "order at once: direct edges, ancestors, depths",
        seconds=seconds,
        intervals=count,
        **shape(order),
        bytes_per_node=array_bytes(order) / order.ancestors.size,
    )
    report(
        "numpy, all pairs: ancestors only",
        seconds=baseline,
        intervals=count,
        ratio_to_order_at_once=baseline / seconds,
    )
    return seconds


def report_graph(count: int) -> float:
    entries = subscriptions(intervals(count, 1))
    graph, seconds = timed(lambda: condition_graph(Vocabulary(), entries))
    del graph
    tracemalloc.start()
    graph = condition_graph(Vocabulary(), entries)
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    report(
        "graph at once, from conditions",
        seconds=seconds,
        intervals=count,
        roots_share=len(graph.roots) / len(graph.nodes),
        bytes_per_node=size / len(graph.nodes),
    )
    return seconds


def report_one_by_one(count: int) -> None:
    entries = subscriptions(intervals(count, 1))
    whole, at_once = timed(lambda: condition_graph(Vocabulary(), entries))

    def inserted() -> int:
        graph = condition_graph(Vocabulary())
        for entry in entries:
            graph.insert(*entry)
        return len(graph.roots)

    roots, seconds = timed(inserted)
    assert roots == len(whole.roots)
    report(
        "graph one by one, from conditions",
        seconds=seconds,
        intervals=count,
        ratio_to_graph_at_once=seconds / at_once,
    )


def report_changes(count: int, changes: int = 20) -> None:
    entries = subscriptions(intervals(count + changes, 1))
    graph = condition_graph(Vocabulary(), entries[:count])
    _, seconds = timed(lambda: [graph.insert(*entry) for entry in entries[count:]])
    report("one more in the graph", seconds=seconds / changes, intervals=count)
    _, seconds = timed(lambda: [graph.remove(entry.subscription) for entry in entries[:changes]])
    report("one less in the graph", seconds=seconds / changes, intervals=count)


def report_several_attributes(count: int, attributes: int) -> None:
    boxes = intervals(count, attributes)
    order, seconds = best_of_three(lambda: interval_order(boxes))
    report(
        "order at once, several attributes",
        seconds=seconds,
        intervals=count,
        attributes=attributes,
        **shape(order),
    )


def intervals(count: int, attributes: int, seed: int = 0) -> Boxes:
    draw = default_rng(seed)
    width = draw.uniform(0.3, 0.6, (count, attributes))
    low = draw.uniform(0.0, 1.0 - width)
    return Boxes.closed(low, low + width)


def subscriptions(boxes: Boxes) -> Entries:
    """The boxes as conditions, which are parsed already."""
    return [
        Entry(
            f"s{number}",
            condition([Between((f"x{axis}",), *ends) for axis, ends in enumerate(row)]),
        )
        for number, row in enumerate(np.stack([boxes.lows, boxes.highs], axis=2).tolist())
    ]


def condition(ranges: list[Between]) -> Where:
    return ranges[0] if len(ranges) == 1 else And(tuple(ranges))


def all_pairs(boxes: Boxes) -> NDArray[np.int64]:
    """How many others cover each interval, all of which are different."""
    low, high = boxes.lows[:, 0], boxes.highs[:, 0]
    counted = [
        (
            (low <= low[start : start + BLOCK, None]) & (high >= high[start : start + BLOCK, None])
        ).sum(axis=1)
        for start in range(0, len(low), BLOCK)
    ]
    return np.concatenate(counted) - 1


def shape(order: CoveringOrder) -> dict[str, Any]:
    return {
        "edges": order.parents.size,
        "roots_share": float(np.mean(order.ancestors == 0)),
        "under_10_ancestors_share": float(np.mean(order.ancestors < 10)),
        "deepest": int(order.depths.max()),
    }


def array_bytes(order: CoveringOrder) -> int:
    arrays = order.nodes, order.starts, order.parents, order.ancestors, order.depths
    return sum(array.nbytes for array in arrays)


def best_of_three(work: Callable[[], Result]) -> tuple[Result, float]:
    return min((timed(work) for _ in range(3)), key=lambda run: run[1])


if __name__ == "__main__":
    main()
