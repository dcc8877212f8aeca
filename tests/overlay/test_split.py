"""Novelty shortlists whose subscriptions are held by several brokers."""

from dataclasses import replace
from typing import Any

import pytest

from shortlist.model.command import Item, Open, Subscribe
from shortlist.model.policy import Everything
from shortlist.model.registry import Registry
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.overlay.broker import Network
from shortlist.overlay.central import NotRoutable, central
from shortlist.overlay.report import Report
from shortlist.overlay.simulator import simulate
from shortlist.overlay.strategies import STRATEGIES
from shortlist.overlay.topology import Topology, star
from tests.overlay.drawn_networks import NOVEL, split, spread_out, story
from tests.overlay.small_worlds import publication, registry
from tests.strategies import seeded

EXACT = ["publication-flooding", "subscription-flooding", "covering", "rendezvous"]
GOSSIP = ["basic-gossip", "informed-gossip"]
FEW, MANY = range(5), range(1000, 2000)


def drawn(seed: int, name: str, delay: int, exchange: int | None) -> tuple[Report, list]:
    """What brokers deliver in a drawn world, and what one engine does."""
    pick = seeded(seed)
    strategy, brokers = STRATEGIES[name], split(pick)
    known, items = story(pick, "split", most=60)
    if delay:
        items = spread_out(items, gap=brokers.diameter * delay + 1)
    network = Network(delay=delay, seed=seed, exchange=exchange)
    report = simulate(brokers, known, items, strategy, network)
    return report, central(known, items, strategy).deliveries


def check_exact(seed: int, name: str, delay: int) -> int:
    report, expected = drawn(seed, name, delay, None)
    made = [delivery.columns() for delivery in report.deliveries]
    assert made == [delivery.columns() for delivery in expected], f"seed {seed}"
    return report.traffic.of("match")


@pytest.mark.parametrize("name", EXACT)
def test_homes_that_hear_of_every_match_deliver_what_one_engine_does(name):
    counted = sum(check_exact(seed, name, delay) for seed in FEW for delay in (0, 20_000))
    assert counted > 0


@pytest.mark.soak
@pytest.mark.parametrize("delay", [0, 20_000])
@pytest.mark.parametrize("name", EXACT)
def test_thousands(name, delay):
    for seed in MANY:
        check_exact(seed, name, delay)
        check_decided(seed, name, seed % 7 + 1, delay)


def world(length: int) -> tuple[Registry, list[Item]]:
    """A novelty shortlist with three members, one of them popular, and publications for it."""
    policy = {"kind": "novelty", "rate": 0.3, "period": 20}
    shortlists = [{"id": "news", "subscriber": "anna", "policy": policy}]
    members = [{"id": f"m{n}", "shortlist": "news", "where": f"x = {n}"} for n in range(3)]
    kinds = [0, 0, 1, 0, 0, 0, 2, 0, 1, 0]
    known = registry(*members, shortlists=shortlists)
    return known, [publication(f"n{n}", n, n, x=kinds[n % 10]) for n in range(length)]


def at(*holders: str) -> Topology:
    """A star with a publisher at its hub, anna at b1, and members held at these brokers."""
    held = {f"m{n}": holder for n, holder in enumerate(holders)}
    return replace(star(4), publishers={"p": "hub"}, subscribers={"anna": "b1"}, subscriptions=held)


@pytest.mark.parametrize("exchange", [None, 1, 5])
def test_one_holder_decides_as_one_engine_does(exchange):
    known, news = world(200)
    strategy = STRATEGIES["covering"]
    options = Network(exchange=exchange)
    report = simulate(at("b2", "b2", "b2"), known, news, strategy, options)
    assert report.deliveries == central(known, news, strategy).deliveries


