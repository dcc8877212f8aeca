"""How steadily each kind of publication comes back."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import chain, pairwise
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
    return _distance([*chain.from_iterable(_distances(kinds))])


def distance_among_kinds(kinds: Sequence[Hashable]) -> Distance:
    """The same for kinds: each counts once, with the mean of its own distances.

    It is steady if every kind comes as often as any other, in whatever order.

    >>> distance_among_kinds("aabbaabb"), distance_among_kinds("abbbabbb")
    (Distance(mean=1.6666666666666667, deviation=0.0), Distance(mean=2.6, deviation=1.4))
    """
    return _distance([sum(distances) / len(distances) for distances in _distances(kinds)])


def _distances(kinds: Sequence[Hashable]) -> list[list[int]]:
    """Of each kind that came twice."""
    places = defaultdict(list)
    for place, kind in enumerate(kinds):
        places[kind].append(place)
    return [
        [later - earlier for earlier, later in pairwise(of_kind)]
        for of_kind in places.values()
        if len(of_kind) > 1
    ]


def _distance(numbers: Sequence[float]) -> Distance:
    if not numbers:
        return Distance(None, None)
    mean = sum(numbers) / len(numbers)
    variance = sum((number - mean) ** 2 for number in numbers) / len(numbers)
    return Distance(mean, sqrt(variance))
