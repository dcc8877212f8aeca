import pickle
from math import cos, exp, inf, nan, nextafter, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.fuzzy.sets import (
    Graded,
    Trapezoid,
    around,
    edge_degree,
    edge_position,
    published_set,
    term_set,
    trapezoid,
)
from shortlist.model.vocabulary import Term
from tests.strategies import examples

SHAPES = ["linear", "smooth", "gauss"]
shares = st.floats(0, 1)


def test_linear_edges():
    medium = Trapezoid(40, 50, 70, 80)
    degrees = [medium.membership(x) for x in (39, 40, 42.5, 50, 60, 70, 75, 80, 81)]
    assert degrees == [0, 0, 0.25, 1, 1, 1, 0.5, 0, 0]


@pytest.mark.parametrize("u", [0.1, 0.25, 0.5, 0.9, 1.0])
def test_edges_as_the_formulas_say(u):
    assert edge_degree("linear", u) == u
    assert edge_degree("smooth", u) == pytest.approx((1 - cos(pi * u)) / 2, abs=1e-15)
    assert edge_degree("gauss", u) == pytest.approx(exp(-((3 * (1 - u)) ** 2) / 2), abs=1e-15)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_edge_is_0_at_its_foot_and_1_at_its_core(shape):
    curved = trapezoid([0, 1, 2, 3], shape=shape)
    assert [curved.membership(x) for x in (0, 1, 2, 3)] == [0, 1, 1, 0]


def test_a_gaussian_edge_jumps_just_inside_its_foot():
    gauss = trapezoid([0, 1, 2, 3], shape="gauss")
    assert gauss.membership(nextafter(0, 1)) == pytest.approx(exp(-4.5))
    assert gauss.membership(nextafter(3, 0)) == pytest.approx(exp(-4.5))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_core_wins_at_vertical_edges(shape):
    box = trapezoid([1, 1, 2, 2], shape=shape)
    degrees = [box.membership(x) for x in (nextafter(1, 0), 1, 2, nextafter(2, 3))]
    assert degrees == [0, 1, 1, 0]
    assert trapezoid([5, 5, 5, 5], shape=shape).membership(5) == 1


def test_infinite_ends():
    cheap = trapezoid([None, None, 1200, 1500])
    assert [cheap.membership(x) for x in (-1e308, 1200, 1350, 1500)] == [1, 1, 0.5, 0]
    dear = trapezoid([2000, 3000, None, None], shape="smooth")
    assert [dear.membership(x) for x in (2000, 3000, 1e308)] == [0, 1, 1]
    assert dear.membership(2500) == pytest.approx(0.5)
    assert trapezoid([None] * 4).membership(-7) == 1


def test_left_and_right_override_shape():
    assert trapezoid([0, 1, 2, 3], shape="gauss", left="smooth") == Trapezoid(
        0, 1, 2, 3, "smooth", "gauss"
    )
    assert trapezoid([0, 1, 2, 3], right="gauss") == Trapezoid(0, 1, 2, 3, "linear", "gauss")


def test_values_at_the_end_of_the_doubles():
    wide = Trapezoid(-1.7e308, 1.7e308, 1.7e308, 1.7e308)
    assert wide.membership(0) == 0.5
    assert trapezoid([0, 1, None, None]).membership(10**400) == 1
    assert trapezoid([0, 1, 2, 3]).membership(-(10**400)) == 0
    tiny = Trapezoid(0, 1e-323, 1, 1)
    assert tiny.membership(5e-324) == 0.5


@given(st.sampled_from(SHAPES), shares.filter(bool))
def test_edge_position_inverts_edge_degree(shape, u):
    degree = edge_degree(shape, u)
    if degree >= 1e-300:  # smaller ones have lost digits
        assert edge_degree(shape, edge_position(shape, degree)) == pytest.approx(
            degree, rel=1e-12, abs=0
        )


@given(st.sampled_from(SHAPES), shares, shares)
def test_edges_rise(shape, u, v):
    low, high = sorted((u, v))
    assert edge_degree(shape, low) <= edge_degree(shape, high) <= 1
    assert edge_position(shape, low) <= edge_position(shape, high) <= 1


