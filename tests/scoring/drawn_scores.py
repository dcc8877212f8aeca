"""Cases for scores in bulk: subscriptions that come and go, publications, pairs and floors."""

import math
from dataclasses import dataclass
from typing import Any

from shortlist import registry_from_documents
from shortlist.fuzzy.degrees import Degrees
from shortlist.matching.values import Reader, Values
from shortlist.model.publication import Publication
from shortlist.model.subscription import AtLeast, Subscription
from tests.strategies import SCORES, VOCABULARY, Pick, data

DECLARED = registry_from_documents(
    {
        "vocabulary": {
            **VOCABULARY,
            "body": {"idf": {"the": 0, "rare": 7.5, "red": -2}},
            "other": {"type": "vector"},
        }
    }
).vocabulary
VALUES = Values(DECLARED)

NUMBERS = 20
"""Subscriptions at most at one time."""
WORDS = ["the", "red", "car", "rare", "Bus", "été", "x2", "blue", "house", "of"]
AMOUNTS = ["0", "1", "2", "0.1", "3.7", "1e-3", "1e5", "123456.789", "1e200", "0.333333333"]
CONSTANTS = [*AMOUNTS, "-1", "-2.5", "-1e7"]
COORDINATES = ["0", "1", "-1", "0.5", "2.25", "1e-3", "-7", "3e8"]
LEAST = [None, None, None, None, None, 0.0, 0.5, -3.0, 0.707106781, 1.0, -1e-9, 100.0]
DEGREES = [Degrees(1.0, 1.0), Degrees(0.5, 0.0), Degrees(0.123456789, 0.1)]


@dataclass(frozen=True, slots=True)
class Floor:
    """A number, or the score of one of the publications, or just above it."""

    least: float = -math.inf
    place: int | None = None
    above: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    changes: list[tuple[int, Subscription | None]]
    """Who takes a number, or that it becomes free."""
    later: list[tuple[int, Subscription | None]]
    publications: list[Publication]
    floors: list[Floor] | None
    asked: list[bool]
    """For each number, whether it is asked for."""
    degrees: list[Degrees]
    by_subscription: bool

    def readers(self) -> list[Reader]:
        return [VALUES.of(publication) for publication in self.publications]


def text(pick: Pick, longest: int) -> str:
    return pick([" ", ", "]).join(pick(WORDS) for _ in range(pick(range(longest + 1))))


def axes(pick: Pick) -> str:
    return ", ".join(
        f"{pick(['price', 'size', 'floor'])}: {pick(CONSTANTS)}"
        + pick(["", f" weight {pick(AMOUNTS)}"])
        for _ in range(pick([1, 1, 2, 3, 4]))
    )


def special(pick: Pick) -> str:
    """A function that takes more than numbers."""
    match pick(["relevance", "relevance", "cosine", "cosine", "distance", "max_distance"]):
        case "relevance":
            return (
                f"relevance({pick(['body', 'body', 'title', 'event.source'])}, '{text(pick, 4)}')"
            )
        case "cosine":
            vector = ", ".join(pick(COORDINATES) for _ in range(pick([1, 2, 2, 2, 3])))
            return f"cosine({pick(['embedding', 'other'])}, [{vector}])"
        case name:
            return f"{name}({axes(pick)})"


def score(pick: Pick, depth: int = 0) -> str:
    """An expression of any shape."""
    shapes = ["number", "attribute", "degree", "special"]
    if depth < 4:
        shapes += ["negate", "arithmetic", "arithmetic", "call", "special"]
    match pick(shapes):
        case "number":
            return pick(AMOUNTS)
        case "attribute":
            return pick(["price", "size", "floor", "address.floor"])
        case "degree":
            return pick(["possibility", "necessity"])
        case "special":
            return special(pick)
        case "negate":
            return f"-({score(pick, depth + 1)})"
        case "arithmetic":
            left, right = score(pick, depth + 1), score(pick, depth + 1)
            return f"({left}) {pick(['+', '-', '*', '/', '^'])} ({right})"
    name = pick(["min", "max", "abs", "sqrt", "log", "exp"])
    count = pick([1, 2, 3]) if name in ("min", "max") else 1
    return f"{name}({', '.join(score(pick, depth + 1) for _ in range(count))})"


def whole_score(pick: Pick) -> Any:
    """Most often one that is searched for rather than computed."""
    match pick(["none", "pool", "any", "any", "special", "special", "nearest", "nearest"]):
        case "pool":
            return pick(SCORES)
        case "any":
            return score(pick)
        case "special":
            return special(pick)
        case "nearest":
            return f"-{pick(['distance', 'max_distance'])}({axes(pick)})"
    return None


def change(pick: Pick, name: str) -> tuple[int, Subscription | None]:
    number = pick(range(NUMBERS))
    if pick([False, False, True]):
        return number, None
    least = AtLeast(score=pick(LEAST))
    return number, Subscription(id=name, score=whole_score(pick), at_least=least)


def publication(pick: Pick, name: str) -> Publication:
    found = data(pick) or {}
    found["floor"] = pick([0, 1, 2.5, -3, 1e-9, 123456.789, 2**24, 7, 0.1, None, "1", True])
    found["body"] = pick([text(pick, 9), text(pick, 9), None, 3])
    found["other"] = pick([[0.5, 2.25], [1, 0.1]])
    if pick([True, False]):
        coordinates = [0, 1, -1, 0.3, 1e-3, -7, 1e8, 1e160, 1e-170]
        found["embedding"] = [pick(coordinates) for _ in range(pick([1, 2, 2, 2, 3]))]
    return Publication(id=name, source=pick(["red bus", "a"]), time=0, position=0, data=found)


def floor(pick: Pick, publications: int) -> Floor:
    if publications and pick([False, True]):
        return Floor(place=pick(range(publications)), above=pick([False, True]))
    return Floor(pick([-math.inf, 0.0, 0.5, -2.0, -3.605551275, 1e-9, 0.25, 1e6]))


def case(pick: Pick) -> Case:
    publications = [publication(pick, f"p{number}") for number in range(pick(range(8)))]
    floors = [floor(pick, len(publications)) for _ in range(NUMBERS)]
    return Case(
        changes=[change(pick, f"s{step}") for step in range(pick(range(1, NUMBERS)))],
        later=[change(pick, f"later{step}") for step in range(3)],
        publications=publications,
        floors=pick([None, floors]),
        asked=[pick([True, True, True, False]) for _ in range(NUMBERS)],
        degrees=[pick(DEGREES) for _ in range(5)],
        by_subscription=pick([True, False]),
    )
