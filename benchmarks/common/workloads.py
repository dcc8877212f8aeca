"""Generated registries and publications that the benchmarks share: films on offer."""

import json
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

GENRES = ("action", "animation", "comedy", "documentary", "drama", "romance", "short")
START_SECONDS = 1_767_225_600
POLICIES: Sequence[Any] = (
    {"kind": "everything"},
    {"kind": "top-k", "k": 5, "refresh": "1h"},
    {"kind": "window", "k": 5, "window": "1h"},
    {"kind": "novelty", "rate": 0.1, "period": 100},
)
MORE_POLICIES: Sequence[Any] = (
    *POLICIES,
    {"kind": "window", "k": 5, "window": 100},
    {"kind": "fresh", "k": 5, "window": "1h", "half_life": "20m"},
    {"kind": "diverse", "k": 5, "window": "1h", "over": {"genre": None, "year": 20}},
    [POLICIES[2], POLICIES[3]],
)
"""Those that look further back, too, and a chain."""


def film(draw: random.Random, number: int) -> dict[str, Any]:
    """One publication; a second of event time passes between two of them."""
    return {
        "id": f"film-{number}",
        "source": f"cinema-{number % 17}",
        "time": _time(number),
        "data": {
            "year": draw.randint(1920, 2025),
            "length": draw.randint(5, 240),
            "rating": round(draw.uniform(1, 10), 1),
            "votes": int(draw.lognormvariate(5, 2)),
            "genre": draw.choice(GENRES),
            "budget": draw.randint(1, 200) * 1_000_000,
        },
    }


def films(count: int, seed: int = 0) -> Iterator[str]:
    """Publications, a JSON line each."""
    draw = random.Random(seed)
    for number in range(count):
        yield json.dumps(film(draw, number))


def film_registry(count: int, seed: int = 1, policies: Sequence[Any] = POLICIES) -> dict[str, Any]:
    """Subscriptions of two to five predicates, each with a policy of its own."""
    draw = random.Random(seed)
    some = [_subscription(draw, number) for number in range(count)]
    return {
        "subscriptions": [
            {**one, "policy": policies[number % len(policies)]} for number, one in enumerate(some)
        ]
    }


def _subscription(draw: random.Random, number: int) -> dict[str, Any]:
    predicates = draw.sample(
        [
            f"year >= {draw.randint(1980, 2020)}",
            f"length between {draw.randint(60, 100)} and {draw.randint(101, 180)}",
            f"rating >= {draw.randint(50, 90) / 10}",
            f"genre = '{draw.choice(GENRES)}'",
            f"budget < {draw.randint(10, 150) * 1_000_000}",
            f"votes > {draw.randint(50, 500)}",
        ],
        k=draw.randint(2, 5),
    )
    return {
        "id": f"subscription-{number}",
        "where": " and ".join(predicates),
        "score": "rating / 10",
    }


def _time(number: int) -> str:
    return datetime.fromtimestamp(START_SECONDS + number, UTC).isoformat().replace("+00:00", "Z")
