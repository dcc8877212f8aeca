"""Degrees of single values, and how the degrees of several operands become one."""

import math

from numba import njit

LINEAR, SMOOTH, GAUSS = range(3)
LEFT, RIGHT, POWER, NEGATED, POSSIBILITY, NECESSITY = range(4, 10)
"""What follows the four corners among a grade's parameters."""
MIN, PRODUCT, LUKASIEWICZ, AVERAGE, MAX, WEIGHTED = range(6)


@njit(cache=True)
def edge(shape, foot, x, core):  # type: ignore[no-untyped-def]
    """As `Trapezoid.membership` between a foot and the core."""
    if math.isinf(core - foot):
        return edge_degree(shape, (x / 2 - foot / 2) / (core / 2 - foot / 2))
    return edge_degree(shape, (x - foot) / (core - foot))


@njit(cache=True)
def edge_degree(shape, u):  # type: ignore[no-untyped-def]
    """As `sets.edge_degree`."""
    if shape == LINEAR:
        return u
    if shape == SMOOTH:
        half = math.sin(math.pi * u / 2)
        return half * half
    away = 3 * (1 - u)
    return math.exp(-(away * away) / 2)


@njit(cache=True)
def membership(x, m1, m2, m3, m4, left, right):  # type: ignore[no-untyped-def]
    if x < m2:
        return edge(left, m1, x, m2) if x > m1 else 0.0
    if x > m3:
        return edge(right, m4, x, m3) if x < m4 else 0.0
    return 1.0


@njit(cache=True)
def combined(norm, is_or, degrees, weights):  # type: ignore[no-untyped-def]
    """One level of `and` or `or`, as `fuzzy.norms` has it."""
    result = degrees[0]
    if norm == WEIGHTED:
        total, weight = 0.0, 0.0
        for n in range(degrees.size):
            total += weights[n] * degrees[n]
            weight += weights[n]
        return total / weight
    for n in range(1, degrees.size):
        one = degrees[n]
        if norm == MAX or (norm == MIN and is_or):
            result = max(result, one)
        elif norm == MIN:
            result = min(result, one)
        elif norm == AVERAGE:
            result += one
        elif norm == PRODUCT:
            result = result + one - result * one if is_or else result * one
        elif is_or:
            result = min(1.0, result + one)
        else:
            result = max(0.0, result + one - 1)
    return result / degrees.size if norm == AVERAGE else result


@njit(cache=True)
def degree(start, stop, elements, is_text, m1, m2, m3, m4, left, right, power, negated):  # type: ignore[no-untyped-def]
    """A fuzzy predicate's degree, not rounded: the best over a publication's elements."""
    best = 0.0
    for element in range(start, stop):
        value = elements[element]
        best = max(best, value if is_text else membership(value, m1, m2, m3, m4, left, right))
    if power != 1.0:
        best = math.pow(best, power)
    return 1 - best if negated else best


@njit(cache=True)
def read(parameters, grade):  # type: ignore[no-untyped-def]
    """A grade's corners, edges, power and negation, read once for many publications."""
    return (
        parameters[grade, 0],
        parameters[grade, 1],
        parameters[grade, 2],
        parameters[grade, 3],
        int(parameters[grade, LEFT]),
        int(parameters[grade, RIGHT]),
        parameters[grade, POWER],
        parameters[grade, NEGATED] != 0.0,
    )


@njit(cache=True)
def linear(x, m1, m2, m3, m4, left_width, right_width):  # type: ignore[no-untyped-def]
    """As `membership` with linear edges, without a branch: each edge goes on above 1 and below 0.

    An edge of no width, or without an end, is upright.
    """
    left = (x - m1) / left_width if left_width > 0.0 else (2.0 if x >= m2 else 0.0)
    right = (m4 - x) / right_width if right_width > 0.0 else (2.0 if x <= m3 else 0.0)
    return max(0.0, min(1.0, left, right))


@njit(cache=True)
def widths(m1, m2, m3, m4, left, right):  # type: ignore[no-untyped-def]
    """Of both edges, where `linear` may be used; otherwise not a number."""
    left_width = m2 - m1 if m1 > -math.inf else 0.0
    right_width = m4 - m3 if m4 < math.inf else 0.0
    if left != LINEAR or right != LINEAR or math.isinf(left_width) or math.isinf(right_width):
        return math.nan, math.nan
    return left_width, right_width
