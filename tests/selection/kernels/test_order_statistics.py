"""The largest few of numbers, and the k-th highest, are what sorting them says."""

from random import Random

import numpy as np
import pytest

from shortlist.selection.kernels.largest import keep_largest
from shortlist.selection.kernels.novelty_memory import HIGHEST_ROW
from shortlist.selection.kernels.order_statistics import RECENT_ROW, kth_highest, put_recent

START = 3
"""Where the rows of the place begin."""


def numbers(pick, count):
    """With many ties, or with none."""
    options = pick.choice([3, 20, 10**9])
    return [pick.randrange(options) / 8 for _ in range(count)]


@pytest.mark.parametrize("k", [1, 2, 3, 7, 64])
def test_the_highest_of_all(k):
    pick = Random(k)
    for _ in range(100):
        rows = np.zeros(START + k, HIGHEST_ROW)
        seen = []
        for number in numbers(pick, pick.randrange(150)):
            size = keep_largest(rows["novelty"][START:], min(len(seen), k), number)
            seen.append(number)
            assert size == min(len(seen), k)
            best = sorted(seen, reverse=True)[:k]
            kept = rows["novelty"][START : START + len(best)]
            assert sorted(kept.tolist(), reverse=True) == best
            assert kept[0] == best[-1]


@pytest.mark.parametrize("k", [1, 2, 3, 7, 64])
def test_the_kth_highest_of_the_last(k):
    pick = Random(k)
    for _ in range(100):
        period = k + pick.randrange(2 * k + 3)
        rows = np.zeros(START + period, RECENT_ROW)
        seen = []
        for number in numbers(pick, pick.randrange(4 * period)):
            last = sorted(seen[-period:], reverse=True)
            expected = last[k - 1] if len(last) >= k else 0.0
            assert kth_highest(rows, START, len(last), k) == expected
            put_recent(rows, START, len(last), k, len(seen) % period, number)
            seen.append(number)


def test_nothing_is_written_elsewhere():
    rows = np.zeros(START + 9, RECENT_ROW)
    for at in range(20):
        put_recent(rows, START, min(at, 5), 2, at % 5, float(at))
    assert not rows[:START].tobytes().strip(b"\0")
    assert not rows[START + 5 :].tobytes().strip(b"\0")
