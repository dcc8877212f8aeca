"""The one rounding of degrees and scores, so that no answer depends on the order of additions."""

DECIMALS = 9


def rounded(value: float) -> float:
    """Nine decimals, half to even; there is no negative zero.

    >>> rounded(0.1 + 0.2), rounded(-1e-12)
    (0.3, 0.0)
    """
    return round(value, DECIMALS) + 0.0
