"""Memberships of single values, how high fuzzy sets meet, and how degrees become one.

How high a membership and a published fuzzy number meet is sup min, as `fuzzy.degrees` has it. There
it is found by bisection. Degrees are rounded to nine decimals, so here it is enough to know on
which side of every place where rounding changes the height lies: where that is not clear from a
formula, from Newton's method or from a few steps of false position, bisection goes on to the end.
"""

import math

import numpy as np

from shortlist.matching.kernels.compiling import kernel

LINEAR, SMOOTH, GAUSS = range(3)
LEFT, RIGHT, POWER, NEGATED, POSSIBILITY, NECESSITY = range(4, 10)
"""What follows the four corners among a grade's parameters."""
HUGE = 2.0**1000
MIN, PRODUCT, LUKASIEWICZ, AVERAGE, MAX, WEIGHTED = range(6)


@kernel
def edge(shape, foot, x, core):  # type: ignore[no-untyped-def]
    """As `Trapezoid.membership` between a foot and the core."""
    if math.isinf(core - foot):
        return edge_degree(shape, (x / 2 - foot / 2) / (core / 2 - foot / 2))
    return edge_degree(shape, (x - foot) / (core - foot))


@kernel
def edge_degree(shape, u):  # type: ignore[no-untyped-def]
    """As `sets.edge_degree`."""
    if shape == LINEAR:
        return u
    if shape == SMOOTH:
        half = math.sin(math.pi * u / 2)
        return half * half
    away = 3 * (1 - u)
    return math.exp(-(away * away) / 2)


@kernel
def membership(x, m1, m2, m3, m4, left, right):  # type: ignore[no-untyped-def]
    if x < m2:
        return edge(left, m1, x, m2) if x > m1 else 0.0
    if x > m3:
        return edge(right, m4, x, m3) if x < m4 else 0.0
    return 1.0


@kernel
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


@kernel
def degree(start, stop, elements, is_text, m1, m2, m3, m4, left, right, power, negated):  # type: ignore[no-untyped-def]
    """A fuzzy predicate's degree, not rounded: the best over a publication's elements."""
    best = 0.0
    for element in range(start, stop):
        value = elements[element]
        best = max(best, value if is_text else membership(value, m1, m2, m3, m4, left, right))
    if power != 1.0:
        best = math.pow(best, power)
    return 1 - best if negated else best


@kernel
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


@kernel
def linear(x, m1, m2, m3, m4, left_width, right_width):  # type: ignore[no-untyped-def]
    """As `membership` with linear edges, without a branch: each edge goes on above 1 and below 0.

    An edge of no width, or without an end, is upright.
    """
    left = (x - m1) / left_width if left_width > 0.0 else (2.0 if x >= m2 else 0.0)
    right = (m4 - x) / right_width if right_width > 0.0 else (2.0 if x <= m3 else 0.0)
    return max(0.0, min(1.0, left, right))


@kernel
def widths(m1, m2, m3, m4, left, right):  # type: ignore[no-untyped-def]
    """Of both edges, where `linear` may be used; otherwise not a number."""
    left_width = m2 - m1 if m1 > -math.inf else 0.0
    right_width = m4 - m3 if m4 < math.inf else 0.0
    if left != LINEAR or right != LINEAR or max(left_width, right_width) > HUGE:
        return math.nan, math.nan
    return left_width, right_width


@kernel
def straight_edges(parameters, grade):  # type: ignore[no-untyped-def]
    """The corners of a grade and the widths of its edges.

    The widths are not numbers if an edge is not straight, or if it is changed by a hedge, by `not`
    or by a threshold.
    """
    m1, m2, m3, m4, left, right, power, negated = read(parameters, grade)
    left_width, right_width = widths(m1, m2, m3, m4, left, right)
    has_floor = parameters[grade, POSSIBILITY] > 0.0 or parameters[grade, NECESSITY] > 0.0
    if power != 1.0 or negated or has_floor:
        left_width, right_width = math.nan, math.nan
    return m1, m2, m3, m4, left_width, right_width


