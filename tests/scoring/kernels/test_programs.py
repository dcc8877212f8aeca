"""Arithmetic in kernels is that of the plain evaluator, in every bit."""

import math

import numpy as np
import pytest

from shortlist.matching.blocks import Block
from shortlist.matching.values import Values
from shortlist.model.publication import Publication
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.blocks import BulkScores
from tests.scoring.plain_scores import PlainScores

MANY = 20_000
SHOWN = 2**60
"""Times this, nearly every double is too large to be rounded."""
SPECIAL = [0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 0.5, -0.5, 1e300, -1e300, 5e-324, 1 / 3, 2.0**60]


def numbers(draw):
    whole = draw.integers(-6, 7, MANY // 4).astype(np.float64)
    bits = draw.integers(0, 2**64, MANY // 4, dtype=np.uint64).view(np.float64)
    found = np.concatenate(
        [np.repeat(SPECIAL, len(SPECIAL)), draw.normal(0, 9, MANY // 2), whole, bits]
    )
    return np.where(np.isfinite(found), found, 0.0)


@pytest.fixture(scope="module")
def readers():
    draw = np.random.default_rng(1)
    left, right = numbers(draw), numbers(draw)
    right[: len(SPECIAL) ** 2] = np.tile(SPECIAL, len(SPECIAL))
    right[len(SPECIAL) ** 2 :] = draw.permutation(right[len(SPECIAL) ** 2 :])
    values = Values(Vocabulary())
    return [
        values.of(Publication(id="p", source="s", time=0, position=0, data={"x": x, "y": y}))
        for x, y in zip(left.tolist(), right.tolist(), strict=True)
    ]


@pytest.mark.parametrize(
    "score",
    [
        "exp(x)",
        "log(x)",
        "sqrt(x)",
        "x ^ y",
        "x ^ 2",
        "x / y",
        "x * y",
        "x + y - 0.1",
        "min(x, y, 0)",
        "max(sqrt(x), y)",
        "-abs(x)",
        "distance(x: 0.1, y: 0.7 weight 3)",
        "max_distance(x: 0.1, y: 0.7 weight 3)",
        "max_distance(x: -1e300 weight 0, y: 1)",
        "max_distance(y: 1, x: -1.7e308 weight 0)",
    ],
)
def test_every_bit(score, readers):
    subscription = Subscription(id="s", score=f"({score}) * {SHOWN}")
    bulk, plain = BulkScores(Vocabulary()), PlainScores(Vocabulary())
    for scores in (bulk, plain):
        scores.add(0, subscription)
    count = len(readers)
    found = bulk.of_pairs(
        Block.of_readers(readers),
        np.arange(count, dtype=np.int32),
        np.zeros(count, np.int32),
        np.ones(count),
        np.ones(count),
    )
    expected = np.array([plain.of(0, read) for read in readers])
    assert not np.all(np.isnan(expected))
    differs = np.flatnonzero(~((found == expected) | (np.isnan(found) & np.isnan(expected))))
    assert not differs.size, readers[differs[0]].publication.data


def test_an_attribute_that_lacks_is_never_made_up_for():
    """Though `^ 0` is 1 of anything, and `min` needs only the smallest."""
    read = Values(Vocabulary()).of(Publication(id="p", source="s", time=0, position=0, data={}))
    bulk = BulkScores(Vocabulary())
    for number, score in enumerate(["x ^ 0", "1 ^ x", "min(1, x)", "distance(x: 1) ^ 0", "1"]):
        bulk.add(number, Subscription(id=score, score=score))
    found = bulk.of_block(Block.of_readers([read]), np.arange(5, dtype=np.int32))
    assert found.subscriptions.tolist() == [4]
    assert math.isclose(found.scores[0], 1.0)
