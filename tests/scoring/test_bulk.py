"""Scores in bulk are those of the plain evaluator, to the last bit."""

import math
from dataclasses import replace
from itertools import cycle, product

import numpy as np
import pytest
from hypothesis import given

from shortlist.matching.blocks import Block
from shortlist.model.subscription import AtLeast
from shortlist.scoring.blocks import BulkScores
from tests.scoring.drawn_scores import DECLARED, NUMBERS, Case, case
from tests.scoring.plain_scores import PlainScores
from tests.strategies import drawn, seeded


class Both:
    """The scores in bulk beside the plain ones, with the same subscriptions."""

    def __init__(self, changes) -> None:
        self.bulk, self.plain = BulkScores(DECLARED), PlainScores(DECLARED)
        self.subscriptions = {}
        self.change(changes)

    def change(self, changes) -> None:
        for number, subscription in changes:
            if number in self.plain:
                self.bulk.remove(number)
                self.plain.remove(number)
            if subscription is not None:
                self.bulk.add(number, subscription)
                self.plain.add(number, subscription)
                self.subscriptions[number] = subscription

    def asked(self, made: Case) -> list[int]:
        return [number for number in self.plain if made.asked[number]]

    def raise_floors(self, made: Case, readers) -> None:
        """Subscriptions ask for at least as much as drawn floors do, too."""
        for number in [*self.plain] if made.floors is not None else ():
            subscription = self.subscriptions[number]
            floor = self._floor(number, made.floors[number], readers)
            own = subscription.at_least.score
            least = AtLeast(score=floor if own is None else max(own, floor))
            self.change([(number, replace(subscription, at_least=least))])

    def _floor(self, number, floor, readers) -> float:
        if floor.place is None:
            return floor.least
        score = self.plain.of(number, readers[floor.place])
        if math.isnan(score):
            return floor.least
        return math.nextafter(score, math.inf) if floor.above else score


def check_pairs(made: Case) -> None:
    both, readers = Both(made.changes), made.readers()
    both.raise_floors(made, readers)
    pairs = list(product(range(len(readers)), both.asked(made)))
    if made.by_subscription:
        pairs.sort(key=lambda pair: pair[1])
    degrees = [degree for degree, _ in zip(cycle(made.degrees), pairs, strict=False)]
    found = both.bulk.of_pairs(
        Block.of_readers(readers),
        np.array([place for place, _ in pairs], np.int32),
        np.array([number for _, number in pairs], np.int32),
        np.array([degree.possibility for degree in degrees], np.float64),
        np.array([degree.necessity for degree in degrees], np.float64),
    )
    expected = [
        both.plain.of(number, readers[place], degree)
        for (place, number), degree in zip(pairs, degrees, strict=True)
    ]
    assert repr(found.tolist()) == repr(expected)


def check_block(made: Case) -> None:
    """Twice on one block: numbers may mean something else the second time."""
    both, readers = Both(made.changes), made.readers()
    block = Block.of_readers(readers)
    for changes in ([], made.later):
        both.change(changes)
        both.raise_floors(made, readers)
        asked = both.asked(made)
        found = both.bulk.of_block(block, np.array(asked, np.int32))
        pairs = product(range(len(readers)), asked)
        scored = [(place, number, both.plain.of(number, readers[place])) for place, number in pairs]
        expected = [row for row in scored if not math.isnan(row[2])]
        rows = zip(*(column.tolist() for column in found), strict=True)
        assert repr(sorted(rows)) == repr(sorted(expected))


CHECKS = pytest.mark.parametrize("check", [check_pairs, check_block])


@CHECKS
@pytest.mark.parametrize("start", range(0, 600, 100))
def test_equals_the_plain_evaluator(check, start):
    for seed in range(start, start + 100):
        check(case(seeded(seed)))


ALIKE = ["-price", "price / size", "sqrt(floor)", "max(price, floor) - size", "price ^ floor"]
"""Scores that are the same for all who have them."""


@pytest.mark.parametrize("score", ALIKE)
def test_scores_that_many_have(score):
    for seed in range(60):
        made = case(seeded(seed))
        changes = [
            (number, subscription and replace(subscription, score=score))
            for number, subscription in made.changes
        ]
        check_pairs(replace(made, changes=changes, asked=[True] * NUMBERS))


@CHECKS
@pytest.mark.soak
def test_equals_the_plain_evaluator_for_long(check):
    for seed in range(1_000, 50_000):
        check(case(seeded(seed)))


@CHECKS
@given(made=drawn(case)())
def test_equals_the_plain_evaluator_on_any_case(check, made):
    check(made)
