"""Covering of any conditions and subscriptions, against publications made at random."""

import math
from collections.abc import Callable
from random import Random
from typing import get_args

from hypothesis import event, given
from hypothesis import strategies as st

from shortlist.covering.covers import covers, intersects, where_covers, where_intersects
from shortlist.fuzzy.degrees import Degrees
from shortlist.language.parser import parse_any_score
from shortlist.language.printer import print_where
from shortlist.language.tree import And, Or, Predicate, Where
from shortlist.matching.conditions import condition
from shortlist.matching.scan import Scan
from shortlist.matching.values import Values
from shortlist.model.publication import Publication
from shortlist.model.rounding import rounded
from shortlist.model.subscription import (
    NO_THRESHOLD,
    AtLeast,
    Norm,
    NormName,
    Subscription,
    Weights,
)
from shortlist.scoring.expression import Subject, Uncomputable, expression
from tests.covering.covering_pool import (
    DEEP,
    FIRST_INSTANT,
    NUMBERS,
    POOLS,
    SOURCE,
    TAGS,
    VOCABULARY,
    X,
    existence,
    fuzzy,
    ordered,
    texts,
)
from tests.strategies import examples

PUBLICATIONS = 60
READ = Values(VOCABULARY)

TEXT = ["", "a", "b", "c", "aa", "ac", "cc", "aca", "ccaa"]
CRISP = [None, True, False, [1], -1, 0, 0.5, 1, 1.5, 2, 2.5, 3, 4, *TEXT]
FUZZY = [
    {"between": [0.5, 1.5]},
    {"between": [1, 1]},
    {"between": [2, None]},
    {"trapezoid": [0, 1, 2, 3]},
    {"trapezoid": [1, 1, 1, 2], "shape": "smooth"},
    {"term": "low"},
    {"term": "unknown"},
    {"values": {"a": 1, "cc": 0.25}},
    {"values": {"b": 1}},
]
TAG_LISTS = [[], [0], [1, 2], ["a"], ["a", "c"], [1, "a", True], ["b", 3], [2.5]]


def publication(random: Random) -> Publication:
    x = random.choice([*CRISP, *FUZZY, {"deep": random.choice([*CRISP, *FUZZY])}])
    tags = random.choice([*CRISP, *FUZZY, *TAG_LISTS, *TAG_LISTS])
    data = {"x": x, "tags": tags, "size": random.choice([0, 1, 2, 1e300, "a", None])}
    return Publication(
        id="p",
        source=random.choice(TEXT),
        time=FIRST_INSTANT + random.randrange(-1, 5),
        position=0,
        data=data,
    )


GROUPS = [
    *POOLS[X],
    fuzzy(X),
    [*ordered(DEEP, NUMBERS[:2]), *existence(DEEP)],
    POOLS[SOURCE][0],
    [*ordered(TAGS, NUMBERS[:2]), *texts(TAGS), *existence(TAGS)],
    fuzzy(TAGS),
]


def tree(random: Random, leaves: list[Predicate], depth: int = 2) -> Where:
    if depth == 0 or random.random() < 0.3:
        return random.choice(leaves)
    operands = tuple(tree(random, leaves, depth - 1) for _ in range(random.choice([2, 2, 3])))
    return random.choice([And, And, Or])(operands)


def related(random: Random) -> tuple[Where, Where]:
    """Two conditions; the second is often the first, or one like it, with something added."""
    leaves = [random.choice(random.choice(GROUPS)) for _ in range(random.choice([2, 3, 4]))]
    a, b = tree(random, leaves), tree(random, leaves)
    return a, random.choice([b, b, And((a, b)), And((b, a)), And((b, Or((a, b))))])


seeds = st.integers(0, 2**32)


@examples(250)
@given(seeds)
def test_conditions(seed: int) -> None:
    random = Random(seed)
    a, b = related(random)
    meets_a, meets_b = condition(a, VOCABULARY), condition(b, VOCABULARY)
    covered, meet = where_covers(a, b, VOCABULARY), where_intersects(a, b, VOCABULARY)
    event(f"covers: {covered}, intersects: {meet}")
    for _ in range(PUBLICATIONS):
        read = READ.of(publication(random))
        if meets_b(read).possibility > 0:
            holds = meets_a(read).possibility > 0
            assert holds or not covered, (print_where(a), print_where(b))
            assert meet or not holds, (print_where(a), print_where(b))


@examples(83)
@given(seeds)
def test_every_condition_covers_itself(seed: int) -> None:
    a, b = related(Random(seed))
    assert where_covers(a, a, VOCABULARY), print_where(a)
    assert where_covers(b, b, VOCABULARY), print_where(b)
    assert where_covers(Or((a, b)), a, VOCABULARY)
    assert where_covers(b, And((a, b)), VOCABULARY)


SCORES = [
    None,
    0.5,
    "size",
    "-size",
    "size * size",
    "1 / size",
    "1 / (1 - possibility)",
    "2 * necessity - size",
    "min(size, x)",
    "-distance(size: 1, x: 2)",
    "relevance(x, 'a')",
    "log(size) * 0",
]
THRESHOLDS = [0.0, 0.0, 0.25, 1.0]


def subscription(random: Random, where: Where | None) -> Subscription:
    norms: list[Norm] = [*get_args(NormName), "min", "min", "min"]
    if isinstance(where, And) and not any(isinstance(part, And | Or) for part in where.operands):
        norms.append(Weights(tuple(float(place) for place in range(len(where.operands)))))
    at_least = AtLeast(
        possibility=random.choice(THRESHOLDS),
        necessity=random.choice(THRESHOLDS),
        score=random.choice([None, None, 0.0, 0.5]),
    )
    return Subscription(
        id="s",
        where=None if where is None else print_where(where),
        norm=random.choice(norms),
        score=random.choice(SCORES),
        at_least=random.choice([NO_THRESHOLD, at_least]),
    )


def matcher(subscription: Subscription) -> Callable[[Publication], bool]:
    scan = Scan(VOCABULARY)
    scan.add(subscription)
    text, least = subscription.score, subscription.at_least.score
    score = expression(parse_any_score("possibility" if text is None else str(text)), VOCABULARY)

    def matches(published: Publication) -> bool:
        read = READ.of(published)
        for found in scan.match(read):
            degrees = Degrees(found.possibility, found.necessity)
            try:
                value = score(Subject(read, degrees))
            except Uncomputable:
                return False
            return math.isfinite(value) and (least is None or rounded(value) >= least)
        return False

    return matches


@examples(166)
@given(seeds)
def test_subscriptions(seed: int) -> None:
    random = Random(seed)
    general, special = related(random)
    wheres = random.choice([(general, special), (general, general), (None, special)])
    a, b = (subscription(random, where) for where in wheres)
    covered, meet = covers(a, b, VOCABULARY), intersects(a, b, VOCABULARY)
    event(f"covers: {covered}, intersects: {meet}")
    matches_a, matches_b = matcher(a), matcher(b)
    for _ in range(PUBLICATIONS):
        published = publication(random)
        if matches_b(published):
            holds = matches_a(published)
            assert holds or not covered, (a, b)
            assert meet or not holds, (a, b)
