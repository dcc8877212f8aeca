"""How evenly deliveries spread over what a subscriber asked for, and what it was spared."""

from collections.abc import Sequence
from math import log2


def entropy(counts: Sequence[int]) -> float:
    """Output entropy in bits: 0 if all deliveries are of one kind, log2(n) if n kinds are even.

    >>> round(entropy([20, 30, 50]), 5), entropy([7, 7, 0]), entropy([])
    (1.48548, 1.0, 0.0)
    """
    total = sum(counts)
    return sum((count / total * log2(total / count) for count in counts if count), 0.0)


def fairness(counts: Sequence[int]) -> float:
    """Jain's fairness: 1 if all kinds got the same, 1/n if one of n got everything.

    Kinds without a delivery count, so `counts` has to hold their zeros.

    >>> round(fairness([20, 30, 50]), 5), fairness([9, 0, 0, 0]), fairness([0, 0])
    (0.87719, 0.25, 1.0)
    """
    squares = sum(count * count for count in counts)
    return sum(counts) ** 2 / (len(counts) * squares) if squares else 1.0


def traffic_saved(matched: int, delivered: int) -> float:
    """The share of matches that were not delivered; 0 where nothing matched.

    >>> traffic_saved(matched=1000, delivered=200), traffic_saved(0, 0)
    (0.8, 0.0)
    """
    return 1 - delivered / matched if matched else 0.0
