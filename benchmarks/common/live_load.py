"""A live load: flats, and people who look for them, each with a shortlist of their own."""

import json
import time
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any, NamedTuple

from shortlist.log.base import INPUT, Log
from shortlist.model.times import format_time

ATTRIBUTES = ("price", "size", "year")
RANGE = 1000
SHARE = 0.08
"""Of its range that each of a subscription's three conditions allows: 5 in 10,000 flats match."""
SOURCE = "ads"
AHEAD = 10_000_000
"""Microseconds by which a backlog is ahead of the clock."""
POLICIES: tuple[dict[str, Any], ...] = (
    {"kind": "top-k", "k": 3, "refresh": "10m"},
    {"kind": "window", "k": 3, "window": "10m"},
    {"kind": "novelty", "rate": 0.2, "period": 20},
    {"kind": "top-k", "k": 1, "period": "1h"},
    {"kind": "window", "k": 1, "window": 50},
)


class Wish(NamedTuple):
    """What a subscription allows: a range of each attribute."""

    id: str
    lows: tuple[int, ...]
    highs: tuple[int, ...]


def wishes(count: int, seed: int = 0, share: float = SHARE) -> list[Wish]:
    random, width = Random(seed), int(RANGE * share)
    found = []
    for number in range(count):
        lows = tuple(random.randrange(RANGE - width) for _ in ATTRIBUTES)
        found.append(Wish(f"s{number}", lows, tuple(low + width for low in lows)))
    return found


def subscriptions(found: list[Wish]) -> list[dict[str, Any]]:
    """The same as a registry has them."""
    return [
        {
            "id": wish.id,
            "where": " and ".join(
                f"{name} between {low} and {high}"
                for name, low, high in zip(ATTRIBUTES, wish.lows, wish.highs, strict=True)
            ),
            "score": "-price",
            "policy": POLICIES[number % len(POLICIES)],
        }
        for number, wish in enumerate(found)
    ]


def flats(seed: int = 0) -> Iterator[dict[str, Any]]:
    """Publications without a time."""
    random = Random(seed)
    number = 0
    while True:
        data = {name: random.randrange(RANGE) for name in ATTRIBUTES}
        yield {"id": f"f{number}", "source": SOURCE, "data": data}
        number += 1


def publish(
    log: Log, rate: float, seconds: float, seed: int = 0, appends_per_second: float = 20
) -> int:
    """Appends publications as they are due, so many times a second; how many."""
    every, made = flats(seed), 0
    began = time.monotonic()
    while (passed := time.monotonic() - began) < seconds:
        now = time.time_ns() // 1000
        due = int(rate * passed) - made
        lines = [json.dumps(next(every) | {"time": format_time(now)}).encode() for _ in range(due)]
        if lines:
            log.append(INPUT, lines)
            made += due
        time.sleep(1 / appends_per_second)
    return made


def backlog(log: Log, count: int, seed: int = 1) -> None:
    """Appends so many at once, a microsecond of event time apart.

    They are of the near future: heartbeats that come while they are made must not make them late.
    """
    every, source = flats(seed), f"backlog {seed}"
    first = time.time_ns() // 1000 + AHEAD
    lines = [
        json.dumps(flat | {"source": source, "time": format_time(first + place)}).encode()
        for place, flat in enumerate(islice(every, count))
    ]
    log.append(INPUT, lines)
