"""Input order to time order: what may be overtaken waits, what comes too late is turned away."""

import heapq
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar


class Late(Exception):
    """An item before everything that may still be waited for."""


def late_by(time: int, latest: int | None, lateness: int | None) -> str | None:
    """Why an item comes too late after what was seen before it; None if it does not.

    >>> late_by(5_000_000, latest=8_000_000, lateness=1_000_000)
    'late by 2 s'
    """
    if latest is None or lateness is None:
        return None
    return late_for(time, latest - lateness)


def late_for(time: int, reached: int) -> str | None:
    """Why an item comes too late where others lie in the past already; None if it does not."""
    return None if time >= reached else f"late by {(reached - time) / 1e6:g} s"


class Timed(Protocol):
    """What stands somewhere in the input and has a time."""

    @property
    def time(self) -> int: ...

    @property
    def position(self) -> int: ...


T = TypeVar("T", bound=Timed)


class Ordering(Generic[T]):
    """Releases items in order of (time, position).

    An item is late if its time is before the largest time at earlier positions, less `lateness`.
    With unlimited lateness (None) nothing is released before the end.
    """

    def __init__(self, lateness: int | None) -> None:
        self._lateness = lateness
        self._latest: int | None = None
        self._waiting: list[tuple[int, int, T]] = []
        self._passed: int | None = None
        """What was reached under another lateness."""

    def push(self, item: T) -> None:
        """Takes the next item of the input, or raises `Late`."""
        self.reach(item.time)
        heapq.heappush(self._waiting, (item.time, item.position, item))

    def reach(self, time: int) -> None:
        """Something of this time is next in the input; it may be late."""
        late = None if self.reached is None else late_for(time, self.reached)
        if late is not None:
            raise Late(late)
        self._latest = time if self._latest is None else max(self._latest, time)

    def released(self) -> Iterator[T]:
        """What no later item can come before."""
        if self.reached is not None:
            while self._waiting and self._waiting[0][0] <= self.reached:
                yield heapq.heappop(self._waiting)[2]

    def passed(self) -> Iterator[T]:
        """What lies in the past: no later item can come at the same time either."""
        if self.reached is not None:
            while self._waiting and self._waiting[0][0] < self.reached:
                yield heapq.heappop(self._waiting)[2]

    def rest(self) -> Iterator[T]:
        """All that waits: the input has ended."""
        while self._waiting:
            yield heapq.heappop(self._waiting)[2]

    @property
    def reached(self) -> int | None:
        """The earliest time that a later item can have; None as long as it can have any."""
        if self._latest is None or self._lateness is None:
            return self._passed
        reached = self._latest - self._lateness
        return reached if self._passed is None else max(reached, self._passed)

    @property
    def latest(self) -> int | None:
        return self._latest

    def waiting(self) -> list[T]:
        return [item for _, _, item in sorted(self._waiting, key=lambda entry: entry[:2])]

    def restore(self, latest: int | None, waiting: list[T], passed: int | None = None) -> None:
        """Goes on where another one was, which may have waited longer, or not as long."""
        self._latest, self._passed = latest, passed
        self._waiting = [(item.time, item.position, item) for item in waiting]
        heapq.heapify(self._waiting)
