"""Tasks of shards on Spark."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from shortlist.spark.tasks import Lanes

pytestmark = pytest.mark.spark
PATIENCE = 60.0


@dataclass(frozen=True)
class Work:
    shard: int
    folder: str


def meet(work):
    """Waits until the task of the other shard runs, too."""
    Path(work.folder, str(work.shard)).touch()
    deadline = time.monotonic() + PATIENCE
    while len(os.listdir(work.folder)) < 2:
        assert time.monotonic() < deadline, "the other one does not run"
        time.sleep(0.01)
    return work.shard


@pytest.fixture
def lanes(spark):
    lanes = Lanes(spark)
    yield lanes
    lanes.close()


def test_shards_run_at_the_same_time(lanes, tmp_path):
    works = [Work(shard, str(tmp_path)) for shard in range(2)]
    assert lanes(meet, works) == [0, 1]


def test_what_runs_ahead_comes_first(lanes, tmp_path):
    works = [Work(shard, str(tmp_path)) for shard in range(2)]
    lanes.ahead(meet, works)
    assert lanes(seen, works) == [2, 2]


def seen(work):
    return len(os.listdir(work.folder))
