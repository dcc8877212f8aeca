"""Heights from kernels, rounded, are those that the plain bisection finds."""

from math import inf, nextafter

from hypothesis import given
from hypothesis import strategies as st

from shortlist.fuzzy.degrees import crisp_number_degrees, fuzzy_degrees
from shortlist.fuzzy.intervals import Interval
from shortlist.fuzzy.sets import Trapezoid
from shortlist.matching.fuzzy_columns import SHAPES, corners_of, shapes_of
from shortlist.matching.kernels.grades import over_range, over_rest, over_set
from shortlist.model.rounding import rounded
from tests.strategies import examples

POWERS = [1.0, 2.0, 0.5, 4.0, 0.25, 2.0**10, 2.0**-10, 2.0**1000, 2.0**-1000]
COMMON = [0.0, 1.0, 2.0, 3.0, 4.0, 0.1, 0.3, 2.5, -1.0]
ODD = [nextafter(2.0, inf), nextafter(3.0, -inf), 1e-300, 1e300, -1e300, 1.7e308, -1.7e308, 1e-9]
numbers = st.one_of(
    st.sampled_from(COMMON), st.sampled_from(COMMON + ODD), st.floats(-10, 10), st.integers(-9, 9)
).map(float)


@st.composite
def trapezoids(draw):
    corners = sorted(draw(st.tuples(numbers, numbers, numbers, numbers)))
    if draw(st.integers(0, 5)) == 0:
        corners[:2] = [-inf, -inf]
    if draw(st.integers(0, 5)) == 0:
        corners[2:] = [inf, inf]
    return Trapezoid(*corners, draw(st.sampled_from(SHAPES)), draw(st.sampled_from(SHAPES)))


def arguments(value):
    return *corners_of(value), *shapes_of(value)


@examples(150)
@given(trapezoids(), st.sampled_from(POWERS), trapezoids())
def test_two_fuzzy_numbers(target, power, published):
    high, low = fuzzy_degrees(target, power, published)
    both = arguments(target), 1 / power, *arguments(published)
    inside, outside = over_set(*both), over_rest(*both)
    assert (rounded(inside), rounded(1 - outside)) == (rounded(high), rounded(low))
    assert rounded(1 - (1 - outside)) == rounded(1 - low)


@examples(150)
@given(numbers, numbers, st.booleans(), st.booleans(), trapezoids())
def test_an_interval_and_a_fuzzy_number(low, high, low_open, high_open, published):
    interval = Interval(low, high, low_open, high_open)
    expected, _ = crisp_number_degrees([interval], published)
    found = over_range(low, high, low_open, high_open, *arguments(published))
    assert rounded(found) == rounded(expected)
