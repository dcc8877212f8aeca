"""Streams of offers as arrays, for banks that need no candidates."""

import numpy as np

from shortlist.scoring.combined import UNSET
from shortlist.scoring.match_sets import ALONE
from shortlist.selection.bank.offers import NEVER, Offers


def offers_to(places, times, scores, expiries=None, named=None):
    """Publications, numbered in their order, that come to all of some places.

    `scores` has a row for each place; so may `named`.
    """
    count, size = len(places), len(times)

    def each(column, kind):
        return np.broadcast_to(np.asarray(column, kind), (count, size)).ravel()

    return Offers(
        places=np.repeat(np.asarray(places, np.int32), size),
        times=each(times, np.int64),
        publications=each(np.arange(size), np.int32),
        appeared=each(times, np.int64),
        expiries=each(NEVER if expiries is None else expiries, np.int64),
        scores=each(scores, np.float64),
        named=each(0 if named is None else named, np.int32),
        possibilities=each(1.0, np.float64),
        necessities=each(0.5, np.float64),
        refreshes=each(UNSET, np.int64),
        matched=each(ALONE, np.int32),
    )


def blocks_of(offers, cuts):
    """The offers whose publications lie between consecutive cuts."""
    for first, stop in zip([0, *cuts], [*cuts, 2**31], strict=True):
        yield offers.kept((offers.publications >= first) & (offers.publications < stop))


def rows_of(placements):
    """What entered each place, in order."""
    found = list(zip(*(column.tolist() for column in placements), strict=True))
    return sorted(found, key=lambda row: row[0])
