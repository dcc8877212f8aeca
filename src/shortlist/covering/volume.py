"""The volume of a subscription's hyper-rectangle, which an advertisement may rank by."""

from math import inf, prod

from shortlist.covering.condition_graph import NOWHERE
from shortlist.covering.conjunctions import predicate_type
from shortlist.fuzzy.intervals import REALS, Interval
from shortlist.language.tree import And, Between, Comparison, Where
from shortlist.matching.predicates import holds_on
from shortlist.model.paths import Path


def volume(where: Where | None) -> float:
    """Per attribute the width of the numeric ranges of the top-level conjunction, multiplied.

    >>> from shortlist.language.parser import parse_where
    >>> volume(parse_where("x between 1 and 10 and y >= 1 and y <= 5 and genre = 'drama'"))
    36.0
    >>> volume(parse_where("x between 1 and 10 and y >= 1"))
    inf
    """
    ranges: dict[Path, Interval] = {}
    for operand in where.operands if isinstance(where, And) else (where,):
        if isinstance(operand, Comparison | Between) and predicate_type(operand) is float:
            held, *more = holds_on(operand) or (NOWHERE,)
            if not more and held != REALS:
                ranges[operand.path] = held.intersection(ranges.get(operand.path, REALS))
    widths = [max(0.0, each.high - each.low) for each in ranges.values()]
    return prod(widths) if widths and inf not in widths else inf