@examples(50)
@given(
    st.lists(st.integers(-400, 400), min_size=4, max_size=4),
    st.lists(st.integers(-420, 420), min_size=1, max_size=30),
)
def test_linear_trapezoids_agree_with_scikit_fuzzy(corners, points):
    skfuzzy = pytest.importorskip("skfuzzy")
    corners = [corner / 4 for corner in sorted(corners)]
    xs = np.array(sorted(points)) / 4
    ours = [Trapezoid(*corners).membership(x) for x in xs]
    np.testing.assert_allclose(ours, skfuzzy.trapmf(xs, corners), atol=1e-12)


@pytest.mark.parametrize(
    ("corners", "message"),
    [
        ([4, 3, 5, 6], r"must not decrease: 4.0, 3.0, 5.0, 6.0"),
        ([1, 2, 4, 3], "must not decrease"),
        ([1, 3, 2, 4], "must not decrease"),
        ([None, 2, 3, 4], "first two corners .* both null"),
        ([1, None, 3, 4], "first two corners"),
        ([1, 2, 3, None], "last two corners"),
        ([1, 2, None, 4], "last two corners"),
        ([1, 2, 3], "four corners, not 3"),
        ([1, 2, 3, nan], "finite"),
        ([-inf, 2, 3, 4], "finite"),
        ([1, 2, 3, 10**400], "finite"),
        ([False, 2, 3, 4], "expected a number, not False"),
        (["1", 2, 3, 4], "expected a number, not '1'"),
    ],
)
def test_wrong_corners(corners, message):
    with pytest.raises(ValueError, match=message):
        trapezoid(corners)


@pytest.mark.parametrize(
    "corners",
    [(inf, inf, inf, inf), (-inf, -inf, -inf, -inf), (nan, 1, 2, 3), (0, inf, inf, inf)],
)
def test_wrong_infinities(corners):
    with pytest.raises(ValueError, match="corners"):
        Trapezoid(*corners)


def test_wrong_shape():
    with pytest.raises(ValueError, match="expected linear, smooth or gauss, not 'round'"):
        trapezoid([1, 2, 3, 4], shape="round")


def test_around():
    assert around(1400, 100) == Trapezoid(1300, 1400, 1400, 1500)
    assert around(3, 0).membership(3) == 1
    with pytest.raises(ValueError, match="must not be negative: -1"):
        around(3, -1)
    with pytest.raises(ValueError, match="finite"):
        around(1e308, 1e308)


def test_graded():
    bright = Graded({"happy": 1, "calm": 0.4})
    assert [bright.membership(mood) for mood in ("happy", "calm", "sad")] == [1, 0.4, 0]


@pytest.mark.parametrize(
    ("degrees", "message"),
    [
        ({}, "some value must have degree 1"),
        ({"a": 0.9}, "some value must have degree 1"),
        ({"a": 1, "b": 1.1}, "degree of 'b' must lie between 0 and 1"),
        ({"a": 1, "b": -0.1}, "degree of 'b'"),
        ({"a": 1, "b": nan}, "finite"),
        ({"a": True}, "expected a number, not True"),
        ({"a": 1, 2: 1}, "expected a string as value, not 2"),
    ],
)
def test_wrong_grades(degrees, message):
    with pytest.raises(ValueError, match=message):
        Graded(degrees)


def test_a_graded_set_keeps_its_own_degrees():
    degrees = {"a": 1.0}
    graded = Graded(degrees)
    degrees["a"] = 0.0
    assert graded.membership("a") == 1


@pytest.mark.parametrize("fuzzy", [Graded({"a": 1, "b": 0.5}), around(1, 2)])
def test_sets_travel(fuzzy):
    assert pickle.loads(pickle.dumps(fuzzy)) == fuzzy


def test_terms():
    assert term_set(Term(trapezoid=(None, None, 1200, 1500), right="smooth")) == trapezoid(
        [None, None, 1200, 1500], right="smooth"
    )
    assert term_set(Term(values={"happy": 1, "calm": 0.4})) == Graded({"happy": 1, "calm": 0.4})


