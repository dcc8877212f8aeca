"""The covering graph against its definition, on numbers that cover each other by their bits."""

import random

from hypothesis import given
from hypothesis import strategies as st

from shortlist.covering.graph import CoveringGraph, Node
from tests.covering.drawn_graphs import by_definition, drawn

MASKS = st.lists(st.integers(0, 31), max_size=12)


def within(general: int, special: int) -> bool:
    """As a conjunction covers those that ask for the same and more."""
    return general & special == general


def strictly_above(general: tuple[int, int], special: tuple[int, int]) -> bool:
    """Ties go to the smaller second number, so that nothing equals anything."""
    return within(general[0], special[0]) and (general[0] != special[0] or general[1] < special[1])


def named(conditions: list[int]) -> dict[str, int]:
    return {f"s{number}": condition for number, condition in enumerate(conditions)}


def inserted(conditions: dict[str, int]) -> CoveringGraph[int]:
    graph = CoveringGraph(within)
    for name, condition in conditions.items():
        graph.insert(name, condition)
    return graph


@given(MASKS, st.randoms(use_true_random=False))
def test_any_order_of_insertion_gives_the_graph_of_the_definition(
    masks: list[int], draw: random.Random
) -> None:
    conditions = named(masks)
    expected = by_definition(conditions, within)
    assert drawn(inserted(conditions)) == expected
    shuffled = list(conditions.items())
    draw.shuffle(shuffled)
    assert drawn(inserted(dict(shuffled))) == expected


def test_what_was_removed_leaves_the_graph_of_the_rest() -> None:
    draw = random.Random(5)
    for _ in range(150):
        graph = CoveringGraph(within)
        live: dict[str, int] = {}
        for step in range(30):
            if live and draw.random() < 0.4:
                name = draw.choice(list(live))
                graph.remove(name)
                del live[name]
                assert name not in graph
            else:
                live[f"s{step}"] = draw.randrange(32)
                graph.insert(f"s{step}", live[f"s{step}"])
            assert drawn(graph) == by_definition(live, within), live


@given(MASKS)
def test_a_strict_relation_gives_every_subscription_a_node(masks: list[int]) -> None:
    conditions = {f"s{number}": (mask, number) for number, mask in enumerate(masks)}
    graph = CoveringGraph(strictly_above)
    for name, condition in reversed(conditions.items()):
        graph.insert(name, condition)
    assert drawn(graph) == by_definition(conditions, strictly_above)
    assert len(graph.nodes) == len(conditions)


@given(MASKS)
def test_ancestors_are_all_that_cover(masks: list[int]) -> None:
    graph = inserted(named(masks))
    for node in graph.nodes:
        above = {other for other in graph.nodes if within(other.condition, node.condition)} - {node}
        assert graph.ancestors(node) == above


@given(MASKS, st.integers(0, 31))
def test_matching_asks_only_where_all_that_cover_matched(masks: list[int], asked: int) -> None:
    graph = inserted(named(masks))
    answers: dict[Node[int], bool] = {}

    def matches(node: Node[int]) -> bool:
        assert node not in answers
        assert all(answers[parent] for parent in node.parents)
        answers[node] = within(node.condition, asked)
        return answers[node]

    found = set(graph.matching(matches))
    assert found == {node for node in graph.nodes if within(node.condition, asked)}
    boundary = {node for node in graph.nodes if found.issuperset(node.parents)}
    assert answers.keys() == boundary


@given(MASKS, st.randoms(use_true_random=False))
def test_most_specific_are_those_that_cover_no_other(masks: list[int], draw: random.Random) -> None:
    conditions = named(masks)
    chosen = [name for name in conditions if draw.random() < 0.6]
    expected = {
        name
        for name in chosen
        if not any(
            within(conditions[name], conditions[other]) and conditions[name] != conditions[other]
            for other in chosen
        )
    }
    assert inserted(conditions).most_specific(chosen) == expected


def test_equal_conditions_share_a_node_with_their_scores() -> None:
    """The preferential paper's example: John and Anna both give s1 a score."""
    graph: CoveringGraph[frozenset[str]] = CoveringGraph(frozenset.issubset)
    ster, late_drama = frozenset({"ster"}), frozenset({"drama", "late"})
    graph.insert("John 1", ster | late_drama, 0.9)
    graph.insert("John 2", late_drama, 0.7)
    graph.insert("John 3", ster, 0.5)
    both = graph.insert("Anna 1", ster | late_drama, 0.6)
    assert both.scores == {"John 1": 0.9, "Anna 1": 0.6}
    assert [node.scores for node in graph.roots] == [{"John 2": 0.7}, {"John 3": 0.5}]
    assert both.parents.keys() == graph.roots
    graph.remove("John 1")
    assert graph.node("Anna 1").scores == {"Anna 1": 0.6}


def test_an_insertion_does_not_ask_about_what_lies_beside_it() -> None:
    compared: set[int] = set()

    def covers(general: int, special: int) -> bool:
        compared.update((general, special))
        return within(general, special)

    graph = CoveringGraph(covers)
    chain = [(1 << length) - 1 for length in range(1, 9)]
    beside = [mask << 20 for mask in chain]
    for name, mask in named([*chain, *beside]).items():
        graph.insert(name, mask)
    compared.clear()
    lowest = graph.insert("lowest", chain[-1] | 1 << 9)
    assert compared.isdisjoint(beside[1:-1])
    assert len(graph.ancestors(lowest)) == len(chain)
