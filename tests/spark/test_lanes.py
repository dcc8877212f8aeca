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
    return work.shard, os.getpid()


def process(work):
    return os.getpid()


@pytest.fixture
def lanes(spark):
    lanes = Lanes(spark)
    yield lanes
    lanes.close()


def test_shards_run_at_the_same_time_and_stay_where_they_are(lanes, tmp_path):
    works = [Work(shard, str(tmp_path)) for shard in range(2)]
    lanes.ahead(process, works)
    (first, one), (second, other) = lanes(meet, works)
    assert (first, second) == (0, 1)
    assert lanes(process, works[::-1]) == [other, one]
    assert one != other