def test_what_is_told_is_counted():
    known, news = world(200)
    strategy = STRATEGIES["covering"]
    delivered = len(central(known, news, strategy).deliveries)
    brokers = at("b2", "b2", "b2")  # two hops from b1
    exact = simulate(brokers, known, news, strategy)
    assert exact.traffic.by_hop("match") == {1: 200, 2: 200}
    assert exact.traffic.of("counts") == 0
    seldom = simulate(brokers, known, news, strategy, Network(exchange=10))
    assert seldom.traffic.of("match") == 2 * delivered
    exchanges = 1 + 200 // 10  # a holder asks how things are when it begins
    assert seldom.traffic.by_hop("counts") == {1: 2 * exchanges, 2: 2 * exchanges}
    at_home = simulate(at("b1", "b1", "b1"), known, news, strategy)
    assert at_home.traffic.of("match") == 0


def test_the_more_often_counts_are_exchanged_the_nearer_deliveries_are():
    known, news = world(300)
    strategy = STRATEGIES["covering"]
    expected = central(known, news, strategy).deliveries
    brokers, recalls, told = at("b2", "b3", "b4"), [], []
    for exchange in (100, 1):
        report = simulate(brokers, known, news, strategy, Network(exchange=exchange))
        recalls.append(report.recall(expected))
        told.append(report.traffic.of("counts"))
    assert recalls[0] < recalls[1] == 1.0
    assert told[0] < told[1]


@pytest.mark.parametrize("name", [*EXACT, *GOSSIP])
def test_holders_that_decide_deliver_only_what_matches_and_nothing_twice(name):
    for seed in FEW[:3]:
        check_decided(seed, name, exchange=seed % 4 + 1)
        check_decided(seed, name, exchange=[None, 1, 3][seed % 3], delay=20_000)


def check_decided(seed: int, name: str, exchange: int | None, delay: int = 0) -> None:
    pick = seeded(seed)
    strategy, brokers = STRATEGIES[name], split(pick)
    known, items = story(pick, "split", most=60)
    options = Network(delay=delay, seed=seed, exchange=exchange)
    report = simulate(brokers, known, items, strategy, options)
    everything = central(*with_all(known, items), strategy).deliveries
    matches = {(each.shortlist, each.publication.position) for each in everything}
    made = [
        (each.shortlist, each.publication.position)
        for each in report.deliveries
        if each.shortlist in NOVEL
    ]
    assert {*made} <= matches, f"seed {seed}"
    assert len(made) == len({*made}), f"seed {seed}"


def with_all(known: Registry, items: list[Item]) -> tuple[Registry, list[Item]]:
    """The same, but shortlists that may be split get everything."""

    def more(each: Any) -> Any:
        is_novel = (each.shortlist_id if isinstance(each, Subscription) else each.id) in NOVEL
        has_policy = isinstance(each, Shortlist) or each.shortlist is None
        return replace(each, policy=Everything()) if is_novel and has_policy else each

    def changed(item: Item) -> Item:
        match item:
            case Open(shortlist=shortlist):
                return replace(item, shortlist=more(shortlist))
            case Subscribe(subscription=subscription):
                return replace(item, subscription=more(subscription))
        return item

    shortlists = tuple(map(more, known.shortlists))
    subscriptions = tuple(map(more, known.subscriptions))
    return replace(known, shortlists=shortlists, subscriptions=subscriptions), [
        *map(changed, items)
    ]


def test_what_cannot_be_split_is_said():
    known, _ = world(0)
    with pytest.raises(NotRoutable, match="regular-k: expected subscriptions at the brokers of"):
        simulate(at("b2"), known, [], STRATEGIES["regular-k"])
    window = {"id": "m0", "policy": {"kind": "window", "k": 1, "window": None}}
    with pytest.raises(NotRoutable, match=r"m0: expected one of .* policy novelty, found window"):
        simulate(at("b2"), registry(window), [], STRATEGIES["covering"])
    named = replace(known, subscriptions=(*known.subscriptions, Subscription(id="m3")))
    also = Subscribe(time=0, position=0, subscription=Subscription(id="m3", shortlist="news"))
    with pytest.raises(NotRoutable, match="m3: expected a name that no shortlist has"):
        simulate(at("b2"), named, [also], STRATEGIES["covering"])
