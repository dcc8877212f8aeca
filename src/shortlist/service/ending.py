"""What becomes of requests that are still under way when the service stops."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shortlist.service.problems import problem


class Ended:
    """Whoever is cancelled before an answer has begun is told why; nobody else hears of it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = scope["type"] != "http"

        async def watched(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            if scope["type"] == "lifespan":
                raise
            if not has_begun:
                await problem(503, "the service stops: come again")(scope, receive, send)
