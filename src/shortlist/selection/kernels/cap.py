"""The policy `cap` for many places: what passes while fewer than so many have."""

import numpy as np
import numpy.typing as npt

from shortlist.matching.arrays import Ints, Longs
from shortlist.matching.kernels.compiling import kernel
from shortlist.selection.kernels.arena import Records
from shortlist.selection.kernels.periods import Tables, end_of_period

HEAD = [
    ("most", "i8"),
    ("passed", "i8"),  # in the present period
    ("end", "i8"),  # of that period
]


@kernel
def passing(heads: Records, places: Ints, times: Longs, tables: Tables) -> npt.NDArray[np.bool_]:
    """Which offers pass."""
    passes = np.zeros(places.size, np.bool_)
    for offer in range(places.size):
        place, now = places[offer], times[offer]
        head = heads[place]
        if now >= head.end:
            head.end = end_of_period(tables, place, now)
            head.passed = 0
        if head.passed < head.most:
            head.passed += 1
            passes[offer] = True
    return passes
