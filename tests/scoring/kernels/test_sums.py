"""`exact_sum` says what `math.fsum` says."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shortlist.scoring.kernels.cosines import exact_sum
from tests.strategies import examples

MANY = 4_000


def summed(values) -> float:
    return exact_sum(np.array(values, np.float64))


def cancelling(draw, size):
    """Large numbers, their opposites, and what is left of them."""
    large = draw.normal(0.0, 1.0, size) * 10.0 ** draw.integers(-10, 20, size)
    values = np.concatenate([large, -large, draw.normal(0.0, 1.0, size)])
    return draw.permutation(values)


def halfway(draw, size):
    """Sums beside the middle of two doubles, where the smallest number decides."""
    tiny = draw.choice([2.0**-200, -(2.0**-200), 0.0])
    unit = 2.0 ** draw.integers(-53, 60)
    return draw.permutation([1.0, 2.0**-53, tiny, *np.zeros(size)]) * unit


FAMILIES = {
    "one size": lambda draw, size: draw.normal(0.0, 1.0, size),
    "positive": lambda draw, size: draw.random(size),
    "all sizes": lambda draw, size: (
        draw.normal(0.0, 1.0, size) * 2.0 ** draw.integers(-900, 900, size)
    ),
    "smallest": lambda draw, size: draw.integers(-9, 10, size) * 5e-324,
    "cancelling": cancelling,
    "halfway": halfway,
}


@pytest.mark.parametrize("family", FAMILIES)
def test_equals_the_sum_by_python(family):
    draw = np.random.default_rng(3)
    for _ in range(MANY):
        values = FAMILIES[family](draw, draw.integers(0, 40))
        assert summed(values) == math.fsum(values), values.tolist()


@examples(250)
@given(st.lists(st.floats(-1e300, 1e300), max_size=8))
@example([1e16, 1.0, 1e-16])
@example([1.0, 2.0**-53, 2.0**-106])
@example([-0.0])
@example([])
def test_equals_the_sum_of_any_numbers(values):
    found = summed(values)
    assert found == math.fsum(values)
    assert math.copysign(1.0, found) == math.copysign(1.0, math.fsum(values))


@pytest.mark.parametrize("values", [[1e308, 1e308], [1e308, 1e308, -1e308], [math.inf, 1.0]])
def test_beyond_all_doubles_it_is_not_finite(values):
    assert not math.isfinite(summed(values))
