"""Streams that are open: how many each key has, and when they end."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from shortlist.client.keys import Holder
from shortlist.client.openings import Opening, Openings
from shortlist.log.base import LogUnavailable
from shortlist.service.access import EVERYBODY, Access
from shortlist.service.problems import Refused
from shortlist.service.sockets import ENDED, FORBIDDEN
from shortlist.service.tail import Tail

# Pause between two looks for shortlists that have closed and keys that were forbidden.
LOOK_SECONDS = 0.5
# What WebSockets of a shortlist that has closed are closed with.
CLOSED = ENDED, "the shortlist was closed"


@dataclass(eq=False, slots=True)
class Listener:
    """An open stream: its caller, and the opening of a shortlist that it follows."""

    caller: Holder
    shortlist: str
    opening: Opening
    # Why it has to end, as a WebSocket says it; None while it goes on.
    ending: tuple[int, str] | None = None


class Listeners:
    """The open streams, server-sent events and WebSockets alike.

    Each caller may have a limited number of them, so that a caller with many streams leaves room
    for the others. A service without keys cannot tell callers apart: there, only the number of all
    streams is limited.
    """

    def __init__(
        self, access: Access, openings: Openings, tail: Tail, most: int, most_of_key: int
    ) -> None:
        self._access, self._openings, self._tail = access, openings, tail
        self._most, self._most_of_key = most, most_of_key
        self._open: set[Listener] = set()
        self._of_key: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    async def run(self) -> None:
        """Ends what has to end, until it is cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if self._open:
                with suppress(LogUnavailable):
                    await self._look()

    @contextmanager
    def opened(self, caller: Holder, shortlist: str, opening: Opening) -> Iterator[Listener]:
        """One more stream for as long as the context lasts; refused where there are too many."""
        if caller is not EVERYBODY and self._of_key[caller.name] >= self._most_of_key:
            expected = f"expected at most {self._most_of_key:,} streams of one key"
            raise Refused(429, f"{expected}, found more", headers={"Retry-After": "1"})
        if len(self._open) >= self._most:
            raise Refused(503, f"expected at most {self._most:,} streams, found more")
        listener = Listener(caller, shortlist, opening)
        self._open.add(listener)
        self._of_key[caller.name] += 1
        try:
            yield listener
        finally:
            self._open.discard(listener)
            self._of_key[caller.name] -= 1
            self._of_key += Counter()  # forgets callers without streams

    async def _look(self) -> None:
        listeners = [*self._open]
        alive = {each for each in {one.caller for one in listeners} if self._access.is_still(each)}
        names = {each.shortlist for each in listeners}
        last = await asyncio.to_thread(self._openings.last_of, names)
        for listener in listeners:
            if listener.caller not in alive:
                listener.ending = FORBIDDEN, "the key is not known any more"
            elif last[listener.shortlist].position != listener.opening.position:
                listener.ending = CLOSED
            else:
                continue
            self._tail.wake(listener.shortlist)
