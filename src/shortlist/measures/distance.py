"""How steadily each kind of publication comes back."""

from collections.abc import Hashable, Sequence
from math import sqrt
from typing import NamedTuple


class Distance(NamedTuple):
    """Mean and standard deviation; both are None where nothing came twice."""

    mean: float | None
    deviation: float | None


def interdelivery_distance(kinds: Sequence[Hashable]) -> Distance:
    """The distance between deliveries of one kind that follow each other, counted in deliveries.

    `kinds` has one entry per delivery of a shortlist, in order. With n kinds a mean of n and no
    deviation is ideal.

    >>> interdelivery_distance("abcabcabc")
    Distance(mean=3.0, deviation=0.0)
    >>> interdelivery_distance("aabba")
    Distance(mean=1.6666666666666667, deviation=0.9428090415820634)
    >>> interdelivery_distance("ab")
    Distance(mean=None, deviation=None)
    """
    last: dict[Hashable, int] = {}
    distances = []
    for place, kind in enumerate(kinds):
        if kind in last:
            distances.append(place - last[kind])
        last[kind] = place
    if not distances:
        return Distance(None, None)
    mean = sum(distances) / len(distances)
    variance = sum((distance - mean) ** 2 for distance in distances) / len(distances)
    return Distance(mean, sqrt(variance))
