"""What leaves shortlists is told the same way, whatever the cut into batches and the restarts."""

import json

import pytest

from shortlist.intake.files import registry_from_documents
from shortlist.model.settings import Settings
from tests.live.deployments import Deployment, expected, numbered
from tests.strategies import cuts, registry, seeded, timeline


def run(made, lines, settings, shards, pick=None):
    """In one batch; or cut, restarted and rescaled at will."""
    deployment = Deployment(made, settings, shards, with_departures=True)
    for batch in cuts(pick, numbered(lines)) if pick else [numbered(lines)]:
        deployment.run(batch)
        match pick([None, None, "restart", "rescale"]) if pick else None:
            case "restart":
                deployment.start()
            case "rescale":
                deployment.rescale(pick([1, 2, 3]))
    deployment.run([], last=True)
    return deployment.outlet


@pytest.mark.parametrize("part", range(2))
def test_departures_do_not_depend_on_batches(part):
    for seed in range(6 * part, 6 * (part + 1)):
        pick = seeded(seed)
        made = registry_from_documents(registry(pick))
        settings, lines = Settings(lateness=pick([0, 0, "1s"])), timeline(pick, 40)
        whole, cut = run(made, lines, settings, 1), run(made, lines, settings, 2, pick)
        assert cut.departures == whole.departures, seed
        assert cut.deliveries == whole.deliveries == expected(made, lines, settings)[0], seed


def test_a_window_that_empties():
    best = {"id": "best", "score": "fit", "policy": {"kind": "window", "k": 1, "window": "5s"}}
    made = registry_from_documents({"subscriptions": [best]})
    lines = [
        json.dumps(
            {
                "id": name,
                "source": "s",
                "time": f"2026-03-01T00:00:0{second}Z",
                "data": {"fit": fit},
            }
        )
        for name, second, fit in (("a", 0, 1), ("b", 1, 2))
    ]
    found = run(made, lines, Settings(lateness=0), 1).departures
    assert [
        (each["publication"], each["time"][17:19], each["reason"])
        for each in map(json.loads, found)
    ] == [
        ("a", "01", "outranked"),
        ("b", "06", "window"),
    ]
