"""Which of a shortlist's subscriptions a publication matches, where a policy asks for all."""

from typing import NamedTuple

import numpy as np

from shortlist.matching.arrays import Floats, Ints, Longs

ALONE = -1
"""The set of matches that holds only the one that is named."""


class MatchSets(NamedTuple):
    """Sets of matching subscriptions, each in order of subscription id, one behind the other.

    Set n stands from offsets[n] to offsets[n + 1].
    """

    offsets: Longs
    subscriptions: Ints
    possibilities: Floats
    necessities: Floats

    def first(self, count: int) -> "MatchSets":
        """So many of them."""
        offsets, *columns = self
        end = int(offsets[count])
        return MatchSets._make([offsets[: count + 1], *(column[:end] for column in columns)])


NO_SETS = MatchSets(
    np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.float64), np.empty(0, np.float64)
)
