"""Every way in which one run of a script can go wrong, and some of the ways for two faults."""

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any


def singles(operations):
    """Each operation, each way."""
    return [
        ((number, way),) for number, operation in enumerate(operations) for way in operation.ways
    ]


def pairs(operations, random, many):
    """Two faults at operations of a run without any: the second one is met, or another operation in
    its place, while somebody gets over the first."""
    for _ in range(many):
        numbers = sorted(random.sample(range(len(operations)), 2))
        yield tuple((number, random.choice(operations[number].ways)) for number in numbers)


@dataclass
class Tally:
    """What came of schedules."""

    schedules: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By world, and by how the only fault went wrong."""
    unmet: int = 0
    """Schedules none of whose faults came to pass."""
    wrong: list[Any] = field(default_factory=list)
    """World, seed, faults, and what was wrong."""

    def play(self, name, make, script, *, every=1, two=0):
        """All schedules with one fault, or one of `every` so many; then `two` with two faults.

        `make` makes a world of a script and faults."""
        world = make(script, ())
        wrong = world.run()
        assert not wrong, (name, script.seed, wrong)
        operations = world.machine.operations
        for faults in singles(operations)[script.seed % every :: every]:
            self._play(name, make, script, faults, faults[0][1])
        for faults in pairs(operations, Random(script.seed), two):
            self._play(name, make, script, faults, "two faults")

    def _play(self, name, make, script, faults, kind):
        world = make(script, faults)
        wrong = world.run()
        self.schedules[name, kind] += 1
        self.unmet += not world.machine.struck
        if wrong:
            struck = [(way, world.machine.operations[at]) for at, way in world.machine.struck]
            self.wrong.append((name, script.seed, faults, struck, wrong))

    def lines(self):
        """For whoever reads along."""
        for by, place in (("world", 0), ("fault", 1)):
            counts = Counter()
            for key, many in self.schedules.items():
                counts[key[place]] += many
            yield {f"schedules by {by}": dict(counts)}
        yield f"{self.schedules.total():,} schedules: {len(self.wrong)} wrong"
