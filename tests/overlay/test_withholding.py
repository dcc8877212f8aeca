"""Windows across brokers: what cannot enter is withheld, and sent when it can."""

import pytest

from shortlist.model.command import Subscribe
from shortlist.model.subscription import Subscription
from shortlist.overlay.broker import Network
from shortlist.overlay.central import central
from shortlist.overlay.report import Report
from shortlist.overlay.simulator import simulate
from shortlist.overlay.strategies import STRATEGIES
from shortlist.overlay.topology import Topology
from tests.overlay.small_worlds import publication, registry

PAIR = Topology(("left", "right"), (("left", "right"),), {"p": "left"}, {"s": "right"})
BEST_OF_FIVE_SECONDS = {
    "id": "s",
    "score": "x",
    "policy": {"kind": "window", "k": 1, "window": "5s"},
}
NEWS = [
    publication("a", 0, 1, x=9),
    publication("b", 1, 2, expires=4, x=5),
    publication("c", 2, 3, x=7),
    publication("d", 9, 4, x=1),
]


def routed(strategy: str = "covering", **options: float) -> Report:
    known = registry(BEST_OF_FIVE_SECONDS)
    report = simulate(PAIR, known, NEWS, STRATEGIES[strategy], Network(**options))
    assert report.deliveries == central(known, NEWS, STRATEGIES[strategy]).deliveries
    return report


@pytest.mark.parametrize("strategy", ["covering", "subscription-flooding"])
def test_what_cannot_enter_stays_where_it_is(strategy):
    report = routed(strategy)
    made = [(each.publication.id, each.time // 1_000_000) for each in report.deliveries]
    assert made == [("a", 0), ("c", 5), ("d", 9)]
    # b is worse than a, and expires before a leaves: it never travels
    assert report.traffic.of("deliver") == 3


def test_thresholds_are_told_as_they_move():
    # up to 9 by a; down as it leaves, up to 7 by c; down as that leaves; up to 1; down at the end
    assert routed().traffic.of("update") == 6


def test_thresholds_by_cell_are_told_less_often_and_send_more():
    report = routed(cell=20.0)
    assert report.traffic.of("update") < 6
    assert report.traffic.of("deliver") == 4


def test_delays_change_nothing_but_the_hour():
    routed(delay=1000)


def test_a_window_of_so_many_matches_hears_of_every_match():
    known = registry(BEST_OF_FIVE_SECONDS | {"policy": {"kind": "window", "k": 1, "window": 2}})
    report = simulate(PAIR, known, NEWS, STRATEGIES["covering"])
    assert report.traffic.of("deliver") == 4
    assert report.traffic.of("update") == 0


def test_a_newer_cover_does_not_hide_what_an_older_window_may_want():
    """b is withheld when `all` comes; `all` covers the window, but not what came before it."""
    homes = {"s": "right", "all": "right"}
    network = Topology(("left", "right"), (("left", "right"),), {"p": "left"}, homes)
    known = registry(BEST_OF_FIVE_SECONDS)
    every = Subscribe(time=1_500_000, position=3, subscription=Subscription(id="all"))
    items = [publication("a", 0, 1, x=9), publication("b", 1, 2, x=5), every]
    report = simulate(network, known, items, STRATEGIES["covering"])
    assert [each.publication.id for each in report.deliveries] == ["a", "b"]
