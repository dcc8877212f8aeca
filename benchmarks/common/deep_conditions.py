"""Conditions of very many predicates, no two of which have one shape."""

import random

PREDICATES = 128
LETTERS = "abcdefgh"


def deep_conditions(count: int, seed: int = 1) -> list[str]:
    """
    >>> deep_conditions(1)[0].count("(") > 40
    True
    """
    draw = random.Random(seed)
    return [_group(draw, PREDICATES, "and") for _ in range(count)]


def _group(draw: random.Random, size: int, word: str) -> str:
    """So many predicates, in groups that are joined by `and` and `or` in turn."""
    if size == 1:
        return _predicate(draw)
    if size <= 3:
        return "(" + f" {word} ".join(_predicate(draw) for _ in range(size)) + ")"
    first = draw.randint(size // 4, 3 * size // 4)
    other = "or" if word == "and" else "and"
    parts = _group(draw, first, other), _group(draw, size - first, other)
    return ("not " if draw.random() < 0.1 else "") + f"({parts[0]} {word} {parts[1]})"


def _predicate(draw: random.Random) -> str:
    name = draw.choice(LETTERS)
    forms = (
        f"{name} < {draw.randint(0, 1000)}",
        f"{name} >= {draw.uniform(0, 100):.2f}",
        f"{name} between {draw.randint(0, 50)} and {draw.randint(51, 100)}",
        f"text_{name} = 'word {draw.randint(0, 99)}'",
        f"not {name} = {draw.randint(0, 9)}",
        f"text_{name} in ('x', 'y{draw.randint(0, 9)}')",
    )
    return draw.choice(forms)
