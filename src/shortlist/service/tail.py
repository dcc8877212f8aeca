"""The end of the deliveries and departures, read once for all who follow shortlists."""

import asyncio
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable

from shortlist.client.following import Following, News, Place
from shortlist.log.base import Log, LogUnavailable

POLL_SECONDS = 0.1
# News that are kept, and the bytes of memory that they may take: 20,000 of usual length take half
# of these. Of long ones, with all of their publications' data, there are fewer.
MOST_KEPT = 20_000
MOST_BYTES = 32 * 2**20
# News that are read from the log at once, and their bytes: a second bound, since 2,000 readers may
# be behind at the same time.
MOST_AT_ONCE = 500
MOST_BYTES_AT_ONCE = 2**20
# Bytes that news take beside their line, measured.
NEWS_BYTES = 500
# What is asked of a kept document, which is the line once more, parsed into many times its memory.
ASKED = ("shortlist", "subscriber")


class Tail:
    """The last news of all shortlists, in memory; whoever is behind them reads the log.

    It is only a shorter way: what anybody gets follows from the place where they are.
    """

    def __init__(self, log: Log, most_kept: int = MOST_KEPT, most_bytes: int = MOST_BYTES) -> None:
        self._log = log
        self._most_kept = most_kept
        self._most_bytes = most_bytes
        self._bytes = 0
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
                found, has_more = await asyncio.to_thread(next_of, self._following)
            except LogUnavailable:
                found, has_more = [], False
            self._take(found)
            if not has_more:
                await asyncio.sleep(POLL_SECONDS)

    def stop(self) -> None:
        """End every `follow`."""
        self._has_stopped = True
        for waiting in self._waiting.values():
            for arrived in waiting:
                arrived.set()

    def wake(self, shortlist: str) -> None:
        """Make every `follow` of a shortlist ask again whether it goes on."""
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
            self._bytes += size_of(news)
            self._of_shortlist.setdefault(name, deque()).append(news)
            for arrived in self._waiting.get(name, ()):
                arrived.set()
        self.end = self._following.place
        while len(self._kept) > self._most_kept or self._bytes > self._most_bytes:
            oldest = self._kept.popleft()
            self._bytes -= size_of(oldest)
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
        found, _ = next_of(following)
        return following.place, found


def next_of(following: Following) -> tuple[list[News], bool]:
    """Return the next news, as many as are read at once, and whether there may be more already."""
    found: list[News] = []
    size = 0
    for news in following.news():
        document = {name: news.document[name] for name in ASKED if name in news.document}
        found.append(news._replace(document=document))
        size += size_of(news)
        if len(found) == MOST_AT_ONCE or size >= MOST_BYTES_AT_ONCE:
            return found, True
    return found, False


def size_of(news: News) -> int:
    """Return about how many bytes of memory some news take."""
    return sys.getsizeof(news.line) + NEWS_BYTES


def max_of(one: Place, other: Place) -> Place:
    """The later place in each stream.

    >>> max_of(Place(3, 9), Place(5, 2))
    Place(deliveries=5, departures=9)
    """
    departures = max(one.departures or 0, other.departures or 0)
    return Place(max(one.deliveries, other.deliveries), departures)
