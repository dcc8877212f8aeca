"""Scores in bulk are those of the plain evaluator, to the last bit."""

import math
from itertools import cycle, product

import numpy as np
import pytest
from hypothesis import given

from shortlist.matching.blocks import Block
from shortlist.scoring.bulk import BulkScores
from tests.scoring.drawn_scores import DECLARED, Case, case
from tests.scoring.plain_scores import PlainScores
from tests.strategies import drawn, seeded


class Both:
    """The scores in bulk beside the plain ones, with the same subscriptions."""

    def __init__(self, changes) -> None:
        self.bulk, self.plain = BulkScores(DECLARED), PlainScores(DECLARED)
        self.change(changes)

    def change(self, changes) -> None:
        for number, subscription in changes:
            if number in self.plain:
                self.bulk.remove(number)
                self.plain.remove(number)
            if subscription is not None:
                self.bulk.add(number, subscription)
                self.plain.add(number, subscription)

    def asked(self, made: Case) -> list[int]:
        return [number for number in self.plain if made.asked[number]]

    def floors(self, made: Case, readers):
        if made.floors is None:
            return None
        return np.array(
            [self._floor(number, floor, readers) for number, floor in enumerate(made.floors)]
        )

    def _floor(self, number, floor, readers) -> float:
        if floor.place is None or number not in self.plain:
            return floor.least
        score = self.plain.of(number, readers[floor.place])
        if math.isnan(score):
            return floor.least
        return math.nextafter(score, math.inf) if floor.above else score


def check_pairs(made: Case) -> None:
    both, readers = Both(made.changes), made.readers()
    floors = both.floors(made, readers)
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
        floors,
    )
    expected = [
        both.plain.of(number, readers[place], degree, floors)
        for (place, number), degree in zip(pairs, degrees, strict=True)
    ]
    assert repr(found.tolist()) == repr(expected)
    assert both.bulk.work.evaluated + both.bulk.work.pruned == len(pairs)


def check_block(made: Case) -> None:
    """Twice on one block: numbers may mean something else the second time."""
    both, readers = Both(made.changes), made.readers()
    block = Block.of_readers(readers)
    for changes in ([], made.later):
        both.change(changes)
        floors = both.floors(made, readers)
        asked = both.asked(made)
        found = both.bulk.of_block(block, np.array(asked, np.int32), floors)
        pairs = product(range(len(readers)), asked)
        scored = [
            (place, number, both.plain.of(number, readers[place], floors=floors))
            for place, number in pairs
        ]
        expected = [row for row in scored if not math.isnan(row[2])]
        rows = zip(*(column.tolist() for column in found), strict=True)
        assert repr(sorted(rows)) == repr(sorted(expected))


CHECKS = pytest.mark.parametrize("check", [check_pairs, check_block])


@CHECKS
@pytest.mark.parametrize("start", range(0, 600, 100))
def test_equals_the_plain_evaluator(check, start):
    for seed in range(start, start + 100):
        check(case(seeded(seed)))


@CHECKS
@pytest.mark.soak
def test_equals_the_plain_evaluator_for_long(check):
    for seed in range(1_000, 50_000):
        check(case(seeded(seed)))


@CHECKS
@given(made=drawn(case)())
def test_equals_the_plain_evaluator_on_any_case(check, made):
    check(made)
