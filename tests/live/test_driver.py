"""A deployment against the engine, whatever the cut into batches, the shards and the restarts."""

import pytest

from shortlist.intake.files import registry_from_documents
from shortlist.model.settings import Settings
from tests.live.deployments import Deployment, expected, numbered
from tests.strategies import SECOND, cuts, registry, seeded, timeline


@pytest.mark.parametrize("part", range(4))
def test_the_same_deliveries_in_the_same_order(part):
    for seed in range(15 * part, 15 * (part + 1)):
        pick = seeded(seed)
        made = registry_from_documents(registry(pick))
        settings = Settings(
            lateness=pick([None, 0, 0, SECOND]),
            advertised=pick(["optional", "optional", "required"]),
        )
        lines = timeline(pick, 40)
        deployment = Deployment(made, settings, shards=pick([1, 2, 3]))
        for batch in cuts(pick, numbered(lines)):
            deployment.run(batch)
            match pick([None, None, None, "restart", "rescale", "move"]):
                case "restart":
                    deployment.start()
                case "rescale":
                    deployment.rescale(pick([1, 2, 3]))
                case "move":
                    deployment.move()
        deployment.run([], last=True)
        deliveries, refusals = expected(made, lines, settings)
        found = deployment.outlet.all()
        assert found[0] == deliveries, seed
        assert sorted(found[1]) == refusals, seed
