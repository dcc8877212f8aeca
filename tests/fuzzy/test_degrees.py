from itertools import pairwise
from math import exp, inf, nextafter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.fuzzy.degrees import (
    FALSE,
    TRUE,
    Degrees,
    best,
    crisp_number_degrees,
    crisp_text_degrees,
    fuzzy_degrees,
    hedge_power,
    negation,
)
from shortlist.fuzzy.intervals import Interval, complement, point
from shortlist.fuzzy.sets import Graded, Trapezoid, around, trapezoid
from shortlist.model.rounding import rounded
from tests.fuzzy.test_intervals import covered
from tests.strategies import examples

FOOT = exp(-4.5)
SHAPES = ["linear", "smooth", "gauss"]
POWERS = [1.0, 2.0, 4.0, 0.5, 0.25]
FAR = 60.0  # beyond every corner that is drawn

corner_lists = st.lists(st.integers(-20, 20), min_size=4, max_size=4).map(
    lambda corners: [corner / 2 for corner in sorted(corners)]
)
powers = st.sampled_from(POWERS)
shares = st.integers(0, 10).map(lambda tenths: tenths / 10)
graded = st.dictionaries(st.sampled_from("abcde"), shares, min_size=1).map(
    lambda degrees: Graded({**degrees, min(degrees): 1.0})
)
ends = st.sampled_from([-inf, *(half / 2 for half in range(-20, 21)), inf])
unions = st.lists(st.builds(Interval, ends, ends, st.booleans(), st.booleans()), max_size=4)


@st.composite
def trapezoids(draw):
    corners = draw(corner_lists)
    if draw(st.integers(0, 4)) == 0:
        corners[:2] = [None, None]
    if draw(st.integers(0, 4)) == 0:
        corners[2:] = [None, None]
    shapes = st.sampled_from(SHAPES)
    return trapezoid(corners, left=draw(shapes), right=draw(shapes))


def edge(shape, u):
    if shape == "linear":
        return u
    if shape == "smooth":
        return (1 - np.cos(np.pi * u)) / 2
    return np.exp(-((3 * (1 - u)) ** 2) / 2)


def read_off(target, power=1.0):
    """The membership as the formulas say, on an array."""

    def membership(xs):
        degrees = np.where((xs >= target.m2) & (xs <= target.m3), 1.0, 0.0)
        for foot, core, shape in (
            (target.m1, target.m2, target.left),
            (target.m4, target.m3, target.right),
        ):
            inside = (xs > min(foot, core)) & (xs < max(foot, core))
            degrees[inside] = edge(shape, (xs[inside] - foot) / (core - foot))
        return degrees**power

    return membership


def holding(union):
    return lambda xs: np.array([float(covered(union, x)) for x in xs])


def supremum(function, corners):
    """The highest value, by zooming in between the corners, where the minimum of a rising and a
    falling function has one top."""
    marks = sorted({-FAR, FAR, *(corner for corner in corners if abs(corner) < inf)})
    beside = [nextafter(mark, side) for mark in marks for side in (-inf, inf)]
    found = function(np.array(marks + beside)).max()
    for low, high in pairwise(marks):
        xs = np.linspace(nextafter(low, inf), nextafter(high, -inf), 41)
        for _ in range(6):
            values = function(xs)
            top = int(values.argmax())
            xs = np.linspace(xs[max(top - 1, 0)], xs[min(top + 1, 40)], 41)
        found = max(found, values.max())
    return float(found)


def brute_force(membership, published, corners):
    """The definitions: sup min(membership, published) and inf max(membership, 1 - published)."""
    value = read_off(published)
    corners = [*corners, published.m1, published.m2, published.m3, published.m4]
    possibility = supremum(lambda xs: np.minimum(membership(xs), value(xs)), corners)
    doubt = supremum(lambda xs: np.minimum(1 - membership(xs), value(xs)), corners)
    return Degrees(possibility, 1 - doubt)


