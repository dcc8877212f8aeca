"""Norms: how the degrees of the operands of `and` and `or` become one."""

from collections.abc import Callable, Sequence
from functools import reduce
from math import isfinite

from shortlist.fuzzy.degrees import Degrees
from shortlist.model.rounding import added
from shortlist.model.subscription import Norm, NormName, Weights

Combination = Callable[[Sequence[float]], float]


def conjunction(norm: Norm, operands: Sequence[Degrees]) -> Degrees:
    """The degrees of `and` over one level of one or more operands.

    >>> conjunction("product", [Degrees(1, 0.5), Degrees(0.5, 0.5)])
    Degrees(possibility=0.5, necessity=0.25)
    >>> conjunction(Weights((3, 1)), [Degrees(1, 1), Degrees(0, 0)])
    Degrees(possibility=0.75, necessity=0.75)
    """
    if isinstance(norm, Weights):
        return _both(lambda degrees: _weighted_mean(norm.weights, degrees), operands)
    return _both(_AND[norm], operands)


def disjunction(norm: Norm, operands: Sequence[Degrees]) -> Degrees:
    """The degrees of `or` over one level of one or more operands.

    >>> disjunction("lukasiewicz", [Degrees(0.75, 0.25), Degrees(0.5, 0.5)])
    Degrees(possibility=1.0, necessity=0.75)
    """
    if isinstance(norm, Weights):
        raise ValueError("weights combine a flat conjunction only")
    return _both(_OR[norm], operands)


def _both(combine: Combination, operands: Sequence[Degrees]) -> Degrees:
    possibilities, necessities = zip(*operands, strict=True)
    return Degrees(combine(possibilities), combine(necessities))


def _mean(degrees: Sequence[float]) -> float:
    return added(degrees) / len(degrees)


def _weighted_mean(weights: Sequence[float], degrees: Sequence[float]) -> float:
    if len(weights) != len(degrees):
        raise ValueError(f"{len(weights)} weights for {len(degrees)} predicates")
    if not isfinite(added(weights)):
        weights = [weight / max(weights) for weight in weights]
    weighted = added(weight * degree for weight, degree in zip(weights, degrees, strict=True))
    return weighted / added(weights)


def _folded(pair: Callable[[float, float], float]) -> Combination:
    return lambda degrees: reduce(pair, degrees)


_AND: dict[NormName, Combination] = {
    "min": min,
    "product": _folded(lambda a, b: a * b),
    "lukasiewicz": _folded(lambda a, b: max(0.0, a + b - 1)),
    "average": _mean,
    "max": max,
}
_OR: dict[NormName, Combination] = {
    "min": max,
    "product": _folded(lambda a, b: a + b - a * b),
    "lukasiewicz": _folded(lambda a, b: min(1.0, a + b)),
    "average": _mean,
    "max": max,
}
