"""Input order to time order: what may be overtaken waits, what comes too late is turned away."""

import numpy as np

from shortlist.model.items import Bools, Items, Longs

LONG_AGO = -(2**62)
"""Before all times that can be written."""
UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def late_by(times: Longs, reached: Longs) -> list[str]:
    """How late items are that come when others lie in the past already.

    >>> late_by(np.array([5_000_000]), np.array([7_000_000]))
    ['late by 2 s']
    """
    return [f"late by {micros / 1e6:g} s" for micros in (reached - times).tolist()]


def ahead_by(times: Longs, recorded: Longs) -> list[str]:
    """How far items are ahead of the instants at which a log took them.

    >>> ahead_by(np.array([7_200_000_000, 90_000_000]), np.array([0, 0]))
    ['ahead by 2 h', 'ahead by 1.5 min']
    """
    return [f"ahead by {_in_words(micros / 1e6)}" for micros in (times - recorded).tolist()]


def _in_words(seconds: float) -> str:
    size, unit = next((pair for pair in UNITS if seconds >= pair[0]), UNITS[-1])
    return f"{seconds / size:,.1f}".removesuffix(".0") + f" {unit}"


def largest_before(times: Longs, latest: int | None = None) -> Longs:
    """For each item, in order of position, the largest time of those before it; `latest` is that
    before all of them.

    >>> largest_before(np.array([5, 9, 7]), latest=6)
    array([6, 6, 9])
    """
    first = LONG_AGO if latest is None else latest
    largest: Longs = np.maximum.accumulate(np.append(first, times))[:-1]
    return largest


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


class Ordering:
    """Passes items on in order of (time, position), each once nothing that comes later can belong
    before it, or to the same instant.

    An item is late if its time is before the largest time at earlier positions, less `lateness`.
    With unlimited lateness (None) nothing is passed on before the end. One that does not wait for
    ties passes an item on at once that only another of the same instant can come behind.
    """

    def __init__(self, lateness: int | None, *, waits_for_ties: bool = True) -> None:
        self._lateness = lateness
        self._waits_for_ties = waits_for_ties
        self.latest: int | None = None
        """The largest time of an item that was not late."""
        self.waiting: Items | None = None
        self._passed: int | None = None
        """What was reached under another lateness."""

    def reached_before(self, times: Longs) -> Longs:
        """For each of the next items the earliest time that is not late; they become known.

        >>> Ordering(lateness=1).reached_before(np.array([5, 9, 7])) - np.array([0, 4, 8])
        array([-4611686018427387905,                    0,                    0])
        """
        reached = np.full(times.size, LONG_AGO)
        if self._lateness is not None:
            largest = largest_before(times, self.latest)
            reached = np.maximum(largest - self._lateness, LONG_AGO - 1)
        if self._passed is not None:
            reached = np.maximum(reached, self._passed)
        in_time = times[times >= reached]
        if in_time.size:
            self.latest = int(in_time.max(initial=LONG_AGO if self.latest is None else self.latest))
        return reached

    @property
    def reached(self) -> int | None:
        """The earliest time that a later item can have; None as long as it can have any."""
        if self.latest is None or self._lateness is None:
            return self._passed
        reached = self.latest - self._lateness
        return reached if self._passed is None else max(reached, self._passed)

    def passed(self, items: Items, last: bool) -> Items:
        """All that lies in the past now, in order; of what is known and what is new the rest waits.
        After the `last` items nothing does."""
        every = items if self.waiting is None else Items.joined([self.waiting, items])
        if last:
            self.waiting = None
            return in_order(every)
        reached = LONG_AGO if self.reached is None else self.reached
        is_past = every.times < reached if self._waits_for_ties else every.times <= reached
        self.waiting = every.kept(~is_past)
        return in_order(every.kept(is_past))

    def passed_up_to(self, position: int) -> int:
        """The last position before which nothing waits, of all up to one that were taken."""
        if self.waiting is None or not len(self.waiting):
            return position
        return int(self.waiting.positions.min()) - 1

    def restore(self, latest: int | None, waiting: Items, passed: int | None = None) -> None:
        """Goes on where another one was, which may have waited longer, or not as long."""
        self.latest, self._passed, self.waiting = latest, passed, waiting


def in_order(items: Items) -> Items:
    """By time, then by position."""
    times, positions = items.times, items.positions
    later = (times[1:] > times[:-1]) | (
        (times[1:] == times[:-1]) & (positions[1:] > positions[:-1])
    )
    return items if later.all() else items.taken(np.lexsort((positions, times)))
