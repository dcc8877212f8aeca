"""Hundreds of kills, of everything that can be killed, on both logs, on Spark and without it."""

import json
from statistics import quantiles

import pytest

from tests.faults.stories import (
    Story,
    driver_killed,
    everything_killed,
    fault_seed,
    jvm_killed,
    moved,
    planner_killed,
    server_killed,
    worker_killed,
)

pytestmark = [pytest.mark.soak, pytest.mark.spark]
KILLS = 19
"""Of a story."""
STORIES = 4
"""On each log."""


def another_number_of_shards(story):
    """A driver that is killed, and comes back with more shards, or fewer."""
    story.up.kill_everything()
    story.up.start("--on", story.place, "--shards", story.random.choice([1, 2, 3, 5]))


OFTEN = [worker_killed] * 4
SELDOM = [driver_killed, everything_killed, another_number_of_shards]
ON_SPARK = [jvm_killed, planner_killed]


def told(folder, seed, log, place):
    """A story of some kills, some of which come before the last one was got over."""
    faults = [*OFTEN, *SELDOM, *([server_killed] * 4 if log == "nats" else [])]
    with Story(folder, seed, log, place=place) as story:
        story.wait_for_commit()
        for number in range(KILLS):
            story.wait_for_a_moment()
            is_last = number == KILLS - 1
            possible = [*faults, *(ON_SPARK if story.place == "spark" else ()), moved]
            story.strike(story.random.choice(possible), wait=is_last or story.random.random() < 0.8)
        return story.end()


def test_hundreds_of_kills(tmp_path, capsys):
    first = fault_seed()
    with capsys.disabled():
        print(f"\nSHORTLIST_FAULT_SEED={first}")
        outcomes = [
            told(tmp_path / f"{log}-{place}-{number}", first + number, log, place)
            for number in range(STORIES)
            for log in ("sqlite", "nats")
            for place in ("spark", "process")
        ]
        verdicts = [outcome.verdict for outcome in outcomes]
        recoveries = [took for outcome in outcomes for took in outcome.recoveries]
        at = quantiles(recoveries, n=100)
        print(json.dumps({"recovery p50": round(at[49], 2), "recovery p99": round(at[98], 2)}))
        lost, twice, different = (
            sum(getattr(verdict, name) for verdict in verdicts)
            for name in ("lost", "twice", "different")
        )
        kills = sum(len(outcome.kills) for outcome in outcomes)
        print(f"{kills} kills: {lost} lost, {twice} twice, {different} different")
    assert kills >= 300
    assert (lost, twice, different) == (0, 0, 0)
    assert all(verdict.deliveries for verdict in verdicts)
