"""Hundreds of kills, of everything that can be killed, on both logs, on Spark and without it, while
subscriptions come and go, clocks are set, and somebody never reads."""

import json
from statistics import quantiles

import pytest

from tests.faults.stories import (
    Story,
    daemon_killed,
    driver_killed,
    everything_killed,
    fault_seed,
    jvm_killed,
    moved,
    server_killed,
    worker_killed,
)

pytestmark = pytest.mark.soak
KILLS = 19
"""Of a story."""
STORIES = 4
"""On each log, on Spark and without it; every other one on each time basis."""
OTHERS = 10_000
"""Subscriptions beside those that stories are about."""


def another_number_of_shards(story):
    """A driver that is killed, and comes back with more shards, or fewer."""
    story.up.kill_everything()
    story.up.start("--on", story.place, "--shards", story.random.choice([1, 2, 3, 5]))


OFTEN = [worker_killed] * 4
SELDOM = [driver_killed, everything_killed, another_number_of_shards]
ON_SPARK = [jvm_killed, daemon_killed]


def told(folder, seed, log, place, basis):
    """A story of some kills, some of which come before the last one was got over, while clocks are
    set; one that begins on Spark may move to processes, and back, and is struck before Spark has
    started as well as behind that."""
    faults = [*OFTEN, *SELDOM, *([server_killed] * 4 if log == "nats" else [])]
    faults += [moved] if place == "spark" else []
    clocks = {"wrong_clocks": True, "basis": basis}
    with Story(folder, seed, log, place=place, others=OTHERS, **clocks) as story:
        story.wait_for_commit()
        for number in range(KILLS):
            story.wait_for_a_moment()
            is_last = number == KILLS - 1
            possible = [*faults, *(ON_SPARK if story.place == "spark" else ())]
            if story.place == "spark" and story.random.random() < 0.8:
                story.wait_for_spark()
            story.strike(story.random.choice(possible), wait=is_last or story.random.random() < 0.8)
        return story.end()


@pytest.mark.parametrize("place", ["process", pytest.param("spark", marks=pytest.mark.spark)])
def test_hundreds_of_kills(tmp_path, capsys, place):
    first = fault_seed()
    with capsys.disabled():
        print(f"\nSHORTLIST_FAULT_SEED={first}")
        outcomes = [
            told(tmp_path / f"{log}-{number}", first + number, log, place, basis)
            for number, basis in enumerate(["arrival", "event"] * (STORIES // 2))
            for log in ("sqlite", "nats")
        ]
        verdicts = [outcome.verdict for outcome in outcomes]
        recoveries = [took for outcome in outcomes for took in outcome.recoveries]
        at = quantiles(recoveries, n=100)
        figures = {"recovery p50": round(at[49], 2), "recovery p99": round(at[98], 2)}
        print(json.dumps({"on": place, **figures}))
        lost, twice, different = (
            sum(getattr(verdict, name) for verdict in verdicts)
            for name in ("lost", "twice", "different")
        )
        places = [on for outcome in outcomes for _, on in outcome.kills]
        where = f"{len(places)} kills, {places.count('spark')} of them while Spark ran the tasks"
        print(f"{where}: {lost} lost, {twice} twice, {different} different")
    assert len(places) >= 150
    assert place == "process" or places.count("spark") >= 50
    assert (lost, twice, different) == (0, 0, 0)
    assert all(verdict.deliveries for verdict in verdicts)
