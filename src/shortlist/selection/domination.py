"""What can still make a difference: fast policies keep no more, and plain ones count no more.

Whoever has k better ones that outlast it never comes among the k best. So nobody has to keep it;
and if one of the k is taken back later, it is gone all the same.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def undominated(ranked: Iterable[T], k: int, outlasts: Callable[[T, T], bool]) -> list[T]:
    """Of some in order of rank, the best first, those that fewer than k better ones outlast.

    >>> undominated([("a", 3), ("b", 5), ("c", 4)], 1, lambda one, other: one[1] >= other[1])
    [('a', 3), ('b', 5)]
    """
    kept: list[T] = []
    for one in ranked:
        if sum(outlasts(better, one) for better in kept) < k:
            kept.append(one)
    return kept
