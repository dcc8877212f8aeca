"""Every plan leads to the deliveries of the engine, and counts the same."""

import pytest

from shortlist.intake.files import registry_from_documents
from shortlist.live.keys import ByCell, ByValue
from shortlist.live.plans import Choice
from shortlist.model.settings import Settings
from tests.live.deployments import Deployment, expected, numbered
from tests.strategies import SECOND, cuts, registry, seeded, timeline

PATHS = [
    ("price",),
    ("size",),
    ("mood",),
    ("genre",),
    ("scores",),
    ("open",),
    ("address", "city"),
    ("event", "source"),
    ("released",),
]


def drawn_choice(pick, plan, shards):
    """Any attribute: a poor key is slow, and never wrong."""
    lanes = pick([1, 2, 3, 5])
    key = None
    if plan == "rendezvous":
        key = pick([ByValue(pick(PATHS), lanes), ByCell(pick(PATHS), (2.0, 3.0, 4.5)[: lanes - 1])])
        lanes = max(lanes, len(key.bounds) + 1) if isinstance(key, ByCell) else lanes
    return Choice(plan=plan, lanes=lanes, key=key, why="")


def start_with(deployment, choice):
    deployment.start()
    deployment.driver.choice = choice


@pytest.mark.parametrize("plan", ["broadcast", "rendezvous"])
@pytest.mark.parametrize("part", range(3))
def test_the_same_deliveries_in_the_same_order(plan, part):
    for seed in range(40 * part, 40 * (part + 1)):
        pick = seeded(seed)
        made = registry_from_documents(registry(pick))
        settings = Settings(
            lateness=pick([None, 0, 0, SECOND]),
            advertised=pick(["optional", "optional", "required"]),
        )
        lines, shards = timeline(pick, 40), pick([1, 2, 3])
        deployment = Deployment(made, settings, shards)
        plain = Deployment(made, settings, 1)
        start_with(deployment, drawn_choice(pick, plan, shards))
        for batch in cuts(pick, numbered(lines)):
            deployment.run(batch)
            plain.run(batch)
            if pick([False, False, True]):
                start_with(deployment, drawn_choice(pick, pick([plan, plan, "replicate"]), shards))
        deployment.run([], last=True)
        plain.run([], last=True)
        deliveries, refusals = expected(made, lines, settings)
        assert deployment.outlet.deliveries == deliveries, seed
        assert sorted(deployment.outlet.refusals) == refusals, seed
        assert deployment.driver.manifest.counts == plain.driver.manifest.counts, seed
