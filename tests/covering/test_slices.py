"""Slices that are found apart are together what is found at once."""

import numpy as np
import pytest

from shortlist.covering.slices import Sliced, covering_order, joined


@pytest.mark.parametrize("width", [1, 2, 3])
def test_slices_are_joined_to_what_is_found_at_once(width):
    draw = np.random.default_rng(width)
    for count in (1, 2, 50, 300):
        rows = draw.integers(0, 12, (count, width)).astype(np.int32)
        rows = rows[np.lexsort(rows.T[::-1])]
        sliced = Sliced.of(rows)
        for cuts in (1, 2, 7):
            found = joined([sliced.covering(*cut) for cut in sliced.cuts(cuts)])
            for one, other in zip(found, covering_order(rows), strict=True):
                assert np.array_equal(one, other)