def corners_of(target):
    return [target.m1, target.m2, target.m3, target.m4]


def point_at(x):
    return Trapezoid(x, x, x, x)


def approximately(degrees, tolerance=1e-12):
    return pytest.approx(tuple(degrees), abs=tolerance)


def test_known_answers():
    medium, old = trapezoid([40, 50, 70, 80]), trapezoid([40, 80, None, None])
    assert fuzzy_degrees(medium, 1, 75) == Degrees(0.5, 0.5)
    assert negation(fuzzy_degrees(old, hedge_power(["very"]), 60)) == Degrees(0.75, 0.75)
    cheap = trapezoid([None, None, 1200, 1500])
    assert fuzzy_degrees(around(1400, 100), 1, cheap) == Degrees(0.5, 0)


def test_hedges():
    assert hedge_power([]) == 1
    assert hedge_power(["very"]) == 2
    assert hedge_power(["somewhat", "somewhat"]) == 0.25
    assert hedge_power(["very", "somewhat"]) == 1
    for hedge in ("very", "somewhat"):
        power = hedge_power([hedge] * 5000)
        assert fuzzy_degrees(around(0, 1), power, 0) == TRUE
        assert fuzzy_degrees(around(0, 1), power, 2) == FALSE
        assert fuzzy_degrees(around(0, 1), power, around(1, 1)) is not None


def test_linear_against_linear_in_closed_form():
    # edges of width 3 and 5 towards each other over a gap of 2
    degrees = fuzzy_degrees(trapezoid([None, None, 0, 3]), 1, trapezoid([-3, 2, 4, 4]))
    assert degrees.possibility == pytest.approx(1 - 2 / 8, abs=1e-15)
    # the complement falls from 1 to 0 over [0, 1], the value rises over [0, 2]: they cross at 1/3
    degrees = fuzzy_degrees(trapezoid([0, 1, 9, 10]), 1, trapezoid([0, 2, 8, 10]))
    assert degrees == approximately((1, 1 - 1 / 3), 1e-15)


def test_cores_that_meet_are_fully_possible():
    assert fuzzy_degrees(trapezoid([0, 1, 2, 3]), 4, trapezoid([2, 2, 5, 6])).possibility == 1
    assert fuzzy_degrees(trapezoid([0, 1, 2, 3]), 1, trapezoid([3, 4, 5, 6])).possibility == 0
    assert fuzzy_degrees(trapezoid([0, 1, 2, 3]), 1, trapezoid([4, 4, 5, 6])) == FALSE


def test_certain_only_if_the_core_holds_the_support():
    target = trapezoid([0, 10, 20, 30])
    assert fuzzy_degrees(target, 1, trapezoid([10, 12, 15, 20])) == TRUE
    assert fuzzy_degrees(target, 1, trapezoid([None] * 4)) == Degrees(1, 0)
    assert fuzzy_degrees(trapezoid([None] * 4), 1, trapezoid([None] * 4)) == TRUE


def test_a_value_published_as_its_own_term_is_half_certain():
    for shape in ("linear", "smooth"):
        target = trapezoid([0, 10, 20, 30], shape)
        assert fuzzy_degrees(target, 1, target) == approximately((1, 0.5))


def test_a_gaussian_foot_is_open():
    gauss = trapezoid([0, 0, 0, 1], "gauss")
    assert fuzzy_degrees(gauss, 1, point_at(1)) == FALSE
    assert crisp_number_degrees([Interval(1, inf)], gauss) == FALSE
    assert crisp_number_degrees([Interval(-inf, 1, high_open=True)], gauss) == TRUE
    last = [Interval(nextafter(1, 0), inf)]
    assert crisp_number_degrees(last, gauss) == approximately((FOOT, 0))
    # the complement is 1 at the foot, and jumps there too
    below = trapezoid([0, 0, nextafter(1, 0), nextafter(1, 0)])
    assert fuzzy_degrees(gauss, 1, below) == approximately((1, FOOT))
    assert fuzzy_degrees(gauss, 1, trapezoid([0, 0, 1, 1])) == Degrees(1, 0)


