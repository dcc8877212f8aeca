"""What goes from a driver to its shards."""

import json

from shortlist.intake.files import registry_from_documents
from shortlist.model.settings import Settings
from tests.live.deployments import Deployment


def stored_items(words):
    """The size of the file that a shard gets of publications with so many words nobody asks for."""
    registry = registry_from_documents({"subscriptions": [{"id": "all"}]})
    deployment = Deployment(registry, Settings(lateness=0), shards=1)
    times = [f"2026-01-01T00:00:0{second}Z" for second in range(9)]
    deployment.run(
        [
            (
                position,
                json.dumps(
                    {"id": f"p{position}", "source": "s", "time": time, "data": {"text": words}}
                ),
            )
            for position, time in enumerate(times, 1)
        ]
    )
    (taken,) = deployment.driver.manifest.shards[0].inputs
    return taken.items.size


def test_lines_of_publications_take_no_room_in_what_shards_get():
    assert stored_items("word " * 1000) == stored_items("word")
