"""How far publications lie apart: numbers on a scale, and values that are the same or different."""

import pytest

from shortlist.model.aspects import Aspect
from shortlist.model.publication import Publication
from shortlist.selection.differences import Differences

A, B = Aspect(("a",), None), Aspect(("b", "c"), 4.0)


def of(*aspects):
    differences = Differences(aspects)

    def compare(one, other):
        """Whether two differ, and how far they are apart; in either order."""
        traits = [
            differences.traits(Publication(id=name, source=name, time=0, position=0, data=data))
            for name, data in (("x", one), ("y", other))
        ]
        there, back = differences.distance(*traits), differences.distance(*reversed(traits))
        assert there == back
        return traits[0] != traits[1], there

    return compare


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (1, 1.0, (False, 0.0)),
        (1, True, (True, 1.0)),
        (0, False, (True, 1.0)),
        (1, "1", (True, 1.0)),
        (None, 0, (True, 1.0)),
        ("x", "y", (True, 1.0)),
        ([1, True], [1.0, True], (False, 0.0)),
        ([1, 2], [2, 1], (True, 1.0)),
        ([1], [True], (True, 1.0)),
        ([], {}, (True, 1.0)),
        ({"x": 1, "y": [2]}, {"y": [2.0], "x": 1}, (False, 0.0)),
        ({"x": 1}, {"x": 2}, (True, 1.0)),
        ("boolean", True, (True, 1.0)),
        (2**53, 2**53 + 1, (False, 0.0)),
        (10**400, None, (False, 0.0)),
    ],
)
def test_the_same_or_different(one, other, expected):
    assert of(A)({"a": one}, {"a": other}) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (1, 1.0, (False, 0.0)),
        (1, 2, (True, 0.25)),
        (1, 5, (True, 1.0)),
        (1, 500, (True, 1.0)),
        (1e308, -1e308, (True, 1.0)),
        (1, None, (True, 1.0)),
        (1, True, (True, 1.0)),
        (1, "1", (True, 1.0)),
        ("near", "far", (False, 0.0)),
        (True, None, (False, 0.0)),
        ([1], {"term": "cheap"}, (False, 0.0)),
    ],
)
def test_on_a_scale(one, other, expected):
    assert of(B)({"b": {"c": one}}, {"b": {"c": other}}) == expected


def test_the_mean_over_several():
    compare = of(A, B)
    assert compare({"a": 1, "b": {"c": 0}}, {"a": 1, "b": {"c": 1}}) == (True, 0.125)
    assert compare({"a": 1, "b": {"c": 0}}, {"a": 2, "b": {"c": 1}}) == (True, 0.625)
    assert compare({}, {}) == (False, 0.0)


def test_paths_lead_through_objects_only():
    compare = of(Aspect(("b", "c"), None))
    assert compare({"b": 5}, {"b": [{"c": 1}]}) == (False, 0.0)
    assert compare({"b": 5}, {"b": {"c": 1}}) == (True, 1.0)


def test_context_attributes():
    assert of(Aspect(("event", "source"), None))({}, {}) == (True, 1.0)
    assert of(Aspect(("event", "type"), None))({"event": {"type": 1}}, {}) == (False, 0.0)