GAUSS_FOOT = math.exp(-4.5)
BISECTIONS = 53
STEP = 2.0**-BISECTIONS
GUESSES = 12
"""Steps of false position before plain bisection."""
NEWTON_STEPS = 8
NEWTON_ERROR = 1e-13
BILLION = 1e9
MARGIN = 1e-3
"""Of a billionth: far more than a height is wrong by, where it comes from a formula."""


@kernel(error_model="numpy")
def is_clear(low, high):  # type: ignore[no-untyped-def]
    """Whether all heights between two, and 1 - them, are rounded to the same nine decimals."""
    first, last = low * BILLION - MARGIN, high * BILLION + MARGIN
    return np.floor(first + 0.5) == np.floor(last + 0.5)


@kernel(error_model="numpy")
def _on_grid(height):  # type: ignore[no-untyped-def]
    """The height in steps such that 1 - it is exact."""
    return 1 - (1 - height)


@kernel(error_model="numpy")
def position(shape, degree):  # type: ignore[no-untyped-def]
    """As `sets.edge_position`."""
    if shape == LINEAR:
        return degree
    if shape == SMOOTH:
        return 2 * math.asin(math.sqrt(degree)) / math.pi
    return max(0.0, 1 - math.sqrt(-2 * math.log(degree)) / 3) if degree > GAUSS_FOOT else 0.0


@kernel(error_model="numpy")
def reach(height, shape, root, rises):  # type: ignore[no-untyped-def]
    """Which share of the way from core to foot is at least so high.

    It `rises` where the hill is 1 - a membership.
    """
    if rises:
        degree = 1 - height
        return position(shape, degree if root == 1.0 else math.pow(degree, root))
    return 1 - position(shape, height if root == 1.0 else math.pow(height, root))


@kernel(error_model="numpy")
def slope(height, shape, rises):  # type: ignore[no-untyped-def]
    """How fast a reach becomes less where the height grows; no hedges."""
    if shape == LINEAR:
        return 1.0
    if shape == SMOOTH:
        return 1 / (math.pi * math.sqrt(height * (1 - height)))
    degree = 1 - height if rises else height
    if not GAUSS_FOOT < degree < 1.0:
        return 0.0
    return 1 / (3 * degree * math.sqrt(-2 * math.log(degree)))


@kernel(error_model="numpy")
def newton(left, left_shape, left_rises, right, right_shape, gap):  # type: ignore[no-untyped-def]
    """The height at which both reaches fill the gap, to 1e-13; not a number if that takes long.

    The error that a step leaves is less than its square, divided by the distance from 0 and 1.
    """
    height = 1 - gap / (left + right)
    for _ in range(NEWTON_STEPS):
        if height == 1.0:
            break
        over = left * reach(height, left_shape, 1.0, left_rises)
        over += right * reach(height, right_shape, 1.0, False) - gap
        fall = left * slope(height, left_shape, left_rises)
        fall += right * slope(height, right_shape, False)
        if not fall > 0.0:
            break
        step = over / fall
        if not 0.0 < height + step < 1.0:
            height = height / 2 if step < 0.0 else (1 + height) / 2
            continue
        height += step
        if step * step <= NEWTON_ERROR * min(height, 1 - height):
            return height
    return math.nan


