"""The one rounding of degrees and scores, so that no answer depends on the order of additions."""

from collections.abc import Iterable

DECIMALS = 9


def rounded(value: float) -> float:
    """Nine decimals, half to even; there is no negative zero.

    >>> rounded(0.1 + 0.2), rounded(-1e-12)
    (0.3, 0.0)
    """
    return round(value, DECIMALS) + 0.0


def added(numbers: Iterable[float]) -> float:
    """The sum from left to right, as kernels add; `sum` keeps more digits since Python 3.12.

    >>> added([1e16, 1.0, -1e16])
    0.0
    """
    total = 0.0
    for number in numbers:
        total += number
    return total
