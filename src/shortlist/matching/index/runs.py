"""Runs of different lengths, end to end in flat arrays."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shortlist.matching.blocks import Ints


def offsets_of(lengths: npt.ArrayLike) -> Ints:
    """Where each run starts, and where the last one ends.

    >>> offsets_of([2, 0, 3])
    array([0, 2, 2, 5], dtype=int32)
    """
    return np.append(0, np.cumsum(lengths)).astype(np.int32)


def picked(offsets: Ints, which: Ints) -> tuple[npt.NDArray[np.int64], Ints]:
    """The places of some runs' members, one run after the other, and the offsets there.

    >>> members, offsets = picked(np.array([0, 2, 5, 6]), np.array([2, 0]))
    >>> members.tolist(), offsets.tolist()
    ([5, 0, 1], [0, 1, 3])
    """
    starts, lengths = offsets[which], offsets[which + 1] - offsets[which]
    new = offsets_of(lengths)
    return np.arange(new[-1]) + np.repeat(starts - new[:-1], lengths), new


def joined(some: Sequence[Ints]) -> Ints:
    """The offsets of all runs, after those that came before.

    >>> joined([np.array([0, 2]), np.array([0, 1, 4])])
    array([0, 2, 3, 6], dtype=int32)
    """
    return offsets_of(np.concatenate([np.diff(offsets) for offsets in some]))
