"""Tasks of shards on Spark."""

import os
import signal
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from shortlist.live.poison import TaskFailed
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


def test_nobody_has_anything_to_do(lanes):
    assert lanes(tasks()[0], []) == []


def ending(times):
    """A task that ends its process so many times."""

    def end(work):
        if len(os.listdir(work.folder)) < times:
            Path(work.folder, str(os.getpid())).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return work.shard

    return end


def test_a_worker_that_was_killed_is_replaced_at_once(lanes, works):
    assert lanes(ending(1), works[:1]) == [0]


def test_what_ends_every_worker_has_failed(lanes, works):
    with pytest.raises(TaskFailed, match="workers have ended 2 times"):
        lanes(ending(9), works[:1])
    assert len(os.listdir(works[0].folder)) == 2


def test_workers_of_shards_leave_out_what_tasks_do_not_use(lanes, works):
    def is_imported(_):
        return "pandas" in sys.modules or "scipy" in sys.modules

    assert lanes(is_imported, works) == [False, False]
