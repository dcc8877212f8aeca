"""When a log took items: instants that never decrease along the positions of an input."""

import numpy as np

from shortlist.engine.ordering import LONG_AGO, Bools
from shortlist.model.items import Longs

UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def ahead_by(times: Longs, recorded: Longs) -> list[str]:
    """How far items are ahead of the instants at which a log took them.

    >>> ahead_by(np.array([7_200_000_000, 90_000_000]), np.array([0, 0]))
    ['ahead by 2 h', 'ahead by 1.5 min']
    """
    return [f"ahead by {_in_words(micros / 1e6)}" for micros in (times - recorded).tolist()]


def _in_words(seconds: float) -> str:
    size, unit = next((pair for pair in UNITS if seconds >= pair[0]), UNITS[-1])
    return f"{seconds / size:,.1f}".removesuffix(".0") + f" {unit}"


class Arrivals:
    """The instants that count: the largest that a log has recorded so far.

    A log repeats its last instant when its clock was set back, or should: a server's timestamps
    may decrease, so the largest one is kept here, and with the position in what is saved. A
    heartbeat closes the instant before it, by a microsecond if need be: nobody waits until a clock
    that was set back is where it was.

    >>> arrivals = Arrivals()
    >>> arrivals.taken(np.array([5, 9, 7]), np.array([False, False, False])).tolist()
    [5, 9, 9]
    >>> arrivals.taken(np.array([8, 8, 20]), np.array([False, True, True])).tolist()
    [9, 10, 20]
    """

    def __init__(self) -> None:
        self.latest: int | None = None

    def taken(self, recorded: Longs, is_heartbeat: Bools) -> Longs:
        """The instants of the next items, of which some are heartbeats."""
        first = LONG_AGO if self.latest is None else self.latest
        closed = np.cumsum(is_heartbeat)
        largest = np.maximum.accumulate(np.append(first, recorded - closed))[1:]
        instants: Longs = largest + closed
        if instants.size:
            self.latest = int(instants[-1])
        return instants
