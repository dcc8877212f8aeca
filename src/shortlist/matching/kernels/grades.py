"""Degrees of conditions on crisp values, where possibility and necessity are one number."""

import math

import numpy as np
from numba import njit, uint64

from shortlist.matching.kernels.rounding import round9

LINEAR, SMOOTH, GAUSS = range(3)
LEFT, RIGHT, POWER, NEGATED, FLOOR = range(4, 9)
"""What follows the four corners among a grade's parameters."""
MIN, PRODUCT, LUKASIEWICZ, AVERAGE, MAX, WEIGHTED = range(6)


@njit(cache=True)
def edge(shape, foot, x, core):  # type: ignore[no-untyped-def]
    """As `Trapezoid.membership` between a foot and the core."""
    if math.isinf(core - foot):
        u = (x / 2 - foot / 2) / (core / 2 - foot / 2)
    else:
        u = (x - foot) / (core - foot)
    if shape == LINEAR:
        return u
    if shape == SMOOTH:
        half = math.sin(math.pi * u / 2)
        return half * half
    away = 3 * (1 - u)
    return math.exp(-(away * away) / 2)


@njit(cache=True)
def membership(x, parameters):  # type: ignore[no-untyped-def]
    m1, m2, m3, m4 = parameters[0], parameters[1], parameters[2], parameters[3]
    if x < m2:
        return edge(parameters[LEFT], m1, x, m2) if x > m1 else 0.0
    if x > m3:
        return edge(parameters[RIGHT], m4, x, m3) if x < m4 else 0.0
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
        degree = degrees[n]
        if norm == MAX or (norm == MIN and is_or):
            result = max(result, degree)
        elif norm == MIN:
            result = min(result, degree)
        elif norm == AVERAGE:
            result += degree
        elif norm == PRODUCT:
            result = result + degree - result * degree if is_or else result * degree
        elif is_or:
            result = min(1.0, result + degree)
        else:
            result = max(0.0, result + degree - 1)
    return result / degrees.size if norm == AVERAGE else result


@njit(cache=True)
def grade_pairs(  # type: ignore[no-untyped-def]
    table,
    rows,
    code_offsets,
    code,
    plus,
    minus,
    grades,
    weights,
    norms,
    least,
    depth,
    attributes,
    is_text,
    parameters,
    starts,
    elements,
    publications,
    programs,
):
    """The degree of every pair, 0 where it does not match.

    A literal's grade is -1 where its slots decide. Otherwise its attribute's elements, from one of
    the publication's starts to the next, are numbers, or the degrees of words.
    """
    degrees = np.empty(publications.size, np.float64)
    stack, holds, fails = np.empty(depth), np.empty(depth, np.bool_), np.empty(depth, np.bool_)
    kept, no_weights = np.empty(depth), np.empty(0)
    for pair in range(publications.size):
        publication, program = publications[pair], programs[pair]
        word, bit = publication >> 6, uint64(publication & 63)
        norm = norms[program]
        strict = norm <= LUKASIEWICZ
        top = 0
        for at in range(code_offsets[program], code_offsets[program + 1]):
            step = code[at]
            if step >= 0:
                grade = grades[step]
                holds[top], fails[top] = False, False
                if grade < 0:
                    mask = table[rows[plus[step]], word] & ~table[rows[minus[step]], word]
                    holds[top] = (mask >> bit) & uint64(1) != 0
                    stack[top] = 1.0 if holds[top] else 0.0
                else:
                    attribute = attributes[grade]
                    start, stop = starts[attribute, publication], starts[attribute, publication + 1]
                    best = 0.0
                    for element in range(start, stop):
                        degree = elements[element]
                        if not is_text[attribute]:
                            degree = membership(degree, parameters[grade])
                        best = max(best, degree)
                    if parameters[grade, POWER] != 1.0:
                        best = math.pow(best, parameters[grade, POWER])
                    if parameters[grade, NEGATED] != 0.0:
                        best = 1 - best
                    stack[top] = round9(best) if start < stop else 0.0
                    if stack[top] < parameters[grade, FLOOR]:
                        stack[top], fails[top] = 0.0, True
                top += 1
                continue
            operands = -step >> 1
            under = top - operands
            is_or = -step & 1 == 1
            count, is_lost = 0, False
            for operand in range(under, top):
                if not is_or and (fails[operand] or (strict and stack[operand] == 0.0)):
                    is_lost = True
                if is_or or not (strict and holds[operand]):
                    kept[count] = stack[operand]
                    count += 1
            holds[under], fails[under] = not is_lost and count == 0, False
            if is_lost:
                stack[under] = 0.0
            elif count == 0:
                stack[under] = 1.0
            else:
                if norm == WEIGHTED:
                    first = code[code_offsets[program]]
                    given = weights[first : first + operands]
                else:
                    given = no_weights
                stack[under] = combined(norm, is_or, kept[:count], given)
            top = under + 1
        degree = round9(stack[0])
        degrees[pair] = degree if degree >= least[program] else 0.0
    return degrees
