"""Boxes ordered at once: against all pairs, and the figures of the rank-cover paper."""

from math import inf

import numpy as np
import pytest
from numpy.random import Generator, default_rng

from shortlist.covering.condition_graph import Boxes, interval_order
from shortlist.covering.slices import CoveringOrder


def some_boxes(draw: Generator, count: int, attributes: int) -> Boxes:
    """With few values for the ends, infinite ones too, some of which are closed."""
    shape = count, attributes
    lows = draw.choice([-inf, 0.0, 1.0, 2.0, 3.0], shape)
    highs = draw.choice([inf, 0.0, 1.0, 2.0, 3.0], shape)
    return Boxes(lows, highs, draw.random(shape) < 0.5, draw.random(shape) < 0.5)


def covering(boxes: Boxes) -> np.ndarray:
    """Whether each box (row) covers each (column), end by end."""

    def reaches_as_far(ends: np.ndarray, is_open: np.ndarray) -> np.ndarray:
        one, other = ends[:, None, :], ends[None, :, :]
        holds_it = ~is_open[:, None, :] | is_open[None, :, :]
        return ((one < other) | ((one == other) & holds_it)).all(axis=2)

    return reaches_as_far(boxes.lows, boxes.low_open) & reaches_as_far(
        -boxes.highs, boxes.high_open
    )


def check(boxes: Boxes) -> None:
    order = interval_order(boxes)
    covers = covering(boxes)
    same_node = order.nodes[:, None] == order.nodes[None, :]
    assert np.array_equal(same_node, covers & covers.T)
    firsts = np.unique(order.nodes, return_index=True)[1]
    strictly = (covers & ~covers.T)[np.ix_(firsts, firsts)]
    transitive = (strictly.astype(int) @ strictly.astype(int)) > 0
    assert sorted(order.edges()) == list(map(tuple, np.argwhere(strictly & ~transitive)))
    assert np.array_equal(order.ancestors, strictly.sum(axis=0))
    for node, depth in enumerate(order.depths):
        assert depth == 1 + max(order.depths[strictly[:, node]], default=0)


@pytest.mark.parametrize("attributes", [0, 1, 2, 3])
def test_the_order_is_that_of_all_pairs(attributes: int) -> None:
    draw = default_rng(attributes)
    for _ in range(1000):
        check(some_boxes(draw, int(draw.integers(0, 12)), attributes))
    check(some_boxes(draw, 300, attributes))


def test_two_ends_of_different_attributes_are_swept_too() -> None:
    draw = default_rng(7)
    for _ in range(300):
        boxes = some_boxes(draw, 10, 2)
        boxes.highs[:] = inf
        boxes.high_open[:] = True
        check(boxes)


def paper_intervals(count: int, seed: int) -> CoveringOrder:
    """Intervals on one attribute that take 30 to 60 % of its range, uniformly placed."""
    draw = default_rng(seed)
    width = draw.uniform(0.3, 0.6, (count, 1))
    low = draw.uniform(0.0, 1.0 - width)
    return interval_order(Boxes.closed(low, low + width))


def test_figures_of_the_rank_cover_paper() -> None:
    order = paper_intervals(10_000, seed=1)
    assert np.mean(order.ancestors == 0) == pytest.approx(0.015, abs=0.002)
    assert np.mean(order.ancestors < 10) == pytest.approx(0.058, abs=0.003)
    assert np.mean(order.ancestors >= 1000) == pytest.approx(0.34, abs=0.02)
    assert np.mean(order.depths <= 10) == pytest.approx(0.15, abs=0.01)
    assert np.array_equal(order.depths == 1, order.ancestors == 0)


def test_fewer_roots_among_more_intervals() -> None:
    order = paper_intervals(50_000, seed=2)
    assert np.mean(order.ancestors == 0) == pytest.approx(0.0067, abs=0.0006)
