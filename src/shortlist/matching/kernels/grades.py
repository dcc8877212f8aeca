"""Degrees of conditions on crisp values, where possibility and necessity are one number."""

import math

import numpy as np
from numba import njit, uint64

from shortlist.matching.kernels.rounding import round9

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
def floor_of(parameters, grade):  # type: ignore[no-untyped-def]
    """Under which degree of a crisp value a grade disqualifies."""
    return max(parameters[grade, POSSIBILITY], parameters[grade, NECESSITY])


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


@njit(cache=True)
def grade_conjunctions(  # type: ignore[no-untyped-def]
    literal_offsets,
    grades,
    norms,
    least,
    attributes,
    is_text,
    parameters,
    starts,
    elements,
    singles,
    publications,
    programs,
):
    """The degree of every pair, 0 where it does not match; the pairs of a program come together.

    All programs are conjunctions of predicates under a strict norm. Those without a grade hold: the
    masks have seen to that. As rounding keeps the order, the least of several is rounded once.
    """
    degrees = np.ones(publications.size)
    first = 0
    while first < publications.size:
        program = programs[first]
        last = first + 1
        while last < publications.size and programs[last] == program:
            last += 1
        norm = norms[program]
        for literal in range(literal_offsets[program], literal_offsets[program + 1]):
            grade = grades[literal]
            if grade < 0:
                continue
            attribute = attributes[grade]
            floor = floor_of(parameters, grade)
            on_text, rest = is_text[attribute], read(parameters, grade)
            rounds = norm != MIN or floor > 0.0
            m1, m2, m3, m4, left, right, power, negated = rest
            left_width, right_width = widths(m1, m2, m3, m4, left, right)
            is_plain = not (on_text or negated or math.isnan(left_width)) and power == 1.0
            for pair in range(first, last):
                publication = publications[pair]
                single = singles[attribute, publication]
                if is_plain and not math.isnan(single):
                    one = linear(single, m1, m2, m3, m4, left_width, right_width)
                else:
                    start, stop = starts[attribute, publication], starts[attribute, publication + 1]
                    one = degree(start, stop, elements, on_text, *rest)
                if rounds:
                    one = round9(one)
                if one < floor:
                    one = 0.0
                if norm == MIN or one == 0.0:
                    degrees[pair] = min(degrees[pair], one)
                elif norm == PRODUCT:
                    degrees[pair] *= one
                else:
                    degrees[pair] = max(0.0, degrees[pair] + one - 1)
        for pair in range(first, last):
            rounded = round9(degrees[pair])
            degrees[pair] = rounded if rounded >= least[program] else 0.0
        first = last
    return degrees


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
                    rest = read(parameters, grade)
                    one = degree(start, stop, elements, is_text[attribute], *rest)
                    stack[top] = round9(one) if start < stop else 0.0
                    if stack[top] < floor_of(parameters, grade):
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
        rounded = round9(stack[0])
        degrees[pair] = rounded if rounded >= least[program] else 0.0
    return degrees
