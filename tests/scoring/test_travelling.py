"""Scores that were made once travel to the tasks of Spark."""

import pickle

import numpy as np

from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.stored import StoredScores


def test_scores_that_have_travelled_take_more():
    scores = StoredScores(Vocabulary(), Limits())
    scores.add(0, Subscription(id="a", score="2 * rent + 5"))
    there = pickle.loads(pickle.dumps(scores))
    there.add(1, Subscription(id="b", score="7 * rent + 1"))
    assert np.array_equal(there.arrays.parameters[:4], [2.0, 5.0, 7.0, 1.0])
    assert len(there.templates) == 1
