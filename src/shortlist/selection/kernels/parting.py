"""Offers to shortlists of several banks, put together bank by bank."""

import numpy as np

from shortlist.matching.arrays import Ints, Longs
from shortlist.matching.kernels.compiling import kernel
from shortlist.selection.bank.offers import Offers


@kernel
def parted(offers: Offers, banks: Ints, places: Ints, ends: Longs) -> Offers:
    """The offers in order of their banks, and else in their own, with places in these.

    Where those of each bank end is written down; there are as many banks as ends.
    """
    ends[:] = 0
    for bank in banks:
        ends[bank] += 1
    for bank in range(1, ends.size):
        ends[bank] += ends[bank - 1]
    to = np.zeros(ends.size, np.int64)
    to[1:] = ends[:-1]
    size = banks.size
    made = Offers(
        np.empty(size, np.int32),
        np.empty(size, np.int64),
        np.empty(size, np.int32),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.float64),
        np.empty(size, np.int32),
        np.empty(size, np.float64),
        np.empty(size, np.float64),
        np.empty(size, np.int64),
        np.empty(size, np.int32),
    )
    for at in range(size):
        place = to[banks[at]]
        to[banks[at]] += 1
        made.places[place] = places[at]
        made.times[place] = offers.times[at]
        made.publications[place] = offers.publications[at]
        made.appeared[place] = offers.appeared[at]
        made.expiries[place] = offers.expiries[at]
        made.scores[place] = offers.scores[at]
        made.named[place] = offers.named[at]
        made.possibilities[place] = offers.possibilities[at]
        made.necessities[place] = offers.necessities[at]
        made.refreshes[place] = offers.refreshes[at]
        made.matched[place] = offers.matched[at]
    return made
