"""Nearest-first shortlists: what cannot matter is left out before it has a score."""

import numpy as np
import pytest

from shortlist.engine.engine import Engine
from shortlist.intake.files import registry_from_documents
from shortlist.matching.scan import Scan
from shortlist.model.publication import Publication
from shortlist.model.settings import Settings
from tests.strategies import seeded

POLICIES = [
    {"kind": "window", "k": 1, "window": 40},
    {"kind": "window", "k": 2, "window": "12ms"},
    {"kind": "window", "k": 3, "window": "5ms"},
    {"kind": "window", "k": 3, "window": "9ms"},
    {"kind": "window", "k": 2, "window": None},
    {"kind": "top-k", "k": 2},
    {"kind": "top-k", "k": 2, "refresh": "6ms"},
    {"kind": "fresh", "k": 2, "window": "40ms", "half_life": "10ms"},
    [{"kind": "window", "k": 3, "window": "30ms"}, {"kind": "top-k", "k": 1, "refresh": "9ms"}],
]


def subscription(pick, number):
    function = pick(["distance", "distance", "max_distance"])
    point = f"x: {pick(range(9))}, y: {pick(range(5))} weight {pick([0.5, 1, 2])}"
    made = {"id": f"s{number}", "score": f"-{function}({point})", "policy": pick(POLICIES)}
    if pick([False] * 5 + [True]):
        made |= pick([{"at_least": {"score": -3}}, {"where": "x > 2"}, {"combine": "mean"}])
    return made


def publication(pick, number, time):
    coordinates = {
        "x": pick([*range(9), *range(9), pick(range(90)) / 10, 1e200, None, "far"]),
        "y": pick([*range(5), 0.5]),
    }
    expiry = time + pick([50, 1000, 7000]) if pick([False, True]) else None
    return Publication(
        id=f"p{number}", source="s", time=time, position=number, expiry=expiry, data=coordinates
    )


@pytest.mark.parametrize("seed", range(30))
def test_left_out_or_not_the_deliveries_are_the_same(seed):
    pick, rng = seeded(seed), np.random.default_rng(seed)
    document = {"subscriptions": [subscription(pick, number) for number in range(6)]}
    if seed % 4 == 3:
        document["advertisements"] = [{"id": "a", "source": "s", "where": "x > 6", "k": 2}]
    registry = registry_from_documents(document)
    times = np.cumsum(rng.integers(0, 30, 1500)).tolist()
    items = [publication(pick, number, time) for number, time in enumerate(times)]
    plain = Engine(registry, Settings(lateness=0), matcher=Scan)
    expected = plain.process(items, last=True).deliveries
    engine, found = Engine(registry, Settings(lateness=0)), []
    for first in range(0, len(items), 700):
        found += engine.process(items[first : first + 700]).deliveries
    found += engine.process([], last=True).deliveries
    assert sorted(found, key=lambda delivery: delivery.order) == expected
    assert engine.counts == plain.counts
