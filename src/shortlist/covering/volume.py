"""The volume of a subscription's hyper-rectangle, which an advertisement may rank by."""

from collections import defaultdict
from math import inf, prod

from shortlist.language.tree import And, Between, Comparison, Where
from shortlist.model.paths import Path

OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "!=": "="}


def volume(where: Where | None) -> float:
    """Per attribute the width of the numeric ranges of the top-level conjunction, multiplied.

    >>> from shortlist.language.parser import parse_where
    >>> volume(parse_where("x between 1 and 10 and y >= 1 and y <= 5 and genre = 'drama'"))
    36.0
    >>> volume(parse_where("x between 1 and 10 and y >= 1"))
    inf
    """
    ranges: dict[Path, list[tuple[float, float]]] = defaultdict(list)
    for operand in where.operands if isinstance(where, And) else (where,):
        if (found := _range(operand)) is not None:
            path, bounds = found
            ranges[path].append(bounds)
    widths = [
        max(0.0, min(high for _, high in bounds) - max(low for low, _ in bounds))
        for bounds in ranges.values()
    ]
    return prod(widths) if widths and inf not in widths else inf


def _range(operand: Where | None) -> tuple[Path, tuple[float, float]] | None:
    if isinstance(operand, Between) and not operand.negated:
        if isinstance(operand.low, float) and isinstance(operand.high, float):
            return operand.path, (operand.low, operand.high)
    elif isinstance(operand, Comparison) and isinstance(operand.value, float):
        operator = OPPOSITE.get(operand.operator) if operand.negated else operand.operator
        if operator == "=":
            return operand.path, (operand.value, operand.value)
        if operator in ("<", "<="):
            return operand.path, (-inf, operand.value)
        if operator in (">", ">="):
            return operand.path, (operand.value, inf)
    return None
