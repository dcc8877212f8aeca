"""Networks: their shapes, and files with every problem found."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.overlay.topology import chain, hierarchy, random_graph, random_tree, star
from shortlist.overlay.topology_files import InvalidTopology, read_topology, topology_of
from tests.intake.test_registry_fuzz import places, scalars, values
from tests.strategies import examples


def test_the_network_of_the_paper():
    network = chain()
    assert (len(network.brokers), len(network.links), network.diameter) == (60, 59, 11)
    assert len(network.edges) == 50


@pytest.mark.parametrize("seed", range(10))
def test_everyone_is_reached(seed):
    for network in (random_tree(9, seed), random_graph(9, 5, seed), hierarchy(3, 3), star(4)):
        assert {*network.next_hops(network.brokers[0])} == {*network.brokers[1:]}
        tree = network.tree
        assert len(tree.links) == len(network.brokers) - 1
        ends = network.brokers[0], network.brokers[-1]
        assert len(tree.path(*ends)) - 1 <= tree.diameter
        assert len(network.path(*ends)) <= len(tree.path(*ends))


def test_whoever_is_attached_nowhere_gets_an_edge_broker():
    network = chain(2, 2)
    assert network.home_of_subscriber("anna") in network.edges
    assert network.home_of_subscriber("anna") == network.home_of_subscriber("anna")


@pytest.mark.parametrize(
    ("document", "problems"),
    [
        (
            [],
            [
                "expected a mapping with shape, brokers, links, publishers, subscribers, "
                "subscriptions, found []"
            ],
        ),
        ({}, ["expected a shape or links, found neither"]),
        (
            {"shape": "ring"},
            ["shape: expected one of chain, hierarchy, star, tree, graph, with its"],
        ),
        ({"shape": {"star": {"points": 3}}}, ["shape.star: expected edges, found 'points'"]),
        (
            {"shape": {"star": {"edges": 0}}},
            ["shape.star.edges: expected a whole number of at least 1, found 0"],
        ),
        (
            {"links": [["a", "b"], ["c"]], "publishers": {"p": "z"}, "subscribers": 3},
            [
                "links: 2: expected a pair of two names of brokers, found ['c']",
                "publishers: p: expected a broker, found 'z'",
                "subscribers: expected a mapping from names to brokers, found 3",
            ],
        ),
        (
            {"links": [["a", "b"]], "brokers": ["c"]},
            ["links: expected a way from 'c' to every broker, found none to 'a'"],
        ),
        ({"links": "a-b"}, ["links: expected a list, found 'a-b'"]),
        ({"links": [], "speed": 3}, ["expected one of shape", "brokers: expected a list of names"]),
    ],
)
def test_problems_say_what_was_expected(document, problems):
    with pytest.raises(InvalidTopology) as raised:
        topology_of(document)
    lines = str(raised.value).splitlines()
    assert len(lines) == len(problems)
    for line, problem in zip(lines, problems, strict=True):
        assert line.startswith(problem)


def test_files(tmp_path):
    document = {"shape": {"chain": {"cores": 2, "edges": 1}}, "publishers": {"p": "core1"}}
    (tmp_path / "net.json").write_text(json.dumps(document))
    (tmp_path / "net.yaml").write_text(
        "shape: {chain: {cores: 2, edges: 1}}\npublishers: {p: core1}"
    )
    assert read_topology(tmp_path / "net.json") == read_topology(tmp_path / "net.yaml")
    (tmp_path / "bad.yaml").write_text("links: [")
    with pytest.raises(InvalidTopology, match=r"bad\.yaml: line 1"):
        read_topology(tmp_path / "bad.yaml")


@pytest.mark.parametrize(
    ("shape", "most"),
    [
        ({"chain": {"cores": 10**9}}, "10,000"),
        ({"chain": {"cores": 2, "edges": 10**400}}, "10,000"),
        ({"hierarchy": {"levels": 10**9}}, "10,000"),
        ({"hierarchy": {"levels": 10**9, "children": 1}}, "10,000"),
        ({"hierarchy": {"levels": 5, "children": 10**400}}, "10,000"),
        ({"star": {"edges": 10_000}}, "10,000"),
        ({"tree": {"brokers": 10**9}}, "10,000"),
        ({"graph": {"brokers": 2_001}}, "2,000"),
    ],
)
def test_shapes_of_too_many_brokers(shape, most):
    (name,) = shape
    with pytest.raises(InvalidTopology) as refused:
        topology_of({"shape": shape})
    assert str(refused.value) == f"shape.{name}: expected at most {most} brokers, found more"


def test_shapes_up_to_the_limit():
    assert len(topology_of({"shape": {"star": {"edges": 9_999}}}).brokers) == 10_000
    assert len(topology_of({"shape": {"hierarchy": {"levels": 13}}}).brokers) == 2**13 - 1
    assert len(topology_of({"shape": "chain"}).brokers) == 60


GOOD = {
    "shape": {"shape": {"hierarchy": {"levels": 2}}, "publishers": {"cinema": "b1"}},
    "links": {"links": [["a", "b"]], "brokers": ["a", "b"], "subscribers": {"ann": "b"}},
}


@examples(150)
@given(st.data(), st.sampled_from([*GOOD]), values, st.booleans())
def test_any_value_in_any_place(data, which, value, renamed):
    document = json.loads(json.dumps(GOOD[which]))
    holder, key = data.draw(st.sampled_from(places(document, [])))
    if renamed and isinstance(holder, dict):
        holder[data.draw(scalars)] = holder.pop(key)
    else:
        holder[key] = value
    try:
        topology_of(document)
    except InvalidTopology as error:
        lines = str(error).split("\n")
        assert all(line.isprintable() and len(line) < 500 for line in lines)
