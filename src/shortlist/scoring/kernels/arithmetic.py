"""The operations of `scoring/expression.py` on the stack, with the same library's functions."""

import math

import numpy as np
from numba import njit

from shortlist.matching.arrays import Floats
from shortlist.scoring.kernels.layout import Operation


@njit(cache=True)
def change(operation: int, stack: Floats, place: int, count: int) -> None:
    """Functions of one number."""
    if operation == Operation.NEGATE:
        for at in range(count):
            stack[place, at] = -stack[place, at]
    elif operation == Operation.ABSOLUTE:
        for at in range(count):
            stack[place, at] = abs(stack[place, at])
    elif operation == Operation.ROOT:
        for at in range(count):
            stack[place, at] = math.sqrt(stack[place, at])
    elif operation == Operation.LOGARITHM:
        for at in range(count):
            stack[place, at] = math.log(stack[place, at])
    elif operation == Operation.EXPONENTIAL:
        for at in range(count):
            stack[place, at] = math.exp(stack[place, at])
    else:
        for at in range(count):
            stack[place, at] *= stack[place, at]


@njit(cache=True, error_model="numpy")
def combine(operation: int, stack: Floats, place: int, count: int) -> None:
    """Functions of two numbers, into the place of the first."""
    if operation == Operation.ADD:
        for at in range(count):
            stack[place, at] += stack[place + 1, at]
    elif operation == Operation.SUBTRACT:
        for at in range(count):
            stack[place, at] -= stack[place + 1, at]
    elif operation == Operation.MULTIPLY:
        for at in range(count):
            stack[place, at] *= stack[place + 1, at]
    elif operation == Operation.DIVIDE:
        for at in range(count):
            stack[place, at] /= stack[place + 1, at]
    elif operation == Operation.POWER:
        for at in range(count):
            stack[place, at] = math.pow(stack[place, at], stack[place + 1, at])
    else:
        _choose(operation, stack, place, count)


@njit(cache=True)
def _choose(operation: int, stack: Floats, place: int, count: int) -> None:
    """The second one where it wins, or where it spoils the result."""
    for at in range(count):
        left, right = stack[place, at], stack[place + 1, at]
        wins = right < left if operation == Operation.MINIMUM else right > left
        spoils = operation != Operation.LARGER and np.isnan(right)
        if wins or spoils:
            stack[place, at] = right
