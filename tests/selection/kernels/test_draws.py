"""Draws in kernels are those of the plain policy, bit for bit."""

from random import Random

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from shortlist.selection.draws import draw, stream
from shortlist.selection.kernels.novelty import drawn


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**62))
@example(2**64 - 1, 1)
@example(0, 0)
def test_equals_the_plain_draw(start, count):
    assert drawn(np.uint64(start), count) == draw(start, count)


def test_equals_the_plain_draws_of_many_streams():
    pick = Random(5)
    for _ in range(5_000):
        start, count = stream(pick.getrandbits(64), "list"), pick.randrange(10_000)
        assert drawn(np.uint64(start), count) == draw(start, count)
