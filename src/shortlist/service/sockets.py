"""WebSockets that do not wait for readers who read nothing, and what they are closed with."""

import asyncio

from uvicorn.protocols.websockets.wsproto_impl import WSProtocol
from wsproto.events import CloseConnection

UNASKED = 1003
STOPPED = 1012
UNAVAILABLE = 1013
FORBIDDEN = 4401
ENDED = 4404
TOO_SLOW = 4408
"""Codes above 4000 are ours; they end as the HTTP status that would say the same."""
SLOW_SECONDS = 30.0
"""For so long a reader may take nothing while something waits for it."""
GRACE_SECONDS = 10.0
"""For so long the last frame is waited with, before the connection is cut."""


class Socket(WSProtocol):
    """A connection; who is too slow is told so behind what it has not read yet, and cut off.

    An application could not tell it: what it sends waits until the reader takes something.
    """

    _waiting: asyncio.TimerHandle | None = None
    _cutting: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._waiting = self.loop.call_later(SLOW_SECONDS, self._cut_off)

    def resume_writing(self) -> None:
        self._stop_waiting()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        if self._cutting is not None:
            self._cutting.cancel()
        super().connection_lost(exc)

    def _cut_off(self) -> None:
        reason = f"expected a reader that takes something within {SLOW_SECONDS:g} s, found none"
        if not self.close_sent and not self.transport.is_closing():
            self.transport.write(self.conn.send(CloseConnection(code=TOO_SLOW, reason=reason)))
            self.close_sent = True
        self.transport.close()
        self._cutting = self.loop.call_later(GRACE_SECONDS, self.transport.abort)
        # whoever waits to send learns that nobody is there any more
        self.disconnected = True
        self.writable.set()

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
