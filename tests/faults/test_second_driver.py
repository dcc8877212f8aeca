"""Two drivers of one deployment: the second one is refused, or the first one has to stop."""

import subprocess
import sys

import pytest

from shortlist.live.locking import AlreadyRunning, only_driver
from shortlist.log.base import Moved
from tests.faults.logged import LoggedDeployment
from tests.strategies import timeline

HOLD = """
import sys, pathlib
from shortlist.live.locking import only_driver
with only_driver(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_the_folder_is_locked_until_its_driver_is_gone(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as first:
        assert first.stdout.readline() == b"held\n"
        with pytest.raises(AlreadyRunning, match=f"process {first.pid}"), only_driver(tmp_path):
            pass
        first.kill()
        first.wait()
        with only_driver(tmp_path):
            pass


def test_where_no_lock_is_seen_the_manifest_decides():
    """The driver that was there before fails at its next commit, and nothing of that counts."""
    deployment = LoggedDeployment(3)
    first, *rest = timeline(deployment.pick, 40)
    deployment.send([first])
    old = deployment.driver
    deployment.start()
    deployment.step()
    with pytest.raises(Moved):
        old.run_batch(deployment.read([(1, first)]))
    deployment.send(rest)
    deployment.step()
    deployment.step(last=True)
    assert deployment.verdict().faults == 0
