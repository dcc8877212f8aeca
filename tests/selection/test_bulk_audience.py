"""The audience out of columns is the plain one: the same shortlists, scores and order."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given

from shortlist.intake.files import registry_from_documents
from shortlist.matching.index.numbering import NOBODY
from shortlist.matching.values import Values
from shortlist.model.advertisement import Advertisement
from shortlist.model.publication import Publication
from shortlist.model.subscription import Subscription
from shortlist.scoring.expression import Scored
from shortlist.scoring.numbers import Numbers
from shortlist.selection.audience import Advertisements, Inducement, Nomination, chosen
from shortlist.selection.bank.audience import BulkAudience
from shortlist.selection.kernels.audience import with_smallest_ids
from tests.scoring.live_scoring import LiveScoring
from tests.strategies import AUDIENCE_SCORES, VOCABULARY, data, drawn, seeded

DECLARED = registry_from_documents({"vocabulary": VOCABULARY}).vocabulary
VALUES = Values(DECLARED)
OPERANDS = [
    "subscription.score",
    "subscription.volume",
    "subscription.profile.age",
    "subscription.profile.rank",
    "price",
    "size",
    "0",
    "2",
    "0.333333333",
    "1e308",
    "-distance(price: 3, size: 2)",
    "relevance(title, 'red car')",
]
WHERES = [
    None,
    "price > 1",
    "price between 1 and 4",
    "price between 0 and 0.1 and size between 2 and 9",
    "price between 0 and 1e200 and size between 0 and 1e200 and floor = 1",
    "price = 3",
]
PROFILES = [
    {},
    {"age": 2.0},
    {"age": -1.5, "rank": 1.0},
    {"age": 0.0, "rank": 1e308},
    {"rank": 0.1},
]
SCORES = [0.0, 1.0, 1.0, 0.5, -2.0, 0.123456789, 1e300, -1e300, 123456.789]
IDS = [
    *(f"{letter}{number}" for letter in ("a", "Ć", "\U0001f600", "\uffff") for number in range(9)),
    *("a" * length for length in range(1, 12)),
    "a\0",
    "long id " * 9,
    "long id " * 9 + "!",
]


def expression(pick, depth=0):
    shape = pick(["leaf", "leaf", "arithmetic", "arithmetic", "call", "negate"])
    if depth > 3 or shape == "leaf":
        return pick(OPERANDS)
    if shape == "negate":
        return f"-({expression(pick, depth + 1)})"
    if shape == "arithmetic":
        left, right = expression(pick, depth + 1), expression(pick, depth + 1)
        return f"({left}) {pick('+-*/^')} ({right})"
    name = pick(["min", "max", "abs", "sqrt", "log", "exp"])
    count = pick([1, 2, 3]) if name in ("min", "max") else 1
    return f"{name}({', '.join(expression(pick, depth + 1) for _ in range(count))})"


class Both:
    """The audience out of columns beside the plain one, with the same subscriptions."""

    def __init__(self):
        self.advertisements = Advertisements(DECLARED)
        self.scoring = LiveScoring(DECLARED)
        self.shortlists = Numbers()
        self.subscriptions = {}
        self.bulk = BulkAudience(
            self.advertisements, self.scoring, self.shortlists, self.subscriptions.__getitem__
        )

    def change(self, pick):
        """Somebody takes a number, which may have been another's."""
        number = pick(range(40))
        if number in self.subscriptions:
            gone = self.subscriptions.pop(number).id
            self.scoring.removed(gone)
            self.shortlists.release(gone)
            self.bulk.forget(number)
        name = pick([name for name in IDS if self.shortlists.find(name) == NOBODY])
        made = Subscription(id=name, where=pick(WHERES), profile=pick(PROFILES))
        self.scoring.added(made)
        self.shortlists.number(name)
        self.subscriptions[number] = made

    def check(self, pick, score):
        self.advertisements.add(Advertisement(id="ad", source="s", k=1, score=score))
        attributes = {"price": 2, "size": 3, "title": "red", **(data(pick) or {})}
        publication = Publication(id="p", source="s", time=0, position=0, data=attributes)
        read = VALUES.of(publication)
        few = [pick(SCORES) for _ in range(pick([1, 2, 9]))]
        candidates = [
            (number, pick(few)) for number in self.subscriptions if pick([True, True, False])
        ]
        inducement = Inducement(pick([0, 1, 2, 3, 5, 10, 50]), "ad")
        described = [self.described(*candidate) for candidate in candidates]
        expected = self.advertisements.nominate(inducement, read, described)
        assert repr(self.nominations(inducement, read, candidates)) == repr(expected)
        shards = [candidates[start::3] for start in range(3)]
        merged = [each for shard in shards for each in self.nominations(inducement, read, shard)]
        assert repr(chosen(merged, inducement.k)) == repr(expected)

    def described(self, number, score):
        one = self.subscriptions[number]
        return one.id, Scored(score, self.scoring.volume(one.id), one.profile)

    def nominations(self, inducement, read, candidates):
        shortlists = [self.shortlists.find(self.subscriptions[n].id) for n, _ in candidates]
        places, scores = self.bulk.chosen(
            inducement,
            read,
            np.array(shortlists, np.int32),
            np.array([score for _, score in candidates], np.float64),
            np.array([number for number, _ in candidates], np.int32),
        )
        return [
            Nomination(
                self.shortlists.names[shortlists[place]], None if math.isnan(score) else score
            )
            for place, score in zip(places.tolist(), scores.tolist(), strict=True)
        ]


