"""What a request may be at most."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shortlist.service.problems import problem


class _TooLarge(Exception):
    """A body that goes on behind its limit."""


class BoundedBodies:
    """Refuses bodies that are too large, as soon as that is known."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        said = dict(scope["headers"]).get(b"content-length", b"0")
        count, has_begun = 0, False

        async def bounded() -> Message:
            nonlocal count
            message = await receive()
            count += len(message.get("body", b""))
            if count > self._most:
                raise _TooLarge
            return message

        async def watched(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            if said.isdigit() and int(said) > self._most:
                raise _TooLarge
            await self._app(scope, bounded, watched)
        except _TooLarge:
            if has_begun:
                raise
            refusal = problem(413, f"expected a body of at most {self._most} bytes, found more")
            await refusal(scope, receive, send)
