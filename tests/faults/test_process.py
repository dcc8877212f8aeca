"""A deployment without Spark, which is killed in part or as a whole while publications flow."""

import pytest

from tests.faults.processes import Up
from tests.faults.stories import (
    Story,
    driver_killed,
    everything_killed,
    fault_seed,
    worker_killed,
)


def another_number_of_workers(story):
    story.up.kill()
    story.up.start("--on", "process", "--workers", 3, "--shards", 5)


@pytest.mark.parametrize("log", ["sqlite", pytest.param("nats", marks=pytest.mark.soak)])
def test_nothing_is_lost_doubled_or_different(tmp_path, log):
    with Story(tmp_path, fault_seed(), log, place="process") as story:
        story.wait_for_commit()
        for fault in (worker_killed, driver_killed, everything_killed, another_number_of_workers):
            story.strike(fault)
            story.wait_for_a_moment()
        outcome = story.end()
    assert outcome.verdict.faults == 0, outcome
    assert outcome.verdict.deliveries > 0, outcome


def test_a_second_one_is_refused_and_the_first_one_goes_on(tmp_path):
    with Story(tmp_path, fault_seed(), place="process") as story:
        story.wait_for_commit()
        (tmp_path / "second").mkdir()
        second = Up(tmp_path / "second", story.up.arguments)
        second.start("--on", "process")
        assert second.wait() == 2
        assert f"found one (process {story.up.pid})" in second.said.read_text()
        story.wait_for_commit()
        outcome = story.end()
    assert outcome.verdict.faults == 0, outcome
