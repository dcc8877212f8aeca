"""Conditions that ask for nothing but ranges of numbers, over few literals."""

from itertools import product
from random import Random

from shortlist.language.tree import And, Between, Comparison, In, Predicate, Where
from shortlist.model.paths import Path

X, Y, DEEP = ("x",), ("y",), ("place", "height")
NUMBERS = (0.0, 1.0, 2.0, 3.0)
OPERATORS = ("<", "<=", ">", ">=")


def ranges(path: Path) -> list[Predicate]:
    """Every way to say a range: with one end, two or none, and with nothing in it."""
    return [
        *[Comparison(path, *rest) for rest in product(OPERATORS, NUMBERS, (False, True))],
        *[Comparison(path, "=", number) for number in NUMBERS],
        *[Comparison(path, "!=", number, negated=True) for number in NUMBERS],
        *[In(path, (number, number)) for number in NUMBERS],
        *[Between(path, low, high) for low, high in product(NUMBERS, NUMBERS)],
        Between(path, 3.0, 1.0, negated=True),
    ]


POOLS = {path: ranges(path) for path in (X, Y, DEEP)}


def range_condition(draw: Random, paths: list[Path]) -> Where | None:
    """A conjunction of up to four ranges, some of them within a conjunction of their own."""
    members: list[Where] = [
        draw.choice(POOLS[draw.choice(paths)]) for _ in range(draw.randrange(5))
    ]
    if len(members) > 2 and draw.random() < 0.3:
        members = [members[0], And(tuple(members[1:]))]
    if len(members) > 1:
        return And(tuple(members))
    return members[0] if members else None
