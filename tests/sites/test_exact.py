"""Three sites deliver what one central deployment delivers, whatever ends or fails meanwhile."""

import json

import pytest

from shortlist.model.settings import Settings
from tests.sites.worlds import OrderlessStory, Story, World, delivered, rejected


def check(folder, seed):
    folder.mkdir()
    world = World(folder, Story(seed), seed)
    try:
        world.run()
        # what is looked at again may be old, and then nobody has wanted it
        assert {reason[:4] for reason in rejected(world.logs)} <= {"late"}, f"seed {seed}"
        assert sorted(delivered(world.logs)) == sorted(world.story.central()), f"seed {seed}"
        homes = world.homes.values()
        return sum(home.crashes + home.failures for home in homes), len(delivered(world.logs))
    finally:
        world.close()


def test_nothing_is_lost_doubled_or_different(tmp_path):
    outcomes = [check(tmp_path / str(seed), seed) for seed in range(4)]
    assert all(faults > 10 for faults, _ in outcomes), outcomes
    assert sum(deliveries for _, deliveries in outcomes) > 100, outcomes


def test_by_arrival_everyone_gets_every_match(tmp_path):
    story = OrderlessStory(seed=5)
    world = World(tmp_path, story, 5, Settings(time="arrival"))
    try:
        world.run()
        assert rejected(world.logs) == []
        assert sorted(map(what, delivered(world.logs))) == sorted(map(what, story.central()))
        assert len(delivered(world.logs)) > 20
    finally:
        world.close()


def what(line):
    """Of a delivery all but when it was made."""
    return [value for name, value in json.loads(line).items() if name != "time"]


@pytest.mark.soak
def test_hundreds(tmp_path):
    for seed in range(1000, 1300):
        check(tmp_path / str(seed), seed)
