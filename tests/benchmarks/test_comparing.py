"""Figures of two revisions come side by side, whatever each of them prints beside."""

from random import Random

from benchmarks.common.comparing import compared, figures, interval


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
    low, high = row["interval"]["a_second"]
    assert low < 1.1006 < high  # the geometric mean of 8, 2.5 and 1 / 15


def test_an_interval_holds_the_true_ratio_about_as_often_as_it_says() -> None:
    """Runs are slowed down together by up to three times, and each by itself by some per cent."""
    random, held = Random(1), 0
    for _ in range(400):
        machine = [random.uniform(1, 3) for _ in range(10)]
        before = [slow * random.lognormvariate(0, 0.05) for slow in machine]
        now = [1.02 * slow * random.lognormvariate(0, 0.05) for slow in machine]
        low, high = interval(before, now) or (0.0, 0.0)
        held += low <= 1.02 <= high
    assert 360 <= held <= 395


def test_an_interval_needs_three_pairs_of_positive_numbers() -> None:
    assert interval([1.0, 1.0], [1.0, 2.0]) is None
    assert interval([1.0, 0.0, 1.0], [1.0, 1.0, 1.0]) is None


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
