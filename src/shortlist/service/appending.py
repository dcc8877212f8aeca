"""Appending for many callers at once: what waits goes to the log together, and is durable once."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from shortlist.client.sending import MOST_LINES
from shortlist.log.base import INPUT, Log, LogUnavailable
from shortlist.model.times import format_time, now


class _Waiting(NamedTuple):
    """Documents that nobody has acknowledged yet."""

    documents: Sequence[dict[str, Any]]
    stamps: bool
    acknowledged: asyncio.Future[range]


class Appender:
    """One task appends for all; whoever waits learns the offsets once they are durable."""

    def __init__(self, log: Log, most_waiting: int = 10_000) -> None:
        self._log = log
        self._most = most_waiting
        self._count = 0
        self._queue: asyncio.Queue[_Waiting] = asyncio.Queue()
        self._rest: _Waiting | None = None

    async def append(self, documents: Sequence[dict[str, Any]], *, stamps: bool) -> range:
        """The offsets of some documents, MOST_LINES at most; with `stamps`, those without a time
        get the present one when they are written, so that none is late because it waited here."""
        if self._count + len(documents) > self._most:
            raise LogUnavailable("the log does not keep up: too much waits for it already")
        waiting = _Waiting(documents, stamps, asyncio.get_running_loop().create_future())
        self._count += len(documents)
        try:
            self._queue.put_nowait(waiting)
            return await waiting.acknowledged
        finally:
            self._count -= len(documents)

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            together = await self._together()
            try:
                end = await asyncio.to_thread(self._write, together)
            except Exception as error:  # told to everybody who waits for it
                for each in together:
                    if not each.acknowledged.done():
                        each.acknowledged.set_exception(error)
                continue
            start = end - sum(len(each.documents) for each in together)
            for each in together:
                after = start + len(each.documents)
                if not each.acknowledged.done():
                    each.acknowledged.set_result(range(start + 1, after + 1))
                start = after

    async def _together(self) -> list[_Waiting]:
        """What waits, at least one and not more than a log takes at once."""
        first = self._rest or await self._queue.get()
        self._rest = None
        found, count = [first], len(first.documents)
        with suppress(asyncio.QueueEmpty):
            while True:
                following = self._queue.get_nowait()
                if count + len(following.documents) > MOST_LINES:
                    self._rest = following
                    break
                found.append(following)
                count += len(following.documents)
        return found

    def _write(self, together: Sequence[_Waiting]) -> int:
        present = format_time(now())
        documents = (
            document | {"time": present}
            if each.stamps and document.get("time") is None
            else document
            for each in together
            for document in each.documents
        )
        lines = [json.dumps(document, ensure_ascii=False).encode() for document in documents]
        return self._log.append(INPUT, lines)
