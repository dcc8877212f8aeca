"""Replays for previews and explanations: they take long, so there is one at a time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from shortlist.client.keys import Holder
from shortlist.service.problems import Refused

Answer = TypeVar("Answer")
MOST_WAITING = 8
"""Of one caller."""


class Replays:
    """Whoever asks for many waits for their own; requests of other kinds wait for none."""

    def __init__(self) -> None:
        self._one = asyncio.Semaphore(1)
        self._waiting: Counter[str] = Counter()

    async def run(self, caller: Holder, work: Callable[[], Answer]) -> Answer:
        """What some work answers, once it is its turn."""
        if self._waiting[caller.name] >= MOST_WAITING:
            expected = f"expected at most {MOST_WAITING} previews and explanations of one caller"
            headers = {"Retry-After": "1"}
            raise Refused(429, f"{expected} at the same time, found more", headers=headers)
        self._waiting[caller.name] += 1
        try:
            async with self._one:
                return await asyncio.to_thread(work)
        finally:
            self._waiting[caller.name] -= 1
            self._waiting += Counter()  # forgets whoever waits for nothing
