"""What the simulator counts, beside the formulas where their assumptions hold."""

import pytest

from experiments.top_k_w.message_model import Setting
from shortlist.model.command import Define, Retract
from shortlist.model.publication import Publication
from shortlist.overlay.broker import Network
from shortlist.overlay.central import NotRoutable, central
from shortlist.overlay.drawing import drawn
from shortlist.overlay.simulator import simulate
from shortlist.overlay.strategies import STRATEGIES
from shortlist.overlay.topology import Topology, hierarchy, star
from tests.overlay.small_worlds import publication, registry

TREE = hierarchy(4, 2)
"""Fifteen brokers."""


def disjoint() -> tuple[Topology, list[dict]]:
    """One subscription at every broker but the first, and no two that match the same."""
    names = TREE.brokers[1:]
    subscriptions = [{"id": name, "where": f"x = {n}"} for n, name in enumerate(names)]
    homes = {name: name for name in names}
    return Topology(TREE.brokers, TREE.links, {"p": "b1"}, homes), subscriptions


def test_floodings_take_as_many_messages_as_the_formulas_say():
    network, subscriptions = disjoint()
    news = [publication(f"n{n}", n, n, x=n % 20) for n in range(50)]
    known = registry(*subscriptions)
    matches = len(central(known, news, STRATEGIES["covering"]).deliveries)
    model = Setting(
        publications=50, subscriptions=14, brokers=15, matches=matches, updates=0
    ).messages()
    for name in ("publication-flooding", "subscription-flooding"):
        counted = simulate(network, known, news, STRATEGIES[name]).traffic
        for kind in ("subscribe", "publish", "deliver", "update"):
            assert counted.of(kind) == getattr(model[name], kind), (name, kind)


def test_covering_takes_as_many_as_ways_are_long():
    network, subscriptions = disjoint()
    known = registry(*subscriptions)
    news = [publication(f"n{n}", n, n, x=n) for n in range(14)]
    traffic = simulate(network, known, news, STRATEGIES["covering"]).traffic
    assert traffic.of("subscribe") == 14 * 14  # nothing covers anything
    assert traffic.of("deliver") == sum(len(network.path("b1", b)) - 1 for b in TREE.brokers)
    assert traffic.by_hop("deliver") == {1: 14, 2: 12, 3: 8}


def test_one_that_covers_all_is_the_only_one_to_travel():
    known = registry({"id": "all"}, *({"id": f"s{n}", "where": f"x = {n}"} for n in range(9)))
    homes = dict.fromkeys(["all", *(f"s{n}" for n in range(9))], "b2")
    network = Topology(TREE.brokers, TREE.links, {"p": "b1"}, homes)
    covered = simulate(network, known, [], STRATEGIES["covering"])
    assert covered.traffic.of("subscribe") == 14
    assert covered.known == {name: int(name != "b2") for name in TREE.brokers}
    flooded = simulate(network, known, [], STRATEGIES["subscription-flooding"])
    assert flooded.known == {name: 10 * (name != "b2") for name in TREE.brokers}


def test_merging_takes_fewer_proxies():
    parts = [{"id": f"s{n}", "where": f"x between {n} and {n + 1.5}"} for n in range(6)]
    homes = {part["id"]: "b2" for part in parts}
    network = Topology(TREE.brokers, TREE.links, {"p": "b1"}, homes)
    news = [publication(f"n{n}", n, n, x=n) for n in range(9)]
    counts = {}
    for merges in (False, True):
        options = Network(merges=merges)
        report = simulate(network, registry(*parts), news, STRATEGIES["covering"], options)
        expected = central(registry(*parts), news, STRATEGIES["covering"])
        assert report.deliveries == expected.deliveries
        counts[merges] = report.traffic.of("subscribe")
    assert counts == {False: 6 * 14, True: 14}


def test_links_lose_what_they_are_told_to_lose():
    known = registry(*({"id": f"s{n}"} for n in range(8)))
    news = [publication(f"n{n}", n, n) for n in range(50)]
    strategy = STRATEGIES["publication-flooding"]
    expected = central(known, news, strategy).deliveries
    report = simulate(star(8), known, news, strategy, Network(loss=0.2))
    assert 0 < report.recall(expected) < 1
    assert report.traffic.lost > 0
    again = simulate(star(8), known, news, strategy, Network(loss=0.2))
    assert again.deliveries == report.deliveries
    other = simulate(star(8), known, news, strategy, Network(loss=0.2, seed=1))
    assert other.deliveries != report.deliveries


@pytest.mark.parametrize("name", [*STRATEGIES])
def test_an_empty_world_is_silent(name):
    report = simulate(star(2), registry(), [], STRATEGIES[name])
    assert (report.deliveries, report.traffic.total) == ([], 0)


def test_what_brokers_do_not_take_is_said():
    taken_back = Retract(time=0, position=7, source="p", publication="n")
    with pytest.raises(NotRoutable, match="no command retract, found one at 7"):
        simulate(star(2), registry(), [taken_back], STRATEGIES["covering"])
    defined = Define(time=0, position=8, attribute=("rent",), terms={"cheap": None})
    with pytest.raises(NotRoutable, match="no command define, found one at 8"):
        simulate(star(2), registry(), [defined], STRATEGIES["covering"])
    again = Publication(id="n", source="p", time=0, position=1, replaces="m")
    with pytest.raises(NotRoutable, match="no `replaces`, found one at 1"):
        simulate(star(2), registry(), [again], STRATEGIES["covering"])
    advertised = registry(advertisements=[{"id": "a", "source": "p", "k": 1}])
    with pytest.raises(NotRoutable, match="covering: expected no advertisements"):
        simulate(star(2), advertised, [], STRATEGIES["covering"])


def test_the_drawing_has_every_broker_and_link():
    network, subscriptions = disjoint()
    news = [publication("n", 0, 1, x=3)]
    for name in ("covering", "subscription-flooding"):
        report = simulate(network, registry(*subscriptions), news, STRATEGIES[name])
        image = drawn(network, report)
        assert image.count("<circle") == 15
        assert image.count("<line") == 14
    assert image.count("class='direct'") == 1
