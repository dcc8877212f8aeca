"""The application: routes over one log, and what stands around all of them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse
from fastapi.routing import APIRoute
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shortlist.log.base import Log
from shortlist.model.problem import ShortlistError
from shortlist.service import (
    hooking,
    operating,
    publishing,
    receiving,
    registering,
    streaming,
)
from shortlist.service.measuring import Measured
from shortlist.service.problems import RESPONSES, Refused, add_handlers, answer_to, problem
from shortlist.service.state import Options, Service


class _TooLarge(Exception):
    """A body that goes on behind its limit."""


class _Watched:
    """Sends on, and knows whether an answer has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = False

    async def __call__(self, message: Message) -> None:
        self.has_begun = True
        await self._send(message)


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
        count, watched = 0, _Watched(send)

        async def bounded() -> Message:
            nonlocal count
            message = await receive()
            count += len(message.get("body", b""))
            if count > self._most:
                raise _TooLarge
            return message

        try:
            if said.isdigit() and int(said) > self._most:
                raise _TooLarge
            await self._app(scope, bounded, watched)
        except _TooLarge:
            if watched.has_begun:
                raise
            refusal = problem(413, f"expected a body of at most {self._most} bytes, found more")
            await refusal(scope, receive, send)


class Ended:
    """Answer with 503 where a request is cancelled before its answer has begun.

    A request whose caller has disconnected before it was complete ends without an answer, and is no
    error of the service.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        watched = _Watched(send)
        try:
            await self._app(scope, receive, watched)
        except ClientDisconnect:
            pass  # the connection is closed: no answer can arrive
        except asyncio.CancelledError:
            if scope["type"] == "lifespan":
                raise
            if scope["type"] == "http" and not watched.has_begun:
                await problem(503, "the service stops: come again")(scope, receive, send)


class Shortcut:
    """Calls one endpoint past the framework, whose way to it takes longer than the endpoint.

    It has a fixed path, takes the request and nothing else, and answers with a response.
    """

    def __init__(self, app: ASGIApp, route: APIRoute) -> None:
        self._app = app
        self._route = route
        self._methods = frozenset(route.methods or ())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._is_meant(scope):
            await self._app(scope, receive, send)
            return
        scope["route"] = self._route
        try:
            response = await self._route.endpoint(Request(scope, receive))
        except (Refused, ShortlistError) as error:
            response = answer_to(error)
        await response(scope, receive, send)

    def _is_meant(self, scope: Scope) -> bool:
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        return path == self._route.path and scope["method"] in self._methods


PAGE = Path(__file__).parent / "page"
SAFE = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def create_app(log: Log, options: Options | None = None) -> FastAPI:
    """A service on a log, which stays open for as long as the service runs."""
    service = Service(log, options or Options())

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with service.running():
            yield

    app = FastAPI(
        title="Shortlist",
        version=version("shortlist"),
        description="Relevance-ranked publish/subscribe: everyone gets a shortlist.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses=RESPONSES,
        middleware=[
            Middleware(Measured, measures=service.measures),
            Middleware(BoundedBodies, most=service.options.limits.payload_bytes),
            Middleware(Shortcut, route=publishing.PUBLISH),
        ],
    )
    app.state.service = service
    add_handlers(app)
    # names may hold slashes: what is about one comes before the names themselves
    for module in (publishing, receiving, streaming, hooking, registering, operating):
        app.include_router(module.router)

    # static files need no key: everything that they show is asked for with one
    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(PAGE / "index.html", headers=SAFE)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> FileResponse:
        return FileResponse(PAGE / "docs.html", headers=SAFE)

    app.mount("/page", StaticFiles(directory=PAGE), name="page")
    return app
