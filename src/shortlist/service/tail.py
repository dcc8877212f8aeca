"""The end of the deliveries and departures, read once for all who follow shortlists."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from itertools import islice

from shortlist.client.following import Following, News, Place
from shortlist.log.base import Log, LogUnavailable

POLL_SECONDS = 0.1
MOST_KEPT = 20_000
MOST_AT_ONCE = 500
"""Entries that are read from the log for somebody who is behind."""


class Tail:
    """The last news of all shortlists, in memory; whoever is behind them reads the log.

    It is only a shorter way: what anybody gets follows from the place where they are.
    """

    def __init__(self, log: Log, most_kept: int = MOST_KEPT) -> None:
        self._log = log
        self._most_kept = most_kept
        self._following = Following(log, None, changes=True)
        self._kept: deque[News] = deque()
        self._of_shortlist: dict[str, deque[News]] = {}
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._begin = self.end = self._following.place
        self._has_stopped = False

    async def run(self) -> None:
        """Reads on until it is cancelled; while the log cannot be reached, it is tried again."""
        while True:
            try:
                found = await asyncio.to_thread(list, islice(self._following.news(), MOST_AT_ONCE))
            except LogUnavailable:
                found = []
            self._take(found)
            if len(found) < MOST_AT_ONCE:
                await asyncio.sleep(POLL_SECONDS)

    def stop(self) -> None:
        """Whoever follows is told that there is no more."""
        self._has_stopped = True
        for waiting in self._waiting.values():
            for arrived in waiting:
                arrived.set()

    def wake(self, shortlist: str) -> None:
        """Has those who follow a shortlist ask again whether they go on."""
        for arrived in self._waiting.get(shortlist, ()):
            arrived.set()

    async def follow(
        self,
        shortlist: str,
        place: Place,
        heartbeat: float,
        goes_on: Callable[[], bool] = lambda: True,
    ) -> AsyncIterator[tuple[Place, News | None]]:
        """What comes to a shortlist behind a place, each with the place behind it; None where
        nothing has come for so many seconds. Places tell of entries of this shortlist alone, so
        that they do not depend on when these are read."""
        read = place
        arrived = asyncio.Event()
        self._waiting.setdefault(shortlist, set()).add(arrived)
        try:
            while not self._has_stopped and goes_on():
                arrived.clear()
                end, kept = self.end, self._behind(shortlist, read)
                found = [] if kept is None else kept
                if kept is None:
                    end, found = await asyncio.to_thread(self._logged, shortlist, read)
                for news in found:
                    place = place.moved(news)
                    yield place, news
                read = max_of(max_of(read, place), end)
                if found or max_of(read, self.end) != read:
                    continue
                try:
                    await asyncio.wait_for(arrived.wait(), heartbeat)
                except TimeoutError:
                    yield place, None
        finally:
            waiting = self._waiting[shortlist]
            waiting.discard(arrived)
            if not waiting:
                del self._waiting[shortlist]

    def _take(self, found: Iterable[News]) -> None:
        for news in found:
            name = news.document["shortlist"]
            self._kept.append(news)
            self._of_shortlist.setdefault(name, deque()).append(news)
            for arrived in self._waiting.get(name, ()):
                arrived.set()
        self.end = self._following.place
        while len(self._kept) > self._most_kept:
            oldest = self._kept.popleft()
            name = oldest.document["shortlist"]
            self._begin = self._begin.moved(oldest)
            self._of_shortlist[name].popleft()
            if not self._of_shortlist[name]:
                del self._of_shortlist[name]

    def _behind(self, shortlist: str, place: Place) -> list[News] | None:
        """What is kept of a shortlist behind a place; None if older ones may be missing."""
        if max_of(self._begin, place) != place:
            return None
        return [
            news
            for news in self._of_shortlist.get(shortlist, ())
            if news.offset > (place.offset(news.stream) or 0)
        ]

    def _logged(self, shortlist: str, place: Place) -> tuple[Place, list[News]]:
        """The same from the log, some at a time, and the place up to which it was read."""
        following = Following(self._log, shortlist, changes=True, after=place)
        found = [*islice(following.news(), MOST_AT_ONCE)]
        return following.place, found


def max_of(one: Place, other: Place) -> Place:
    """The later place in each stream.

    >>> max_of(Place(3, 9), Place(5, 2))
    Place(deliveries=5, departures=9)
    """
    departures = max(one.departures or 0, other.departures or 0)
    return Place(max(one.deliveries, other.deliveries), departures)
