"""How good a shortlist was, in all and over time.

The paper's mean and deviation of the interdelivery distance are read as those among subscriptions,
each with its own mean: only so can n subscriptions have a mean other than n, and a policy that
delivers to all alike a deviation of 0, as in its figures. Over all distances the mean is n whatever
is delivered; their deviation is measured beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from experiments.novelty.shortlists import Got
from experiments.novelty.streams import KINDS, PERIOD
from shortlist.measures.distance import distance_among_kinds, interdelivery_distance
from shortlist.measures.spread import entropy

STRETCHES = 20
ENTROPY = "entropy"
DELIVERED = "delivered"
MEAN = "mean distance"
DEVIATION = "deviation"
OF_ALL = "deviation of all distances"
NO_DISTANCE = -1.0
"""Where nothing came twice."""


def measured(got: Got, count: int, kinds: int = KINDS) -> dict[str, float]:
    """The measures of what was delivered of so many publications."""
    named = got.kinds.tolist()
    among, of_all = distance_among_kinds(named), interdelivery_distance(named)
    return {
        ENTROPY: entropy(np.bincount(got.kinds, minlength=kinds).tolist()),
        DELIVERED: got.kinds.size / count,
        MEAN: NO_DISTANCE if among.mean is None else among.mean,
        DEVIATION: NO_DISTANCE if among.deviation is None else among.deviation,
        OF_ALL: NO_DISTANCE if of_all.deviation is None else of_all.deviation,
    }


def part(got: Got, start: int, end: int) -> Got:
    """What was delivered of a part of the stream."""
    first, last = np.searchsorted(got.places, (start, end))
    return Got(got.places[first:last], got.kinds[first:last])


def in_all(shortlists: Mapping[str, Got], count: int, kinds: int = KINDS) -> dict[str, float]:
    """Every measure of every shortlist, over a whole stream, under the name of both."""
    return {
        f"{measure} in all, {name}": value
        for name, got in shortlists.items()
        for measure, value in measured(got, count, kinds).items()
    }


def over_time(
    shortlists: Mapping[str, Got], count: int, kinds: int = KINDS, stretches: int = STRETCHES
) -> dict[str, list[float]]:
    """The same for stretches of a stream, of equal length, one after the other."""
    edges = np.linspace(0, count, stretches + 1).astype(int).tolist()
    series: dict[str, list[float]] = {}
    for name, got in shortlists.items():
        for start, end in pairwise(edges):
            for measure, value in measured(part(got, start, end), end - start, kinds).items():
                series.setdefault(f"{measure}, {name}", []).append(value)
    return series


def ends_of_stretches(count: int, period: int = PERIOD, stretches: int = STRETCHES) -> list[float]:
    """In periods."""
    return [count * number / stretches / period for number in range(1, stretches + 1)]


def difference(measures: Mapping[str, float], measure: str, one: str, other: str) -> float:
    """By how much a measure of one shortlist is above that of another, over a whole stream."""
    return measures[f"{measure} in all, {one}"] - measures[f"{measure} in all, {other}"]
