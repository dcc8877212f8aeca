"""Which period of its calendar an instant falls into, for many places."""

from typing import NamedTuple

from shortlist.matching.arrays import Ints, Longs
from shortlist.matching.kernels.compiling import kernel


class Tables(NamedTuple):
    """Calendars by number: periods of one length, or those that are listed."""

    of_places: Ints
    """The number of the calendar that each place goes by."""
    spans: Longs
    """The length of periods since the epoch; 0 where they are listed."""
    firsts: Longs
    """Where the list of a calendar begins, and at last where all of them end."""
    begins: Longs
    ends: Longs


@kernel
def end_of_period(tables: Tables, place: int, time: int) -> int:
    """When the period ends that an instant falls into; no later than that if there is none."""
    number = tables.of_places[place]
    span = tables.spans[number]
    if span > 0:
        return int((time // span + 1) * span)
    low, high = tables.firsts[number], tables.firsts[number + 1]
    first = low
    while low < high:
        middle = (low + high) // 2
        if tables.begins[middle] <= time:
            low = middle + 1
        else:
            high = middle
    return int(tables.ends[low - 1]) if low > first else time
