"""A clock that steps back."""

import json
from random import Random

from shortlist.live.heartbeats import Heartbeats
from shortlist.log.base import INPUT
from shortlist.model.times import parse_time
from tests.faults.logged import LoggedDeployment
from tests.strategies import SECOND, publication

HOUR = 3600 * SECOND


class Clock:
    """Runs, and is set now and then."""

    def __init__(self, random):
        self.now, self._random = parse_time("2026-03-01T00:00:00Z"), random

    def __call__(self):
        return self.now

    def go_on(self):
        step = self._random.choice([SECOND] * 20 + [-SECOND, -HOUR, HOUR])
        self.now += step


def test_time_never_goes_back():
    """Heartbeats wait until the clock is where it was; what publishers with that clock send
    meanwhile is late, and said to be."""
    beaten = late = 0
    for seed in range(5):
        random = Random(seed)
        deployment, clock = LoggedDeployment(seed), Clock(random)
        beats = Heartbeats(deployment.registers, SECOND, clock)
        for number in range(60):
            clock.go_on()
            if random.random() < 0.5:
                deployment.send([json.dumps(publication(deployment.pick, clock.now, number))])
            beaten += beats.beat(deployment.driver.manifest.latest)
            deployment.step()
        deployment.step(last=True)
        times = [
            parse_time(line["time"])
            for line in map(json.loads, (e.content for e in deployment.registers.read(INPUT, 0)))
            if "heartbeat" in line
        ]
        assert times == sorted(set(times))
        late += deployment.driver.manifest.counts.get("rejected: late", 0)
        found = deployment.verdict()
        assert found.faults == 0, (seed, found)
    assert beaten > 10
    assert late > 10
