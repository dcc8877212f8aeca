"""Tasks of shards on Spark."""

import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from shortlist.spark.tasks import Lanes

pytestmark = pytest.mark.spark
PATIENCE = 60.0


@pytest.fixture
def lanes(spark):
    lanes = Lanes(spark)
    yield lanes
    lanes.close()


@pytest.fixture
def works(tmp_path):
    return [SimpleNamespace(shard=shard, folder=str(tmp_path)) for shard in range(2)]


def tasks():
    """Made here, so that workers need not find this module."""

    def meet(work):
        """Waits until the task of the other shard runs, too."""
        Path(work.folder, str(work.shard)).touch()
        deadline = time.monotonic() + PATIENCE
        while len(os.listdir(work.folder)) < 2:
            assert time.monotonic() < deadline, "the other one does not run"
            time.sleep(0.01)
        return work.shard

    def count(work):
        return len(os.listdir(work.folder))

    return meet, count


def test_shards_run_at_the_same_time(lanes, works):
    meet, _ = tasks()
    assert lanes(meet, works) == [0, 1]


def test_what_runs_ahead_comes_first(lanes, works):
    meet, count = tasks()
    lanes.ahead(meet, works)
    assert lanes(count, works) == [2, 2]
