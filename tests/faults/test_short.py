"""A deployment in processes of its own, some of which are killed while publications flow."""

import pytest

from tests.faults.stories import Story, driver_killed, fault_seed, worker_killed

pytestmark = pytest.mark.spark


def test_nothing_is_lost_doubled_or_different(tmp_path):
    with Story(tmp_path, fault_seed()) as story:
        story.wait_for_commit()
        story.strike(worker_killed)
        story.wait_for_a_moment()
        story.strike(driver_killed)
        outcome = story.end()
    assert outcome.verdict.faults == 0, outcome
    assert outcome.verdict.deliveries > 0, outcome
