"""Three sites deliver what one central deployment delivers, whatever ends or fails meanwhile."""

import pytest

from tests.sites.worlds import World, delivered, rejected


def check(folder, seed):
    folder.mkdir()
    world = World(folder, seed)
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


@pytest.mark.soak
def test_hundreds(tmp_path):
    for seed in range(1000, 1300):
        check(tmp_path / str(seed), seed)
