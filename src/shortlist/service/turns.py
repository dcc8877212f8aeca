"""Turns for work that takes long: previews and explanations.

One piece of work runs at a time, in a thread beside the event loop. Callers take turns: after each
piece of work the next caller in the round comes, so that a caller who asks for many pieces waits
for its own, and every other caller for one piece of each.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from shortlist.engine.explanation import Check
from shortlist.service.problems import Refused

Answer = TypeVar("Answer")
# How much of one caller may wait or run.
MAX_WAITING = 8
# How long a piece of work may run before it is given up. It is asked between its steps, since a
# thread cannot be ended from outside.
WORK_SECONDS = 10.0


class Turns:
    """Runs work of many callers, one piece at a time, in rounds over the callers."""

    def __init__(self, work_seconds: float = WORK_SECONDS) -> None:
        self._work_seconds = work_seconds
        # By caller, those that wait; the first caller has the next turn.
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        # The caller whose work runs.
        self._running: str | None = None

    async def run(self, caller: str, patience: float, work: Callable[[Check], Answer]) -> Answer:
        """Run work when it is the caller's turn, and return what it returns.

        `work` gets a function that it has to call between its steps. Refuses a caller of whom too
        much waits already, and gives up where no turn comes within `patience` seconds.
        """
        queue = self._waiting.get(caller, ())
        if len(queue) + (self._running == caller) >= MAX_WAITING:
            expected = f"expected at most {MAX_WAITING} previews and explanations of one caller"
            raise Refused(
                429, f"{expected} at the same time, found more", headers={"Retry-After": "1"}
            )
        await self._turn(caller, patience)
        running = asyncio.ensure_future(asyncio.to_thread(work, self._deadline()))
        # Also where the caller is gone: the thread works on, and the next one must wait for it.
        running.add_done_callback(lambda _: self._next())
        return await asyncio.shield(running)

    async def _turn(self, caller: str, patience: float) -> None:
        """Wait for the caller's turn."""
        if self._running is None:
            self._running = caller
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(caller, deque()).append(turn)
        try:
            async with asyncio.timeout(patience):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():  # its turn came at the same moment
                self._next()
            else:
                self._remove(caller, turn)
            if isinstance(error, TimeoutError):
                detail = f"no turn for previews and explanations came within {patience:g} s"
                raise Refused(503, detail, headers={"Retry-After": "5"}) from None
            raise

    def _remove(self, caller: str, turn: asyncio.Future[None]) -> None:
        """Remove a request that was given up: it must not count towards `MAX_WAITING`."""
        queue = self._waiting.get(caller, deque())
        if turn not in queue:  # `_next` passed over it already
            return
        queue.remove(turn)
        if not queue:
            del self._waiting[caller]

    def _next(self) -> None:
        """Give the turn to the next caller that waits; the caller goes to the end of the round."""
        self._running = None
        while self._waiting:
            caller = next(iter(self._waiting))
            queue = self._waiting.pop(caller)
            turn = queue.popleft()
            if queue:
                self._waiting[caller] = queue
            if not turn.done():  # a cancelled request is removed only when its task runs next
                self._running = caller
                turn.set_result(None)
                return

    def _deadline(self) -> Check:
        end = time.monotonic() + self._work_seconds

        def check() -> None:
            if time.monotonic() > end:
                raise Refused(
                    503,
                    f"expected an answer within {self._work_seconds:g} s, found more to do: ask"
                    " for one publication, or of a shortlist with fewer subscriptions",
                    headers={"Retry-After": "60"},
                )

        return check