@kernel(error_model="numpy")
def meeting(  # type: ignore[no-untyped-def]
    near, left_foot, left_shape, left_root, left_rises, far, right_foot, right_shape
):
    """sup min of a hill whose core ends at `near` and one whose core begins at `far`.

    The right one is not hedged and is no 1 - membership; either may be the published one, as the
    line may be turned around. A foot at the end of the core is an upright edge.
    """
    huge = max(abs(near), abs(far), abs(left_foot), abs(right_foot)) > HUGE
    scale = 0.25 if huge else 1.0
    gap = far * scale - near * scale
    left, right = left_foot * scale - near * scale, far * scale - right_foot * scale
    if left + right <= gap:
        return 0.0
    # 1 - a gaussian edge is no edge; of the other shapes it is the same edge, turned around
    is_edge = left_root == 1.0 and not (left_rises and left_shape == GAUSS)
    shape = right_shape if left == 0.0 else left_shape
    if left == 0.0 or (is_edge and (right == 0.0 or right_shape == left_shape)):
        height = edge_degree(shape, 1 - gap / (left + right))
    elif left_root == 1.0:
        height = newton(left, left_shape, left_rises, right, right_shape, gap)
    else:
        height = math.nan
    if is_clear(height, height):
        return _on_grid(height)
    low, high = 0.0, 1.0
    above, below = left + right - gap, -gap
    side = 0
    for step in range(GUESSES + BISECTIONS):
        share = above / (above - below) if step < GUESSES and above > below else 0.5
        height = _on_grid(low + (high - low) * share)
        if not low < height < high:
            height = _on_grid((low + high) / 2)
        over = left * reach(height, left_shape, left_root, left_rises)
        over += right * reach(height, right_shape, 1.0, False)
        # an end that stays counts for half, so that the other one does not creep up to it
        if over > gap:
            low, above = height, over - gap
            below = below / 2 if side > 0 else below
            side = 1
        else:
            high, below = height, over - gap
            above = above / 2 if side < 0 else above
            side = -1
        if high - low <= STEP or is_clear(low, high):
            break
    return high


@kernel(error_model="numpy")
def over_range(low, high, low_open, high_open, m1, m2, m3, m4, left, right):  # type: ignore[no-untyped-def]
    """The highest membership of a trapezoid on an interval."""
    if low > high or (low == high and (low_open or high_open)):
        return 0.0
    if (low < m3 or (low == m3 and not low_open)) and (m2 < high or (m2 == high and not high_open)):
        return 1.0
    if low >= m3:
        return meeting(m3, m4, right, 1.0, False, low, low, LINEAR)
    return meeting(high, high, LINEAR, 1.0, False, m2, m1, left)


@kernel(error_model="numpy")
def beside_range(low, high, m1, m2, m3, m4, left, right):  # type: ignore[no-untyped-def]
    """The highest membership on an interval, and outside it, where one of its ends lies on an edge
    and the core is on one side of it.

    Not numbers in all other cases, and where a formula does not tell.
    """
    is_left = high < m2 or m1 < low < m2
    is_right = m3 < low or m3 < high < m4
    in_core = m2 <= low <= m3 or m2 <= high <= m3
    if low >= high or is_left == is_right or in_core:
        return math.nan, math.nan
    is_inside = low <= m3 and m2 <= high
    if is_left:
        gap, width, shape = m2 - (low if is_inside else high), m2 - m1, left
    else:
        gap, width, shape = (high if is_inside else low) - m3, m4 - m3, right
    height = _on_grid(edge_degree(shape, 1 - gap / width)) if gap < width else 0.0
    if not is_clear(height, height) or math.isinf(width) or math.isinf(gap):
        return math.nan, math.nan
    return (1.0, height) if is_inside else (height, 1.0)


@kernel(error_model="numpy")
def over_set(target, root, m1, m2, m3, m4, left, right):  # type: ignore[no-untyped-def]
    """sup min of a published trapezoid with a hedged one, whose power is 1 / root."""
    t1, t2, t3, t4, t_left, t_right = target
    if t2 <= m3 and m2 <= t3:
        return 1.0
    if t3 < m2:
        return meeting(t3, t4, t_right, root, False, m2, m1, left)
    # turned around, so that the target is on the left
    return meeting(-t2, -t1, t_left, root, False, -m3, -m4, right)


@kernel(error_model="numpy")
def over_rest(target, root, m1, m2, m3, m4, left, right):  # type: ignore[no-untyped-def]
    """As `over_set`, with 1 - the hedged trapezoid."""
    t1, t2, t3, t4, t_left, t_right = target
    if (m2 < t1 or (m2 == t1 and t1 < t2)) or (m3 > t4 or (m3 == t4 and t3 < t4)):
        return 1.0
    height = 0.0
    if t1 > -math.inf and m1 < t2:
        height = meeting(t1, t2, t_left, root, True, m2, m1, left)
    if t4 < math.inf and m4 > t3:
        turned = meeting(-t4, -t3, t_right, root, True, -m3, -m4, right)
        height = max(height, turned)
    return height
