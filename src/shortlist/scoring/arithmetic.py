"""Arithmetic as IEEE 754 has it: nothing raises; results may be infinite or not a number."""

import math
from collections.abc import Callable, Sequence
from math import inf, nan


def divide(left: float, right: float) -> float:
    """
    >>> divide(1.0, 0.0), divide(-1.0, 0.0), divide(0.0, 0.0)
    (inf, -inf, nan)
    """
    if right != 0.0:
        return left / right
    if left == 0.0 or math.isnan(left):
        return nan
    return math.copysign(inf, left) * math.copysign(1.0, right)


def power(base: float, exponent: float) -> float:
    """
    >>> power(2.0, 0.5) == 2 ** 0.5, power(0.0, -1.0), power(-8.0, 1 / 3), power(1e300, 2.0)
    (True, inf, nan, inf)
    """
    odd = exponent.is_integer() and exponent % 2 == 1
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -inf if base < 0.0 and odd else inf
    except ValueError:
        if base == 0.0:
            return math.copysign(inf, base) if odd else inf
        return nan


def square_root(operand: float) -> float:
    return math.sqrt(operand) if operand >= 0.0 else nan


def logarithm(operand: float) -> float:
    if operand > 0.0:
        return math.log(operand)
    return -inf if operand == 0.0 else nan


def exponential(operand: float) -> float:
    try:
        return math.exp(operand)
    except OverflowError:
        return inf


def minimum(operands: Sequence[float]) -> float:
    """The IEEE 754-2019 `minimum`: what is not a number stays so.

    >>> minimum([1.0, -2.0]), minimum([1.0, nan])
    (-2.0, nan)
    """
    return nan if any(map(math.isnan, operands)) else min(operands)


def maximum(operands: Sequence[float]) -> float:
    return nan if any(map(math.isnan, operands)) else max(operands)


BINARY: dict[str, Callable[[float, float], float]] = {
    "+": float.__add__,
    "-": float.__sub__,
    "*": float.__mul__,
    "/": divide,
    "^": power,
}
FUNCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "min": minimum,
    "max": maximum,
    "abs": lambda operands: abs(operands[0]),
    "sqrt": lambda operands: square_root(operands[0]),
    "log": lambda operands: logarithm(operands[0]),
    "exp": lambda operands: exponential(operands[0]),
}
