"""How high straight edges meet published ones: put off, and then settled many at a time.

Where the cores of two hills are apart, the gap between them is filled by what both edges reach at
the height that they have in common. Let the widths of both edges be 1 in all, c that of the
straight one, and 1 - v the gap. At height h the straight edge reaches c (1 - h), and the other one
(1 - c) (1 - u), if h is its degree at u. So c h + (1 - c) u = v. From u = v on, Halley's method
finds u in a few steps, which processors take for several meetings at once as long as there is
nothing to be decided on the way.
"""

import math

import numpy as np

from shortlist.matching.kernels.compiling import kernel
from shortlist.matching.kernels.grades import BILLION, GAUSS, GAUSS_FOOT, MARGIN, SMOOTH

SHAPES = 3
FULL = 512
"""Meetings of one shape that are settled together, or some more."""
STEPS = 4
SMALL_STEP = 1e-5
"""A last step of less leaves an error of about 1e-13."""
SINE = tuple(
    (-1) ** n * (math.pi / 2) ** (2 * n + 1) / math.factorial(2 * n + 1) for n in range(10)
)
"""Of sin(x pi / 2) / x, by powers of the square of x, which is at most 1."""
COSINE = tuple((-1) ** n * (math.pi / 2) ** (2 * n) / math.factorial(2 * n) for n in range(7))
"""Of cos(x pi / 2), which tells how far to step and need not be exact."""
EIGHTH = tuple((-4.5 / 8) ** n / math.factorial(n) for n in range(14))
"""Of the eighth root of exp(-4.5 x), for x up to 1."""


@kernel
def no_meetings(most):  # type: ignore[no-untyped-def]
    """Room for meetings, by shape of the published edge, of which so many may come between two
    looks at their counts.

    Each has the width of the straight edge and of both, the gap, and its height; and its pair
    twice, + 1 where it is about the necessity, and what its literal is known by.
    """
    room = FULL + most
    return (
        np.empty((SHAPES, 4, room)),
        np.empty((SHAPES, 2, room), np.int32),
        np.zeros(SHAPES, np.int64),
    )


@kernel(error_model="numpy", inline="always")
def put_off(numbers, whose, counts, shape, gap, straight, published, pair, literal):  # type: ignore[no-untyped-def]
    """Notes a meeting if the gap is less than the widths of both edges, and not less than 0."""
    at, width = counts[shape], straight + published
    numbers[shape, 0, at], numbers[shape, 1, at] = straight, width
    numbers[shape, 2, at] = gap
    whose[shape, 0, at], whose[shape, 1, at] = pair, literal
    counts[shape] = at + (0.0 <= gap < width)


@kernel(error_model="numpy")
def polynomial(factors, x):  # type: ignore[no-untyped-def]
    result = factors[-1]
    for n in range(2, len(factors) + 1):
        result = result * x + factors[-n]
    return result


@kernel(error_model="numpy")
def step_to(c, v, u, h, slope, bend):  # type: ignore[no-untyped-def]
    """How far u is off, given the height there, and its first and second derivative."""
    over, fall = v - u - c * (h - u), 1 + c * (slope - 1)
    return over * fall / (fall * fall + over * c * bend / 2)


@kernel(error_model="numpy")
def smooth(u):  # type: ignore[no-untyped-def]
    """The height of a smooth edge, and its first and second derivative."""
    x = 2 * u - 1
    sine = x * polynomial(SINE, x * x)
    slope, bend = math.pi / 2 * polynomial(COSINE, x * x), -math.pi * math.pi / 2 * sine
    return (1 + sine) / 2, slope, bend


@kernel(error_model="numpy")
def gauss(u):  # type: ignore[no-untyped-def]
    """As `smooth`, above the foot."""
    away = 1 - u
    h = polynomial(EIGHTH, away * away)
    h *= h
    h *= h
    h *= h
    return h, 9 * away * h, (81 * away * away - 9) * h


@kernel(error_model="numpy")
def settle_smooth(straight, width, gap, heights, count):  # type: ignore[no-untyped-def]
    for n in range(count):
        c, v = straight[n] / width[n], 1 - gap[n] / width[n]
        u, h, step, slope, bend = v, 0.0, 0.0, 0.0, 0.0
        for _ in range(STEPS):
            h, slope, bend = smooth(u)
            step = step_to(c, v, u, h, slope, bend)
            u += step
        heights[n] = h + step * (slope + step * bend / 2) if abs(step) < SMALL_STEP else math.nan


@kernel(error_model="numpy")
def settle_gauss(straight, width, gap, heights, count):  # type: ignore[no-untyped-def]
    for n in range(count):
        c, v = straight[n] / width[n], 1 - gap[n] / width[n]
        u, h, step, slope, bend = v, 0.0, 0.0, 0.0, 0.0
        for _ in range(STEPS):
            h, slope, bend = gauss(u)
            step = step_to(c, v, u, h, slope, bend)
            u += step
        height = h + step * (slope + step * bend / 2) if abs(step) < SMALL_STEP else math.nan
        # below its foot the published edge is upright
        heights[n] = v / c if v <= c * GAUSS_FOOT else height


@kernel(error_model="numpy")
def settle_upright(shape, width, gap, heights, count):  # type: ignore[no-untyped-def]
    """Straight edges of no width: published ones have the height that they have at the gap."""
    if shape == SMOOTH:
        for n in range(count):
            heights[n] = smooth(1 - gap[n] / width[n])[0]
    else:
        for n in range(count):
            v = 1 - gap[n] / width[n]
            heights[n] = gauss(v)[0] if v > 0.0 else math.nan


@kernel(error_model="numpy")
def settle(numbers, whose, counts, shape, is_upright, degrees):  # type: ignore[no-untyped-def]
    """Lowers degrees by the meetings of one shape: possibilities by the height, necessities by 1 -
    it. Straight edges may all be upright.

    The answer is how many are left at the front, of which it is not clear how they are rounded.
    """
    count = counts[shape]
    straight, width = numbers[shape, 0], numbers[shape, 1]
    gap, heights = numbers[shape, 2], numbers[shape, 3]
    if is_upright and shape in (SMOOTH, GAUSS):
        settle_upright(shape, width, gap, heights, count)
    elif shape == SMOOTH:
        settle_smooth(straight, width, gap, heights, count)
    elif shape == GAUSS:
        settle_gauss(straight, width, gap, heights, count)
    else:
        for at in range(count):
            heights[at] = 1 - gap[at] / width[at]
    left = 0
    for at in range(count):
        height = heights[at]
        pair, row = whose[shape, 0, at] >> 1, whose[shape, 0, at] & 1
        billionths = height * BILLION
        if abs(billionths - np.rint(billionths)) < 0.5 - MARGIN:
            one = 1 - height if row else height
            degrees[row, pair] = min(degrees[row, pair], one)
        else:
            whose[shape, 0, left], whose[shape, 1, left] = whose[shape, 0, at], whose[shape, 1, at]
            left += 1
    counts[shape] = 0
    return left
