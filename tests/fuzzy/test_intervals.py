from itertools import pairwise
from math import inf, nan

from hypothesis import given
from hypothesis import strategies as st

from shortlist.fuzzy.intervals import REALS, Interval, complement, normalised, point
from tests.strategies import examples

# few whole ends make shared ones likely; halves see the inside of every gap
ENDS = st.sampled_from([-inf, *map(float, range(-4, 5)), inf])
SAMPLES = [x / 2 for x in range(-10, 11)] + [-1e300, 1e300]

intervals = st.builds(Interval, ENDS, ENDS, st.booleans(), st.booleans())
unions = st.lists(intervals, max_size=6)


def holds(interval, x):
    return (interval.low < x or (interval.low == x and not interval.low_open)) and (
        x < interval.high or (x == interval.high and not interval.high_open)
    )


def covered(union, x):
    return any(holds(interval, x) for interval in union)


@given(intervals)
def test_empty_means_that_nothing_is_inside(interval):
    assert interval.is_empty == (not any(holds(interval, x) for x in SAMPLES))


@given(intervals, intervals)
def test_intersection_holds_what_both_hold(one, other):
    common = one.intersection(other)
    for x in SAMPLES:
        assert holds(common, x) == (holds(one, x) and holds(other, x))
    assert one.meets(other) == other.meets(one) == (not common.is_empty)
    assert one.meets(other) == any(holds(one, x) and holds(other, x) for x in SAMPLES)


@examples(100)
@given(unions)
def test_normalised_holds_the_same_points(union):
    components = normalised(union)
    for x in SAMPLES:
        assert covered(components, x) == covered(union, x)
    assert normalised(components) == components


@examples(100)
@given(unions)
def test_complement_holds_the_other_points(union):
    outside = complement(union)
    for x in SAMPLES:
        assert covered(outside, x) != covered(union, x)


@examples(100)
@given(unions)
def test_complement_of_the_complement_is_the_union(union):
    assert complement(complement(union)) == normalised(union)


@examples(100)
@given(unions)
def test_components_are_sorted_apart_and_maximal(union):
    for components in (normalised(union), complement(union)):
        assert not any(component.is_empty for component in components)
        for left, right in pairwise(components):
            missing = Interval(left.high, right.low, not left.high_open, not right.low_open)
            assert not missing.is_empty


@given(unions)
def test_order_and_repetition_do_not_matter(union):
    assert normalised(reversed(union)) == normalised(union) == normalised(union + union)


def test_everything_and_nothing():
    assert complement([]) == (REALS,)
    assert complement([REALS]) == ()
    assert normalised([]) == ()


def test_a_point_closes_two_open_ends():
    two = [Interval(1, 2, high_open=True), Interval(2, 3, low_open=True)]
    assert len(normalised(two)) == 2
    assert complement(two) == (
        Interval(-inf, 1, high_open=True),
        point(2),
        Interval(3, inf, low_open=True),
    )
    assert normalised([*two, point(2)]) == (Interval(1, 3),)


def test_an_infinite_end_is_open():
    assert Interval(-inf, inf) == Interval(-inf, inf, low_open=True, high_open=True)
    assert not holds(REALS, inf)
    assert Interval(inf, inf).is_empty


def test_integers_beyond_doubles_compare_exactly():
    assert holds(Interval(0, inf), 10**400)
    assert not holds(Interval(0, 1e308), 10**400)
    assert not holds(point(float(2**53)), 2**53 + 1)


def test_nan_is_nowhere():
    assert not holds(REALS, nan)
    assert Interval(nan, 1).is_empty
