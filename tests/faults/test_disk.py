"""Disks that are full, or that lose the end of what was written last."""

import errno
import os
from random import Random

import pytest

from shortlist.live.files import Files
from shortlist.log.base import DELIVERIES, REJECTS
from tests.faults.logged import LoggedDeployment
from tests.strategies import cuts, timeline


@pytest.fixture
def full_at_times(monkeypatch):
    """A disk that has no room for one write of a few."""
    random, fsync = Random(7), os.fsync

    def full(descriptor):
        if random.random() < 0.15:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    return random


def test_a_full_disk(full_at_times):
    """A batch that has no room never happened, leaves nothing behind, and is run again."""
    failures = 0
    for seed in range(8):
        deployment = begun(seed)
        for batch in cuts(deployment.pick, timeline(deployment.pick, 40)):
            deployment.send(batch)
            failures += insist(deployment)
        failures += insist(deployment, last=True)
        found = deployment.verdict()
        assert found.faults == 0, (seed, found)
    assert failures > 8


def begun(seed):
    while True:
        try:
            return LoggedDeployment(seed)
        except OSError:
            continue


def insist(deployment, last=False):
    """As a running deployment does; how often there was no room."""
    failures = 0
    while True:
        try:
            deployment.step(last)
            return failures
        except OSError:
            failures += 1
            deployment.start()


def test_what_does_not_fit_leaves_no_file(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        Files(tmp_path).write("state", b"too much")
    assert [*tmp_path.iterdir()] == []


def test_a_torn_last_write():
    """Whatever is lost of the last transaction, and of files that no manifest names, is made
    again."""
    lost = 0
    for seed in range(8):
        random = Random(seed)
        deployment = LoggedDeployment(seed)
        for batch in cuts(deployment.pick, timeline(deployment.pick, 40)):
            deployment.send(batch)
            deployment.step()
            before = state_of(deployment.registers)
            deployment.lose_power(random)
            lost += state_of(deployment.registers) != before
            deployment.step()
        deployment.step(last=True)
        found = deployment.verdict()
        assert found.faults == 0, (seed, found)
    assert lost > 8


def state_of(log):
    return log.register("manifest").revision, log.end(DELIVERIES), log.end(REJECTS)
