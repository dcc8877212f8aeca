"""The operations of `scoring/arithmetic.py` on the stack, with the same library's functions."""

import math

import numpy as np
from numba import njit

from shortlist.scoring.kernels.layout import Floats, Operation


@njit(cache=True)
def change(operation: int, stack: Floats, top: int, count: int) -> None:
    """Functions of one number."""
    if operation == Operation.NEGATE:
        for at in range(count):
            stack[top, at] = -stack[top, at]
    elif operation == Operation.ABSOLUTE:
        for at in range(count):
            stack[top, at] = abs(stack[top, at])
    elif operation == Operation.ROOT:
        for at in range(count):
            stack[top, at] = math.sqrt(stack[top, at])
    elif operation == Operation.LOGARITHM:
        for at in range(count):
            stack[top, at] = math.log(stack[top, at])
    elif operation == Operation.EXPONENTIAL:
        for at in range(count):
            stack[top, at] = math.exp(stack[top, at])
    else:
        for at in range(count):
            stack[top, at] *= stack[top, at]


@njit(cache=True, error_model="numpy")
def combine(operation: int, stack: Floats, top: int, count: int) -> None:
    """Functions of two numbers, into the place of the first."""
    if operation == Operation.ADD:
        for at in range(count):
            stack[top, at] += stack[top + 1, at]
    elif operation == Operation.SUBTRACT:
        for at in range(count):
            stack[top, at] -= stack[top + 1, at]
    elif operation == Operation.MULTIPLY:
        for at in range(count):
            stack[top, at] *= stack[top + 1, at]
    elif operation == Operation.DIVIDE:
        for at in range(count):
            stack[top, at] /= stack[top + 1, at]
    elif operation == Operation.POWER:
        for at in range(count):
            stack[top, at] = math.pow(stack[top, at], stack[top + 1, at])
    else:
        _choose(operation, stack, top, count)


@njit(cache=True)
def _choose(operation: int, stack: Floats, top: int, count: int) -> None:
    """The second one where it wins, or where it spoils the result."""
    for at in range(count):
        left, right = stack[top, at], stack[top + 1, at]
        wins = right < left if operation == Operation.MINIMUM else right > left
        spoils = operation != Operation.LARGER and np.isnan(right)
        if wins or spoils:
            stack[top, at] = right
