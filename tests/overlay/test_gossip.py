"""Gossips may miss something; they deliver nothing wrong, and nothing twice."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from shortlist.engine.engine import Engine
from shortlist.model.command import Open, Subscribe
from shortlist.model.policy import Everything
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.overlay.broker import Network
from shortlist.overlay.central import central
from shortlist.overlay.simulator import simulate
from shortlist.overlay.strategies import STRATEGIES
from shortlist.overlay.topology import random_graph
from tests.overlay.drawn_networks import story, topology
from tests.overlay.small_worlds import publication, registry
from tests.strategies import seeded

GOSSIPS = ["basic-gossip", "informed-gossip"]


def network(rounds: int = 2, fan_out: int = 1, seed: int = 0) -> Network:
    return Network(rounds=rounds, fan_out=fan_out, seed=seed)


def receiving_all(item: Any) -> Any:
    """The same shortlist, subscription or command, with a policy that delivers every match."""
    match item:
        case Shortlist() | Subscription(policy=object()):
            return replace(item, policy=Everything())
        case Open(shortlist=shortlist):
            return replace(item, shortlist=receiving_all(shortlist))
        case Subscribe(subscription=subscription):
            return replace(item, subscription=receiving_all(subscription))
    return item


@pytest.mark.parametrize("name", GOSSIPS)
def test_only_what_matches_is_delivered_and_nothing_twice(name):
    for seed in range(16):
        pick = seeded(seed)
        brokers = topology(pick)
        known, items = story(pick, pick(["any", "windows"]))
        report = simulate(brokers, known, items, STRATEGIES[name], network(seed=seed))
        every = replace(
            known,
            shortlists=tuple(map(receiving_all, known.shortlists)),
            subscriptions=tuple(map(receiving_all, known.subscriptions)),
        )
        matched = Engine(every).process([*map(receiving_all, items)], last=True).deliveries
        allowed = Counter((each.shortlist, each.publication.position) for each in matched)
        made = Counter((each.shortlist, each.publication.position) for each in report.deliveries)
        assert made <= allowed
        expected = central(known, items, STRATEGIES[name]).deliveries
        assert 0 <= report.recall(expected) <= 1


@pytest.mark.parametrize("name", GOSSIPS)
def test_what_everybody_gets_is_part_of_what_one_engine_delivers(name):
    known = registry(*({"id": f"s{n}", "where": f"x >= {n}"} for n in range(8)))
    news = [publication(f"n{n}", n, n, x=n % 9) for n in range(40)]
    brokers = random_graph(12, 10, seed=3)
    expected = central(known, news, STRATEGIES[name]).deliveries
    recalls = []
    for rounds in (0, 1, 3, 12):
        report = simulate(brokers, known, news, STRATEGIES[name], network(rounds))
        keys = [(each.shortlist, each.publication.id) for each in report.deliveries]
        assert len({*keys}) == len(keys)
        assert {*keys} <= {(each.shortlist, each.publication.id) for each in expected}
        recalls.append(report.recall(expected))
    assert recalls == sorted(recalls)
    assert recalls[0] < 1
    again = simulate(brokers, known, news, STRATEGIES[name], network(rounds=3))
    assert again.recall(expected) == recalls[2]


def test_an_informed_gossip_recalls_more():
    known = registry(*({"id": f"s{n}", "where": f"x >= {n}"} for n in range(8)))
    news = [publication(f"n{n}", n, n, x=n % 9) for n in range(40)]
    brokers = random_graph(12, 10, seed=3)
    found = {
        name: simulate(brokers, known, news, STRATEGIES[name], network(2)).recall(
            central(known, news, STRATEGIES[name]).deliveries
        )
        for name in GOSSIPS
    }
    assert found["informed-gossip"] > found["basic-gossip"]