def test_two_jumps_at_one_foot():
    # right of 0 the value jumps up to 0.011 and the complement down to 0.009: nowhere are both
    # above that, though either is on its own side
    peak = trapezoid([0, 1, 1, 1], "gauss")
    power = hedge_power(["somewhat"] * 9)
    assert fuzzy_degrees(peak, power, peak) == approximately((1, FOOT**power))


@pytest.mark.parametrize("shape", SHAPES)
def test_an_open_end_beside_a_peak(shape):
    peak = trapezoid([4, 5, 5, 6], shape)
    above, other = Interval(5, inf, low_open=True), complement([point(5)])
    assert crisp_number_degrees([above], peak) == Degrees(1, 0)
    assert crisp_number_degrees([Interval(5, inf)], peak) == Degrees(1, 0)
    assert crisp_number_degrees(other, peak) == Degrees(1, 0)
    assert crisp_number_degrees([point(5)], peak) == Degrees(1, 0)
    exact = trapezoid([5, 5, 5, 5], shape)
    assert crisp_number_degrees([above], exact) == FALSE
    assert crisp_number_degrees(other, exact) == FALSE
    assert crisp_number_degrees([point(5)], exact) == TRUE


def test_comparison_with_an_edge():
    rent = trapezoid([300, 400, 500, 600])
    assert crisp_number_degrees([Interval(-inf, 325)], rent) == Degrees(0.25, 0)
    assert crisp_number_degrees([Interval(-inf, 575)], rent) == Degrees(1, 0.75)
    assert crisp_number_degrees([Interval(-inf, 600, high_open=True)], rent) == TRUE
    assert crisp_number_degrees([Interval(-inf, 300)], rent) == FALSE
    assert crisp_number_degrees([], rent) == FALSE


def test_strings():
    bright = Graded({"happy": 1, "calm": 0.4})
    assert fuzzy_degrees(bright, 1, "calm") == Degrees(0.4, 0.4)
    assert fuzzy_degrees(bright, 2, "sad") == FALSE
    assert fuzzy_degrees(bright, 0.5, Graded({"calm": 1, "sad": 0.3})) == approximately(
        (0.4**0.5, 0.4**0.5)
    )
    assert fuzzy_degrees(bright, 1, Graded({"calm": 1, "sad": 0.7})) == approximately((0.4, 0.3))
    assert crisp_text_degrees("happy".__eq__, Graded({"happy": 0.5, "calm": 1})) == Degrees(0.5, 0)


def test_types_that_do_not_meet():
    number, text = around(1, 2), Graded({"a": 1})
    assert fuzzy_degrees(number, 1, "a") is None
    assert fuzzy_degrees(number, 1, text) is None
    assert fuzzy_degrees(number, 1, True) is None
    assert fuzzy_degrees(text, 1, 1.0) is None
    assert fuzzy_degrees(text, 1, number) is None


def test_best():
    assert best([Degrees(0.5, 0.5), Degrees(0.25, 0.25)]) == Degrees(0.5, 0.5)
    assert best([FALSE]) == FALSE


@examples(166)
@given(trapezoids(), powers, trapezoids())
def test_fuzzy_numbers_against_brute_force(target, power, published):
    expected = brute_force(read_off(target, power), published, corners_of(target))
    assert fuzzy_degrees(target, power, published) == approximately(expected, 1e-5)


@examples(83)
@given(unions, trapezoids())
def test_comparisons_against_brute_force(union, published):
    corners = [end for part in union for end in (part.low, part.high)]
    expected = brute_force(holding(union), published, corners)
    assert crisp_number_degrees(union, published) == approximately(expected, 1e-5)


