"""Sorting by digits is a stable sort."""

import numpy as np
import pytest

from shortlist.matching.kernels.sorting import in_order


@pytest.mark.parametrize("bits", [0, 1, 8, 11, 12, 23, 40, 62])
@pytest.mark.parametrize("count", [0, 1, 2, 50, 3_000])
def test_equals_a_stable_sort(bits, count):
    draw = np.random.default_rng(bits)
    keys = draw.integers(0, 2**bits, count)
    keys[::3] = keys[0] if count else 0
    before = keys.copy()
    found, places = in_order(keys)
    expected = np.argsort(keys, kind="stable")
    assert places.tolist() == expected.tolist()
    assert found.tolist() == keys[expected].tolist()
    assert keys.tolist() == before.tolist()
