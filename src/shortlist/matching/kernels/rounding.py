"""Python's `round(x, 9)` for kernels, bit for bit."""

import numpy as np

from shortlist.matching.kernels.compiling import kernel

BILLION = 1e9
ALL_DIGITS = 2.0**23
"""From here on doubles lie further apart than 1e-9: each is its own rounded value."""
HALVES = 2.0**27 + 1.0
"""Times this, and back, a double splits into two of at most 26 bits."""


@kernel
def round9(x: float) -> float:
    """Nine decimals, half to even; there is no negative zero.

    Only where the product by 1e9 is a half in doubles can its own rounding have moved it across:
    there the part that it lost decides.

    >>> round9(0.1 + 0.2), round9(-1e-12), round9(2.5e-9), round9(1e300)
    (0.3, 0.0, 3e-09, 1e+300)
    """
    if abs(x) >= ALL_DIGITS:
        return x
    product = x * BILLION
    whole: float = np.rint(product)
    if abs(product - whole) == 0.5:
        lost = _lost(x, product)
        if lost > 0.0 and whole < product:
            whole += 1.0
        elif lost < 0.0 and whole > product:
            whole -= 1.0
    return whole / BILLION + 0.0


@kernel
def _lost(x: float, product: float) -> float:
    """x times 1e9, which has 21 bits, less what a double keeps of it (Dekker)."""
    spread = x * HALVES
    high = spread - (spread - x)
    return (high * BILLION - product) + (x - high) * BILLION
