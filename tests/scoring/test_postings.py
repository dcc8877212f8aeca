"""Lists of postings under churn hold what a dictionary of sets would."""

from collections import defaultdict
from random import Random

import numpy as np

from shortlist.scoring.stored import Postings


def held(postings, term):
    starts, counts, subscriptions, weights = postings.arrays
    places = slice(starts[term], starts[term] + counts[term])
    return dict(zip(subscriptions[places].tolist(), weights[places].tolist(), strict=True))


def test_lists_are_right_after_every_change():
    draw = Random(4)
    postings, expected = Postings(), defaultdict(dict)
    postings.expect(6)
    for step in range(5_000):
        term, subscription = draw.randrange(6), draw.randrange(30)
        if subscription in expected[term]:
            postings.remove(term, subscription)
            del expected[term][subscription]
        else:
            postings.add(term, subscription, float(step))
            expected[term][subscription] = float(step)
        assert held(postings, term) == expected[term]
    for term in range(6):
        assert held(postings, term) == expected[term]


def test_room_that_became_free_is_used_again():
    postings = Postings()
    postings.expect(50)
    for _ in range(100):
        for term in range(50):
            for subscription in range(9):
                postings.add(term, subscription, 1.0)
        for term in range(50):
            for subscription in range(9):
                postings.remove(term, subscription)
    assert len(postings.arrays.subscriptions) < 50 * 9 * 8
    assert not np.any(postings.arrays.counts)