@examples(100)
@given(graded, powers, graded)
def test_strings_against_the_definition(target, power, published):
    texts = "abcdef"
    mu = {text: target.membership(text) ** power for text in texts}
    pi = {text: published.membership(text) for text in texts}
    assert fuzzy_degrees(target, power, published) == (
        max(min(mu[text], pi[text]) for text in texts),
        min(max(mu[text], 1 - pi[text]) for text in texts),
    )


@examples(166)
@given(trapezoids(), powers, trapezoids())
def test_possible_before_certain(target, power, published):
    possibility, necessity = fuzzy_degrees(target, power, published)
    assert 0 <= necessity <= possibility <= 1


@examples(166)
@given(unions, trapezoids())
def test_duality_of_comparisons(union, published):
    degrees = crisp_number_degrees(union, published)
    outside = crisp_number_degrees(complement(union), published)
    assert outside == approximately(negation(degrees))
    assert degrees.possibility == 1 or degrees.necessity == 0


@examples(100)
@given(graded, st.sets(st.sampled_from("abcdef")))
def test_duality_of_comparisons_on_strings(published, wanted):
    degrees = crisp_text_degrees(wanted.__contains__, published)
    outside = crisp_text_degrees(lambda text: text not in wanted, published)
    assert outside == approximately(negation(degrees))


@examples(100)
@given(trapezoids(), powers, st.integers(-50, 50).map(lambda quarters: quarters / 4))
def test_a_crisp_value_is_the_distribution_at_one_point(target, power, x):
    degrees = fuzzy_degrees(target, power, x)
    assert degrees == (target.membership(x) ** power,) * 2
    assert fuzzy_degrees(target, power, point_at(x)) == approximately(degrees)


@examples(83)
@given(trapezoids(), trapezoids())
def test_unhedged_possibility_is_symmetric(one, other):
    assert fuzzy_degrees(one, 1, other).possibility == fuzzy_degrees(other, 1, one).possibility


@examples(83)
@given(trapezoids(), powers, trapezoids())
def test_left_and_right_are_alike(target, power, published):
    def mirrored(fuzzy):
        return Trapezoid(-fuzzy.m4, -fuzzy.m3, -fuzzy.m2, -fuzzy.m1, fuzzy.right, fuzzy.left)

    assert fuzzy_degrees(mirrored(target), power, mirrored(published)) == fuzzy_degrees(
        target, power, published
    )


@examples(83)
@given(trapezoids(), powers, trapezoids(), st.sampled_from([2.0**1019, 2.0**-1000, -(2.0**40)]))
def test_scale_does_not_matter(target, power, published, change):
    """A huge or a tiny unit, or (negative) a distant origin."""

    def moved(fuzzy):
        corners = corners_of(fuzzy)
        corners = [m - change if change < 0 else m * change for m in corners]
        return Trapezoid(*corners, fuzzy.left, fuzzy.right)

    assert fuzzy_degrees(moved(target), power, moved(published)) == approximately(
        fuzzy_degrees(target, power, published)
    )


@examples(83)
@given(trapezoids(), powers, trapezoids())
def test_very_is_harder_and_somewhat_easier(target, power, published):
    plain = fuzzy_degrees(target, power, published)
    very = fuzzy_degrees(target, 2 * power, published)
    assert very.possibility <= plain.possibility + 1e-12
    assert very.necessity <= plain.necessity + 1e-12


@examples(83)
@given(st.lists(st.tuples(shares, shares), min_size=1, max_size=5))
def test_negation_of_the_best_is_the_worst_negation(pairs):
    elements = [Degrees(max(pair), min(pair)) for pair in pairs]
    worst = negation(best(elements))
    assert worst.possibility == min(negation(each).possibility for each in elements)
    assert negation(worst) == approximately(best(elements))


def test_rounding_hides_the_bisection():
    degrees = fuzzy_degrees(trapezoid([0, 1, 2, 5]), 1, trapezoid([0, 9, 10, 11]))
    assert rounded(degrees.possibility) == rounded(5 / 12)
