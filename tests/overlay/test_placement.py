"""Subscribers who choose: similar ones gather, and messages are saved."""

from dataclasses import replace
from random import Random

import pytest

from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.overlay.placement import Server, placed
from shortlist.overlay.simulator import simulate
from shortlist.overlay.strategies import STRATEGIES
from shortlist.overlay.topology import Topology, hierarchy
from tests.overlay.small_worlds import publication, registry


def test_the_example_of_the_paper():
    a, b = Server(Vocabulary()), Server(Vocabulary())
    a.join([Subscription(id="x1", where="genre = 'comedy'")])
    b.join([Subscription(id="x2", where="genre = 'drama'")])
    wanted = [Subscription(id="x3", where="genre = 'comedy' and length > 120")]
    assert (a.new_top_level(wanted), b.new_top_level(wanted)) == (0, 1)
    assert (a.nodes, b.nodes) == (1, 1)  # who only asks leaves nothing behind


def test_criteria():
    known = registry(
        {"id": "wide", "where": "x < 9"},
        {"id": "other", "where": "y < 9"},
        {"id": "narrow", "where": "x < 5"},
    )
    by_level = placed(known, ["a", "b"], "top-level")
    assert by_level["narrow"] == by_level["wide"]
    by_nodes = placed(known, ["a", "b"], "nodes")
    assert by_nodes["wide"] != by_nodes["other"]
    both = placed(known, ["a", "b"], "both")
    assert both["narrow"] == both["wide"]
    assert both["other"] != both["wide"]
    assert {*placed(known, ["a", "b"], "random", probes=1)} == {"wide", "other", "narrow"}


@pytest.mark.parametrize("criterion", ["top-level", "both"])
def test_messages_are_saved(criterion):
    random = Random(7)
    some = [
        {
            "id": f"s{n}",
            "where": f"genre = '{random.choice('abcdefgh')}' and x < {random.randint(1, 9)}",
        }
        for n in range(60)
    ]
    news = [
        publication(f"n{n}", n, n, genre=random.choice("abcdefgh"), x=random.randint(0, 9))
        for n in range(200)
    ]
    known, plain = registry(*some), hierarchy(4, 2)
    plain = Topology(plain.brokers, plain.links, {"p": "b1"})
    totals = {}
    for how in ("random", criterion):
        homes = placed(known, plain.edges, how)
        network = replace(plain, subscribers=homes)
        totals[how] = simulate(network, known, news, STRATEGIES["covering"]).traffic.total
    assert totals[criterion] < 0.8 * totals["random"]
