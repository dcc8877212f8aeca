"""`round9` says what Python's `round` says, to the last bit."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numba import njit

from shortlist.matching.kernels.rounding import round9
from shortlist.model.rounding import rounded
from tests.strategies import examples

MANY = 300_000


@njit
def round9_all(values):
    results = np.empty_like(values)
    for at, value in enumerate(values):
        results[at] = round9(value)
    return results


def near_halves(draw, largest):
    """Doubles beside halves of the ninth decimal."""
    halves = (draw.integers(-largest, largest, MANY // 3) + 0.5) / 1e9
    return np.concatenate([halves, np.nextafter(halves, math.inf), np.nextafter(halves, -math.inf)])


def ties(draw):
    """Halves that are doubles: odd multiples of 2^-10, as 1e9 is 2^9 times an odd number."""
    return (2.0 * draw.integers(-(2**32), 2**32, MANY) + 1.0) / 2.0**10


FAMILIES = {
    "degrees": lambda draw: draw.random(MANY),
    "scores": lambda draw: draw.normal(0.0, 1e3, MANY),
    "small halves": lambda draw: near_halves(draw, 10**6),
    "middle halves": lambda draw: near_halves(draw, 10**12),
    "large halves": lambda draw: near_halves(draw, 8 * 10**15),
    "ties": ties,
    "short fractions": lambda draw: np.ldexp(
        draw.integers(-(2**53), 2**53, MANY).astype(np.float64), draw.integers(-90, -20, MANY)
    ),
    "any bits": lambda draw: draw.integers(0, 2**64, MANY, dtype=np.uint64).view(np.float64),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_equals_rounding_by_python(family):
    values = FAMILIES[family](np.random.default_rng(9))
    values = values[np.isfinite(values)]
    expected = np.array([rounded(value) for value in values.tolist()])
    found = round9_all(values)
    differs = np.flatnonzero(found.view(np.uint64) != expected.view(np.uint64))
    assert not differs.size, (values[differs[0]], found[differs[0]], expected[differs[0]])


def test_families_have_products_that_cross_a_half():
    """Otherwise they could not tell `round9` from a plain rounding of the product."""
    values = near_halves(np.random.default_rng(9), 10**12)
    assert np.any(np.rint(values * 1e9) / 1e9 + 0.0 != round9_all(values))


@examples(500)
@given(st.floats(allow_nan=False, allow_infinity=False))
@example(0.5e-9)
@example(-0.5e-9)
@example(-0.0)
@example(5e-324)
@example(2.0**23)
@example(math.nextafter(2.0**23, 0.0))
@example(1.7976931348623157e308)
def test_equals_rounding_of_any_number(value):
    found = round9(value)
    assert found == rounded(value)
    assert math.copysign(1.0, found) == math.copysign(1.0, rounded(value))


def test_what_is_not_finite_stays_so():
    assert math.isnan(round9(math.nan))
    assert round9(math.inf) == math.inf
    assert round9(-math.inf) == -math.inf
