"""Figures of two revisions come side by side, whatever each of them prints beside."""

from benchmarks.common.comparing import compared, figures


def test_figures_of_one_name_are_told_apart_by_their_order() -> None:
    base = [{"figure": "shard", "size": size, "us": us} for size, us in ((1, 10.0), (2, 30.0))]
    here = [{"figure": "shard", "size": size, "us": us} for size, us in ((1, 5.0), (2, 3.0))]
    rows = compared([base], [here])
    assert [(row["size"], row["ratio"]) for row in rows] == [(1, {"us": 0.5}), (2, {"us": 0.1})]


def test_medians_of_rounds_count() -> None:
    base = [[{"figure": "speed", "a_second": value}] for value in (1.0, 2.0, 90.0)]
    here = [[{"figure": "speed", "a_second": value}] for value in (8.0, 5.0, 6.0)]
    (row,) = compared(base, here)
    assert (row["base"], row["here"]) == ({"a_second": 2.0}, {"a_second": 6.0})
    assert row["ratio"] == {"a_second": 3.0}


def test_what_only_one_side_has_is_left_out() -> None:
    base = [{"figure": "old", "us": 1.0}, {"figure": "both", "gone": 1.0, "us": 2.0}]
    here = [{"figure": "both", "come": 1.0, "us": 4.0, "load": 3}, {"figure": "new", "us": 1.0}]
    expected = {"base": {"us": 2.0}, "here": {"us": 4.0}, "ratio": {"us": 2.0}}
    assert compared([base], [here]) == [{"figure": "both", **expected}]


def test_nothing_is_divided_by_nothing() -> None:
    (row,) = compared([[{"figure": "f", "bytes": 0}]], [[{"figure": "f", "bytes": 5}]])
    assert row["ratio"] == {"bytes": None}


def test_words_and_nested_facts_that_differ_are_not_compared() -> None:
    base, here = ({"figure": "f", "grid": grid, "steps": {"a": 1}} for grid in ("4×4", "2×2"))
    (row,) = compared([[base]], [[here]])
    assert row == {"figure": "f", "steps": {"a": 1}, "base": {}, "here": {}, "ratio": {}}


def test_only_figures_are_read() -> None:
    assert figures(["", "{1: 2}", '{"figure": "f"}', "│ f │"]) == [{"figure": "f"}]
