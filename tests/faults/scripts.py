"""What happens in a world, drawn from a seed: what is published and asked for, and when."""

import json
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from shortlist.intake.files import registry_from_documents
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.model.times import format_time, parse_time
from tests.strategies import SECOND, START, registry, seeded, timeline

HOUR = 3600 * SECOND
END_OF_TIME = parse_time("2099-01-01T00:00:00Z")
END = b'{"time": "2100-01-01T00:00:00Z", "heartbeat": true}'
"""With this at the end of the input everything is due, if items say the time."""
LINES = 5
SMALL = {
    "shortlists": [
        {
            "id": "best",
            "subscriber": "ann",
            "policy": {"kind": "top-k", "k": 1, "refresh": "3s"},
        }
    ],
    "subscriptions": [
        {"id": "cheap", "shortlist": "best", "score": "-price"},
        {"id": "free", "where": "price < 1"},
    ],
}
"""What most begin with: batches are quick, and almost every publication leads to something."""


@dataclass(frozen=True)
class Script:
    """One of these."""

    seed: int
    registry: Registry
    settings: Settings
    lines: list[bytes]
    steps: list[tuple[str, Any]]
    """What happens outside of the deployment; each is followed by a batch of it."""
    shards: int
    plan: str
    with_departures: bool
    sizes: list[int]
    """Of the batches that a query appends to a log."""
    start: int = START
    known: dict[Any, Any] = field(default_factory=dict)
    """What batches on its input lead to, as far as anybody has asked."""


def script(seed, *, by_event=False):
    """Some lines, and what happens between them: restarts, rescaling, a savepoint, clocks that are
    set. `by_event`: for a log whose clock nobody can set."""
    pick = seeded(seed)
    drawn = pick(
        [
            Settings(time="arrival"),
            Settings(lateness=0),
            Settings(lateness="1s", ahead="1h"),
        ]
    )
    is_small = pick([True, True, True, False])
    lines = [*_small(pick)] if is_small else _varied(pick)
    encoded = [line.encode() for line in lines]
    return Script(
        seed=seed,
        registry=registry_from_documents(SMALL if is_small else registry(pick)),
        settings=Settings(lateness=0) if by_event else drawn,
        lines=encoded,
        steps=[*_steps(pick, encoded)],
        shards=pick([1, 1, 2]),
        plan=pick(["replicate", "replicate", "broadcast"]),
        with_departures=pick([False, False, True]),
        sizes=[pick([1, 2, 3, 5]) for _ in range(3)],
    )


def _small(pick):
    """Publications and commands about a few subscriptions; now and then something is wrong."""
    micros = START
    for number in range(LINES):
        micros += pick([0, SECOND, 2 * SECOND])
        time = format_time(micros - pick([0, 0, 0, 2 * SECOND]))
        named = {"id": f"p{pick([number] * 5 + [0])}", "source": "s", "time": time}
        more = {"id": pick(["more", "free"]), "where": f"price > {pick([0, 1])}"}
        match pick(["publication"] * 6 + ["subscribe", "unsubscribe", "update", "bad"]):
            case "publication":
                yield json.dumps(named | {"data": {"price": pick([0, 1, 2, 3])}})
            case "subscribe":
                yield json.dumps({"time": time, "subscribe": more})
            case "unsubscribe":
                yield json.dumps({"time": time, "unsubscribe": pick(["free", "more"])})
            case "update":
                policy = {"kind": "top-k", "k": pick([1, 2]), "refresh": "3s"}
                yield json.dumps({"time": time, "update": {"shortlist": "best", "policy": policy}})
            case _:
                yield "{"


def _varied(pick):
    """Whatever a deployment may meet."""
    lines: list[str] = []
    while len(lines) < LINES:
        lines += timeline(pick, LINES)
    return lines[:LINES]


def _steps(pick, lines):
    """The last of them makes everything due, however items get their time."""
    others = [
        ("rescale", pick([1, 3])),
        ("restart", None),
        ("move", None),
        ("set clock", pick([-HOUR, 2 * HOUR])),
        ("quiet", None),
    ]
    left = iter(lines)
    while batch := [*islice(left, pick([2, 3]))]:
        yield "publish", batch
        yield others.pop(pick(range(len(others))))
    yield "set clock", END_OF_TIME
    yield "publish", [END]
