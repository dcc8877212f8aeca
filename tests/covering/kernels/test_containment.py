"""The sweep and the comparison of all rows say the same, where both can be asked."""

import numpy as np
import pytest
from numpy.random import default_rng

from shortlist.covering.kernels.containment import (
    covering_of_pairs,
    covering_of_rows,
    longest_depths,
)


def pairs(seed: int, count: int, values: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows of two numbers, in order, and the places of the second ones."""
    rows = np.unique(default_rng(seed).integers(0, values, (count, 2)), axis=0).astype(np.int32)
    places = np.empty(len(rows), np.int32)
    places[np.lexsort((np.arange(len(rows)), rows[:, 1]))[::-1]] = np.arange(len(rows))
    return rows, places


@pytest.mark.parametrize(("count", "values"), [(0, 1), (1, 1), (8, 3), (20, 10), (600, 1000)])
def test_both_kernels_agree_on_pairs(count: int, values: int) -> None:
    for seed in range(200 if count < 100 else 5):
        rows, places = pairs(seed, count, values)
        swept, compared = (
            find(rows_or_places, 0, len(rows))
            for find, rows_or_places in ((covering_of_pairs, places), (covering_of_rows, rows))
        )
        for one, other in zip(swept, compared, strict=True):
            assert np.array_equal(one, other)


def test_everything_in_one_chain_and_nothing_above_anything() -> None:
    chain = np.arange(1000, dtype=np.int32)
    starts, parents, ancestors = covering_of_pairs(chain[::-1].copy(), 0, 1000)
    assert parents.tolist() == list(range(999))
    assert ancestors.tolist() == list(range(1000))
    assert longest_depths(starts, parents).tolist() == list(range(1, 1001))
    starts, parents, ancestors = covering_of_pairs(chain, 0, 1000)
    assert not starts.any()
    assert not parents.size
    assert not ancestors.any()
    assert (longest_depths(starts, parents) == 1).all()
