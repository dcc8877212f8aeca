"""Every exact strategy delivers what one engine delivers, whatever the network and the timeline."""

import pytest

from shortlist.overlay.broker import Network
from shortlist.overlay.central import central
from shortlist.overlay.simulator import simulate
from shortlist.overlay.strategies import STRATEGIES
from tests.overlay.drawn_networks import spread_out, story, topology
from tests.strategies import seeded

PLAIN = ["publication-flooding", "subscription-flooding", "covering", "rendezvous"]
AUDIENCE = ["regular-cover", "regular-k", "rank-cover-k", "ancestor-cover-k"]
FEW, MANY = range(7), range(1000, 2500)


def check(seed: int, name: str, kind: str, delay: int = 0) -> None:
    pick = seeded(seed)
    strategy, brokers = STRATEGIES[name], topology(pick)
    registry, items = story(pick, kind)
    if delay:
        items = spread_out(items, gap=brokers.diameter * delay + 1)
    network = Network(
        delay=delay,
        seed=seed,
        cell=pick([None, None, 1.0, 0.25]),
        merges=pick([False, True]),
    )
    report = simulate(brokers, registry, items, strategy, network)
    expected = central(registry, items, strategy)
    made = [delivery.columns() for delivery in report.deliveries]
    assert made == [delivery.columns() for delivery in expected.deliveries], f"seed {seed}"
    assert sorted(reject.position for reject in report.rejects) == sorted(
        reject.position for reject in expected.rejects
    )


CASES = [
    *(pytest.param(name, "any", id=f"{name}-any") for name in PLAIN),
    *(pytest.param(name, "windows", id=f"{name}-windows") for name in PLAIN),
    *(pytest.param(name, "audience", id=f"{name}-audience") for name in AUDIENCE),
]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_at_once(name, kind):
    for seed in FEW:
        check(seed, name, kind)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_with_delays(name, kind):
    for seed in FEW[::3]:
        check(seed, name, kind, delay=20_000)


@pytest.mark.soak
@pytest.mark.parametrize("delay", [0, 20_000])
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_thousands(name, kind, delay):
    for seed in MANY:
        check(seed, name, kind, delay)


def test_a_cell_passes_on_what_another_cell_has_delivered_there():
    check(250146, "rendezvous", "any")
