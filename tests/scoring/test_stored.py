"""Scores take little room, and none once they are gone."""

import pytest

from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.scoring.stored import StoredScores
from tests.scoring.drawn_scores import DECLARED, whole_score
from tests.strategies import seeded

COUNT = 1_000


def filled(scores):
    """With as many subscriptions, by the scores' makers."""
    stored = StoredScores(DECLARED, Limits())
    for number in range(COUNT):
        stored.add(number, Subscription(id=str(number), score=scores(number)))
    return stored


def size_of(stored) -> int:
    arrays = [*stored.arrays, *stored.postings.arrays]
    return sum(array.nbytes for array in arrays)


@pytest.mark.parametrize(
    ("score", "most"),
    [
        (lambda number: None, 25),
        (lambda number: f"rating / {number}", 50),
        (lambda number: f"-distance(x: {number}, y: 2, z: 3 weight {number})", 100),
        (lambda number: f"relevance(title, 'word{number} film')", 150),
    ],
)
def test_a_subscription_takes_tens_of_bytes(score, most):
    stored = filled(score)
    assert len(stored.templates) == 1
    assert size_of(stored) / COUNT < most


def test_what_is_gone_leaves_room_for_what_comes():
    pick = seeded(11)
    made = [whole_score(pick) for _ in range(COUNT)]
    stored = filled(lambda number: made[number])
    size = size_of(stored)
    for _ in range(3):
        for number in range(COUNT):
            stored.remove(number)
        for number in reversed(range(COUNT)):
            stored.add(number, Subscription(id=str(number), score=made[number]))
    assert size_of(stored) == size


def test_nothing_is_in_use_once_all_are_gone():
    pick = seeded(12)
    stored = filled(lambda number: whole_score(pick))
    shapes = [stored.templates[template] for template in range(len(stored.templates))]
    words = [stored.terms[term] for term in range(len(stored.terms))]
    for number in range(COUNT):
        stored.remove(number)
    assert not any(stored.templates.find(shape) is not None for shape in shapes)
    assert not any(stored.terms.find(word) is not None for word in words)
    assert not stored.postings.arrays.counts.any()
