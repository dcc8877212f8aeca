"""Graphs of conditions: ordered at once or one by one, they are what the definition says."""

from functools import partial
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.covering.condition_graph import (
    FEW,
    ConditionGraph,
    boxes,
    condition_graph,
    interval_order,
)
from shortlist.covering.covers import exactly_covers
from shortlist.covering.graph import CoveringGraph, Entry
from shortlist.covering.volume import volume
from shortlist.language.parser import parse_where
from shortlist.language.tree import And, Where
from shortlist.model.vocabulary import Vocabulary
from tests.covering.covering_pool import POOLS, TAGS, VOCABULARY, booleans, fuzzy
from tests.covering.drawn_graphs import by_definition, depth_of, drawn
from tests.covering.range_pool import DEEP, X, Y, range_condition

EVERY_KIND = [
    *[predicate for pools in POOLS.values() for pool in pools for predicate in pool],
    *fuzzy(X),
    *booleans(TAGS),
]

Conditions = dict[str, Where | None]


def named(conditions: list[Where | None]) -> Conditions:
    return {f"s{number}": condition for number, condition in enumerate(conditions)}


def entries(conditions: Conditions) -> list[Entry[Where | None]]:
    return [Entry(name, condition) for name, condition in conditions.items()]


def at_once(conditions: Conditions) -> ConditionGraph:
    """However few they are."""
    ranges = boxes(conditions.values(), VOCABULARY)
    assert ranges is not None
    order = interval_order(ranges)
    covers = partial(exactly_covers, vocabulary=VOCABULARY)
    return CoveringGraph.linked(covers, entries(conditions), order.nodes.tolist(), order.edges())


def one_by_one(conditions: Conditions) -> ConditionGraph:
    graph = condition_graph(VOCABULARY)
    for entry in entries(conditions):
        graph.insert(*entry)
    return graph


@pytest.mark.parametrize("paths", [[X], [X, Y], [X, Y, DEEP]], ids=len)
def test_ranges_ordered_at_once_are_what_the_definition_says(paths: list[tuple[str, ...]]) -> None:
    draw = Random(len(paths))
    covers = partial(exactly_covers, vocabulary=VOCABULARY)
    for _ in range(400):
        conditions = named([range_condition(draw, paths) for _ in range(draw.randrange(9))])
        assert drawn(at_once(conditions)) == by_definition(conditions, covers), conditions


@given(st.integers(1, 3), st.integers(0, 30), st.randoms(use_true_random=False))
def test_at_once_or_one_by_one(attributes: int, count: int, draw: Random) -> None:
    paths = [X, Y, DEEP][:attributes]
    conditions = named([range_condition(draw, paths) for _ in range(count)])
    whole, grown = at_once(conditions), one_by_one(conditions)
    assert drawn(whole) == drawn(grown)
    order = interval_order(boxes(conditions.values(), VOCABULARY))  # type: ignore[arg-type]
    for name, place in zip(conditions, order.nodes, strict=True):
        node = grown.node(name)
        assert order.ancestors[place] == len(grown.ancestors(node))
        assert order.depths[place] == depth_of(node)


@given(st.lists(st.lists(st.sampled_from(EVERY_KIND), min_size=1, max_size=2), max_size=8))
def test_conditions_of_every_kind(conjunctions: list[list[Where]]) -> None:
    conditions = named(
        [members[0] if len(members) == 1 else And(tuple(members)) for members in conjunctions]
    )
    covers = partial(exactly_covers, vocabulary=VOCABULARY)
    assert drawn(one_by_one(conditions)) == by_definition(conditions, covers)


def test_a_graph_of_many_goes_on_like_one_of_few() -> None:
    draw = Random(3)
    for _ in range(3):
        conditions = named([range_condition(draw, [X, Y]) for _ in range(FEW + 20)])
        graph = condition_graph(VOCABULARY, entries(conditions))
        assert drawn(graph) == drawn(one_by_one(conditions))
        for name in draw.sample(list(conditions), 40):
            graph.remove(name)
            del conditions[name]
        for number in range(10):
            conditions[f"late {number}"] = range_condition(draw, [X, Y, DEEP])
            graph.insert(f"late {number}", conditions[f"late {number}"])
        assert drawn(graph) == drawn(one_by_one(conditions))


def test_many_of_which_one_is_no_range() -> None:
    draw = Random(4)
    conditions = named([range_condition(draw, [X]) for _ in range(FEW + 1)])
    conditions["odd"] = parse_where("x > 1 and x != 2")
    graph = condition_graph(VOCABULARY, entries(conditions))
    assert drawn(graph) == drawn(one_by_one(conditions))


RANK_COVER_EXAMPLE = {
    "s1": "x between 1 and 10 and y between 1 and 10",
    "s2": "x between 1 and 10 and y between 1 and 5",
    "s3": "x between 3 and 7 and y between 1 and 8",
    "s4": "x between 9 and 10 and y between 9 and 10",
    "s5": "x between 1 and 5 and y between 1 and 5",
    "s6": "x between 3 and 10 and y between 2 and 4",
    "s7": "x between 3 and 6 and y between 1 and 5",
}


def rank_covers(a: tuple[Where, str], b: tuple[Where, str]) -> bool:
    """By area, ties to the smaller id."""
    (general, mine), (special, others) = a, b
    ranks_higher = (-volume(general), mine) < (-volume(special), others)
    return exactly_covers(general, special, Vocabulary()) and ranks_higher


def test_rank_cover_example() -> None:
    conditions = {name: parse_where(text) for name, text in RANK_COVER_EXAMPLE.items()}
    ranked = CoveringGraph(rank_covers)
    for name, condition in conditions.items():
        ranked.insert(name, (condition, name))
    for graph in (ranked, at_once(dict(conditions)), one_by_one(dict(conditions))):
        depths = {name: depth_of(graph.node(name)) for name in conditions}
        assert [name for name, depth in depths.items() if depth <= 2] == ["s1", "s2", "s3", "s4"]
        above = {name: len(graph.ancestors(graph.node(name))) for name in conditions}
        assert [name for name, count in above.items() if count >= 3] == ["s7"]
