"""What share of very many ranges each rule forwards."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shortlist.covering.condition_graph import Boxes, boxes, strict_order
from shortlist.covering.slices import CoveringOrder, FindCovering, covering_order
from shortlist.language.parser import parse_any_where
from shortlist.model.problem import ShortlistError
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.overlay.kernels.depths import Counts, shortest_depths, tree_depths


class NotRanges(ShortlistError):
    """Subscriptions that ask for more than ranges of numbers."""


@dataclass(frozen=True, slots=True)
class CoverShares:
    """Shares of subscriptions that are forwarded for a publisher's k; RegularK forwards all."""

    k: int
    regular_cover: float
    """Whatever k is; it knows none."""
    ancestor_cover: float
    rank_cover: float
    """By the longest chain, which is the rule."""
    rank_cover_first_arrived: float
    rank_cover_shortest_path: float


def cover_shares(
    ranges: Boxes, ks: Sequence[int], find: FindCovering = covering_order
) -> list[CoverShares]:
    """The shares, where the larger of two ranges ranks higher, and the earlier of two equal ones.
    Who covers whom may be found elsewhere.

    >>> nested = Boxes.closed(np.array([[0.0], [1.0], [2.0], [3.0]]), np.full((4, 1), 9.0))
    >>> [(shares.regular_cover, shares.rank_cover) for shares in cover_shares(nested, [1, 2])]
    [(0.25, 0.25), (0.25, 0.5)]
    """
    order = strict_order(ranges, find)
    ancestors, depths = order.ancestors, depth_readings(order)
    uncovered = float((ancestors == 0).mean())
    return [
        CoverShares(
            k,
            uncovered,
            float((ancestors < k).mean()),
            *(float((each <= k).mean()) for each in depths),
        )
        for k in ks
    ]


def depth_readings(order: CoveringOrder) -> tuple[Counts, Counts, Counts]:
    """The depths of boxes that arrived in the order of `nodes`, where the larger ranks higher, as
    three people may read it; all of them are sound. By the longest chain, which is the rule, since
    it forwards least; in a tree where each hangs under the immediate coverer that arrived first; by
    the shortest path.

    >>> some = Boxes.closed(np.array([[2.0], [0.0], [1.0]]), np.array([[3.0], [9.0], [4.0]]))
    >>> depth_readings(strict_order(some))[2].tolist()
    [3, 1, 2]
    """
    arrivals = np.empty_like(order.nodes)
    arrivals[order.nodes] = np.arange(order.nodes.size)
    return (
        order.depths[order.nodes],
        tree_depths(order.starts, order.parents, arrivals)[order.nodes],
        shortest_depths(order.starts, order.parents)[order.nodes],
    )


def drawn_intervals(
    count: int,
    seed: int | np.random.Generator = 0,
    sizes: tuple[float, float] = (0.3, 0.6),
    attributes: int = 1,
) -> Boxes:
    """Intervals as the rank-cover paper draws them: on one attribute, 30 to 60 % of its range wide,
    uniformly placed. Of several attributes each has its own.

    >>> some = drawn_intervals(100, sizes=(0.1, 0.2))
    >>> bool((some.highs - some.lows < 0.2).all())
    True
    """
    draw = np.random.default_rng(seed)
    widths = draw.uniform(*sizes, (count, attributes))
    lows = draw.uniform(0.0, 1.0 - widths)
    return Boxes.closed(lows, lows + widths)


def registry_ranges(registry: Registry, limits: Limits) -> Boxes:
    """The ranges that the subscriptions of a registry ask for."""
    conditions = [
        parse_any_where(subscription.where, registry.vocabulary, limits)
        for subscription in registry.subscriptions
    ]
    found = boxes(conditions, registry.vocabulary) if conditions else None
    if found is None:
        for subscription, where in zip(registry.subscriptions, conditions, strict=True):
            if boxes([where], registry.vocabulary) is None:
                raise NotRanges(
                    f"subscription {subscription.id!r}: where: expected ranges of numbers and "
                    f"nothing else, found {subscription.where!r}"
                )
        raise NotRanges("expected subscriptions that ask for ranges of numbers, found none")
    return found