def play(pick, rounds):
    both = Both()
    for _ in range(pick(range(60))):
        both.change(pick)
    for _ in range(rounds):
        drawn_score = expression(pick)
        both.check(pick, pick([drawn_score, drawn_score, *AUDIENCE_SCORES]) or "subscription.score")
        both.change(pick)


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_equals_the_plain_audience(start):
    for seed in range(start, start + 100):
        play(seeded(seed), rounds=10)


@pytest.mark.soak
def test_equals_the_plain_audience_for_long():
    for seed in range(1_000, 20_000):
        play(seeded(seed), rounds=10)


@given(rounds=drawn(lambda pick: play(pick, rounds=3))())
def test_equals_the_plain_audience_on_any_case(rounds):
    """Drawing it plays it."""


@pytest.mark.parametrize("score", ["0 / 0", "missing", "subscription.profile.none ^ 0"])
def test_where_nothing_can_be_computed_ids_decide(score):
    both = Both()
    for seed in range(30):
        both.change(seeded(seed))
    both.advertisements.add(Advertisement(id="ad", source="s", k=1, score=score))
    publication = Publication(id="p", source="s", time=0, position=0, data={})
    candidates = [(number, 1.0) for number in both.subscriptions]
    found = both.nominations(Inducement(4, "ad"), VALUES.of(publication), candidates)
    ids = sorted(one.id for one in both.subscriptions.values())
    assert found == [Nomination(name, None) for name in ids[:4]]


def test_the_smallest_ids_are_found_in_any_order():
    for seed in range(300):
        draw = Random(seed)
        numbers = Numbers()
        for name in draw.sample(IDS, draw.randrange(1, len(IDS))):
            numbers.number(name)
        some = draw.sample(range(len(numbers.names)), draw.randrange(len(numbers.names)))
        count = draw.randrange(len(numbers.names))
        places = with_smallest_ids(numbers.spelled(), np.array(some, np.int32), count)
        found = sorted(numbers.names[some[place]] for place in places)
        assert found == sorted(numbers.names[number] for number in some)[:count]


def test_letters_of_ids_that_come_and_go():
    draw, numbers = Random(1), Numbers()
    for _ in range(2_000):
        name = draw.choice(IDS)
        if numbers.find(name) is None:
            numbers.number(name)
        else:
            numbers.release(name)
        if draw.random() < 0.3:
            starts, ends, letters = numbers.spelled()
            for number, known in enumerate(map(numbers.names.find, range(len(numbers.names)))):
                if known is not None:
                    assert bytes(letters[starts[number] : ends[number]]).decode() == known
    assert numbers.spelled().letters.size <= 4 * sum(len(name.encode()) for name in IDS)
