"""A kernel is compiled once, however its callers came by their whole numbers."""

import numpy as np
from numba import config

from shortlist.matching.kernels.compiling import kernel


@kernel
def bit_at(words, place, is_inverted):
    return (words[place >> 6] >> (place & 63) & 1) ^ is_inverted


@kernel
def count(words, places):
    found, place = 0, 0
    while place < 64:
        found += bit_at(words, place, False)
        place += 1
    for each in places:
        found += bit_at(words, each, each > 0)
    return found


@kernel(error_model="numpy")
def divided(one, other):
    return one / other


def test_literals_and_narrow_numbers_are_passed_as_wide_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))  # what is kept is not compiled again
    words = np.array([0b1011])
    assert count(words, np.array([0, 1, 2], np.int32)) == 3 + 1 + 0 + 1
    assert len(bit_at.signatures) == 1


def test_options_are_those_of_numba():
    assert divided(1.0, 0.0) == float("inf")