@pytest.mark.parametrize(
    ("term", "message"),
    [
        (Term(), "either a trapezoid or values"),
        (Term(trapezoid=(1, 2, 3, 4), values={"a": 1}), "either a trapezoid or values"),
        (Term(values={"a": 1}, shape="smooth"), "shape, left and right belong to a trapezoid"),
        (Term(values={"a": 1}, left="linear"), "shape, left and right"),
        (Term(values={"a": 0.5}), "some value must have degree 1"),
        (Term(trapezoid=(2, 1, 3, 4)), "must not decrease"),
    ],
)
def test_wrong_terms(term, message):
    with pytest.raises(ValueError, match=message):
        term_set(term)


TERMS = {"cheap": trapezoid([None, None, 1200, 1500])}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"term": "cheap"}, TERMS["cheap"]),
        ({"trapezoid": [1, 2, 3, 4]}, Trapezoid(1, 2, 3, 4)),
        ({"trapezoid": [1, 2, None, None]}, Trapezoid(1, 2, inf, inf)),
        ({"trapezoid": (1, 2, 3, 4), "shape": "smooth"}, trapezoid([1, 2, 3, 4], "smooth")),
        ({"trapezoid": [1, 2, 3, 4], "left": "gauss"}, Trapezoid(1, 2, 3, 4, "gauss")),
        ({"trapezoid": [1, 2, 3, 4], "shape": None}, Trapezoid(1, 2, 3, 4)),
        ({"between": [1, 2]}, Trapezoid(1, 1, 2, 2)),
        ({"between": [2, 2]}, Trapezoid(2, 2, 2, 2)),
        ({"between": [None, 2]}, Trapezoid(-inf, -inf, 2, 2)),
        ({"between": [None, None]}, Trapezoid(-inf, -inf, inf, inf)),
        ({"between": [1, 2], "term": None}, Trapezoid(1, 1, 2, 2)),
        ({"values": {"a": 1, "b": 0.2}}, Graded({"a": 1, "b": 0.2})),
    ],
)
def test_published(document, expected):
    assert published_set(document, TERMS) == expected


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"term": "dear"},
        {"term": None},
        {"term": 3},
        {"term": ["cheap"]},
        {"term": "cheap", "more": 1},
        {"term": "cheap", "between": [1, 2]},
        {"trapezoid": [1, 2, 3]},
        {"trapezoid": [4, 3, 2, 1]},
        {"trapezoid": [None, 2, 3, 4]},
        {"trapezoid": "1234"},
        {"trapezoid": {"0": 1}},
        {"trapezoid": [1, 2, 3, "4"]},
        {"trapezoid": [1, 2, 3, True]},
        {"trapezoid": [1, 2, 3, nan]},
        {"trapezoid": [1, 2, 3, inf]},
        {"trapezoid": [1, 2, 3, 10**400]},
        {"trapezoid": [1, 2, 3, [4]]},
        {"trapezoid": [1, 2, 3, 4], "shape": "round"},
        {"trapezoid": [1, 2, 3, 4], "left": ["gauss"]},
        {"trapezoid": [1, 2, 3, 4], "more": 1},
        {"between": [2, 1]},
        {"between": [1]},
        {"between": [1, 2, 3]},
        {"between": [1, 2], "shape": "linear"},
        {"between": 5},
        {"values": {}},
        {"values": {"a": 0.5}},
        {"values": {"a": 2}},
        {"values": {"a": True}},
        {"values": {"a": None}},
        {"values": {"a": 1, "b": "x"}},
        {"values": ["a"]},
        {"values": {"a": 1}, "shape": "linear"},
        {"city": "Pisa"},
    ],
)
def test_published_malformed_is_absent(document):
    assert published_set(document, TERMS) is None


scalars = st.sampled_from([None, True, 0, 1, 2.5, -3, nan, inf, 10**400, "cheap", "smooth", "x"])
parts = scalars | st.lists(scalars, max_size=5) | st.dictionaries(st.sampled_from("abc"), scalars)
KEYS = st.sampled_from(["term", "trapezoid", "between", "values", "shape", "left", "x"])


@examples(100)
@given(st.dictionaries(KEYS, parts, max_size=3))
def test_published_takes_any_document(document):
    assert isinstance(published_set(document, TERMS), Trapezoid | Graded | None)
