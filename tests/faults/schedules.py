"""Every way in which one run of a script can go wrong, and some of the ways for two faults."""

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.faults.failing_io import TAKEN_OVER


def singles(operations):
    """Each operation, each way."""
    for number, operation in enumerate(operations):
        for way in operation.ways:
            yield ((number, way),)


def pairs(operations, random, many):
    """Two faults at operations of a run without any: the second one may be met, or another one in
    its place, while somebody gets over the first."""
    for _ in range(many):
        first, second = sorted(random.sample(range(len(operations)), 2))
        yield tuple((number, random.choice(operations[number].ways)) for number in (first, second))


@dataclass
class Tally:
    """What came of schedules."""

    schedules: Counter[str] = field(default_factory=Counter)
    """By the world they were played in, and the way of their first fault."""
    unmet: int = 0
    """Schedules none of whose faults came to pass."""
    wrong: list[Any] = field(default_factory=list)
    """Seed, world, faults, and what was wrong."""

    @property
    def many(self):
        return self.schedules.total()

    def play(self, made, script, faults):
        """`made` makes a world of a script and faults."""
        world = made(script, faults)
        wrong = world.run()
        kind = faults[0][1] if len(faults) == 1 else "two faults"
        self.schedules[f"{type(world).__name__}: {kind}"] += 1
        self.unmet += not world.machine.struck
        if wrong:
            self.wrong.append((script.seed, type(world).__name__, faults, wrong))

    def play_all(self, made, script, *, every=1, two=0):
        """Schedules with one fault, or only one of `every` so many; then some with two."""
        operations = count_operations(made, script)
        random = Random(script.seed)
        for place, faults in enumerate(singles(operations)):
            if (place + script.seed) % every == 0:
                self.play(made, script, faults)
        for faults in pairs(operations, random, two):
            self.play(made, script, faults)


def count_operations(made, script):
    """Those of a run in which nothing goes wrong, nor may be wrong in the end."""
    world = made(script)
    wrong = world.run()
    assert not wrong, (script.seed, wrong)
    return world.machine.operations


def ways_of_taking_over(operations):
    """How many schedules there are in which another driver takes over."""
    return sum(way in TAKEN_OVER for operation in operations for way in operation.ways)
