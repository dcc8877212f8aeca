"""Publications as points: how far they lie apart, as `Differences` says."""

from typing import NamedTuple

import numpy as np

from shortlist.matching.arrays import Floats, Ints
from shortlist.matching.kernels.compiling import kernel

UNSCALED = 0.0
"""In place of the scale of an attribute whose values are only the same or different."""


class Points(NamedTuple):
    """By number of publication."""

    coordinates: Floats
    """One for each attribute: NaN where a number is absent; equal for equal values if unscaled."""
    classes: Ints
    """Equal for those that do not differ."""
    scales: Floats


@kernel
def distance(points: Points, one: int, other: int) -> float:
    """The mean over the attributes, from 0 to 1.

    >>> rents = np.array([900.0, 1000.0, np.nan])
    >>> points = Points(rents, np.array([1, 2, 3], np.int32), np.array([500.0]))
    >>> distance(points, 0, 1), distance(points, 0, 2), distance(points, 2, 2)
    (0.2, 1.0, 0.0)
    """
    total, attributes = 0.0, points.scales.size
    for attribute in range(attributes):
        x = points.coordinates[one * attributes + attribute]
        y = points.coordinates[other * attributes + attribute]
        if x == y or (np.isnan(x) and np.isnan(y)):
            continue
        scale = points.scales[attribute]
        if scale == UNSCALED or np.isnan(x) or np.isnan(y):
            total += 1.0
        else:
            total += min(1.0, abs(x - y) / scale)
    return total / attributes
