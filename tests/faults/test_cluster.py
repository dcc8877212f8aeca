"""A standalone cluster: the same deliveries as anywhere else, also when parts of it are lost."""

import json
import subprocess
import sys

import pytest

from scripts.standalone_cluster import StandaloneCluster
from shortlist import replay
from shortlist.intake.files import registry_from_documents
from shortlist.model.settings import Settings
from tests.faults.processes import PATIENCE, children, kill, wait_until
from tests.faults.stories import Story, everything_killed, fault_seed
from tests.strategies import registry, seeded, timeline

pytestmark = [pytest.mark.soak, pytest.mark.spark]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with StandaloneCluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


def executors(cluster):
    return [pid for worker in cluster.workers for pid in children(worker.pid)]


def test_a_batch(cluster, tmp_path):
    pick = seeded(5)
    document, lines = registry(pick), timeline(pick, 200)
    (tmp_path / "registry.json").write_text(json.dumps(document))
    (tmp_path / "timeline.jsonl").write_text("".join(f"{line}\n" for line in lines))
    asked = ["run", tmp_path / "registry.json", "--timeline", tmp_path / "timeline.jsonl"]
    asked += ["--out", tmp_path / "deliveries.jsonl", "--master", cluster.url, "--lateness", "0"]
    subprocess.run(
        [sys.executable, "-m", "shortlist", *map(str, asked)], check=True, timeout=PATIENCE
    )
    found = (tmp_path / "deliveries.jsonl").read_text().splitlines()
    expected = replay(registry_from_documents(document), lines, Settings(lateness=0)).deliveries
    assert found == [json.dumps(each.document(), ensure_ascii=False) for each in expected]
    assert found


def test_a_deployment_that_loses_executors_and_a_worker(cluster, tmp_path):
    """It goes on with what is left; a driver that is started again gets other executors."""

    def executor_killed(story):
        kill(story.random.choice(wait_until(lambda: executors(cluster), "an executor")))

    def cluster_worker_killed(story):
        worker = cluster.workers.pop()
        lost = children(worker.pid)
        worker.kill()
        for pid in lost:
            kill(pid)

    def with_another_worker(story):
        cluster.add_worker()
        wait_until(lambda: cluster.alive == 2, "two workers")
        everything_killed(story)

    with Story(tmp_path, fault_seed(), options=["--master", cluster.url]) as story:
        story.wait_for_commit()
        for fault in (executor_killed, cluster_worker_killed, everything_killed, executor_killed):
            story.wait_for_a_moment()
            story.strike(fault)
        story.strike(with_another_worker)
        outcome = story.end()
    assert outcome.verdict.faults == 0, outcome
    assert outcome.verdict.deliveries > 0, outcome
