"""`run --stream` against `run`'s engine: any cut into micro-batches, any number of shards."""

import json

import pytest
from rich.console import Console

from shortlist.engine.replay import replay
from shortlist.intake.files import registry_from_documents
from shortlist.jobs.job import Job, Outputs, Streamed
from shortlist.model.settings import Settings
from shortlist.progress import Steps
from shortlist.spark.job import OnSpark
from tests.strategies import registry, seeded, timeline

pytestmark = pytest.mark.spark
QUIET = Steps(Console(), quiet=True)


def streamed(folder, made, source, settings, shards=None, **how):
    outputs = Outputs(deliveries=folder / "out.jsonl", rejects=folder / "rejects.jsonl")
    job = Job(made, source, outputs, settings, QUIET, commands=True, shards=shards)
    report = job.run(OnSpark(), Streamed(**how))
    refused = [json.loads(line) for line in outputs.rejects.read_text().splitlines()]
    rejects = [(int(each["position"].partition(":")[2]), each["reason"]) for each in refused]
    return outputs.deliveries.read_text().splitlines(), rejects, report


@pytest.mark.parametrize(
    ("seed", "at_most", "shards", "lateness"),
    [
        (1, 1, 2, 0),
        (3, 7, 3, "2s"),
        *(
            pytest.param(*how, marks=pytest.mark.soak)
            for how in ((2, 7, 1, 0), (3, 7, 8, "2s"), (4, 100, 2, 0), (5, None, 8, None))
        ),
        (6, None, 1, 0),
    ],
)
def test_a_stream_gives_what_the_engine_gives(tmp_path, spark, seed, at_most, shards, lateness):
    pick = seeded(seed)
    made, lines = (
        registry_from_documents(registry(pick)),
        timeline(pick, 20 if at_most == 1 else 60),
    )
    source = tmp_path / "timeline.jsonl"
    source.write_text("\n".join(lines))
    settings = Settings(lateness=lateness)
    expected = replay(made, lines, settings)
    deliveries, rejects, report = streamed(
        tmp_path, made, source, settings, at_most=at_most, shards=shards
    )
    assert deliveries == [
        json.dumps(each.document(), ensure_ascii=False) for each in expected.deliveries
    ]
    assert rejects == [(each.position, each.reason) for each in expected.rejects]
    assert report["deliveries"] == len(expected.deliveries)
    assert report["rejects"] == len(expected.rejects)
