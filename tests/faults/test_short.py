"""A deployment in processes of its own, some of which are killed while publications flow; it moves
from a process to Spark and back."""

import pytest

from tests.faults.stories import Story, fault_seed, moved, worker_killed

pytestmark = [pytest.mark.spark, pytest.mark.soak]


def test_nothing_is_lost_doubled_or_different(tmp_path):
    with Story(tmp_path, fault_seed(), place="process") as story:
        story.wait_for_commit()
        story.strike(worker_killed)
        story.wait_for_a_moment()
        story.strike(moved)
        story.wait_for_a_moment()
        story.strike(worker_killed)
        story.strike(moved)
        outcome = story.end()
    assert outcome.verdict.faults == 0, outcome
    assert outcome.verdict.deliveries > 0, outcome
