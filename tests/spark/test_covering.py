"""Who covers whom, found by tasks: what one process finds."""

import numpy as np
import pytest

from shortlist.covering.slices import covering_order
from shortlist.overlay.cover_shares import cover_shares, drawn_intervals
from shortlist.spark.covering import covering_on

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("width", [0, 1, 2, 4])
def test_tasks_find_what_one_process_finds(spark, width):
    rows = np.random.default_rng(width).integers(0, 9, (700, width)).astype(np.int32)
    ordered = rows[np.lexsort(rows.T[::-1])] if width else rows
    for some in (ordered, ordered[:1], ordered[:0]):
        for one, other in zip(covering_on(spark)(some), covering_order(some), strict=True):
            assert np.array_equal(one, other)


def test_shares_are_the_same(spark):
    ranges = drawn_intervals(3_000)
    assert cover_shares(ranges, [1, 10], covering_on(spark)) == cover_shares(ranges, [1, 10])
