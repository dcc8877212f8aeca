"""Several tenants at one address: each has a log, and so everything, of its own."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import HTTPConnection
from starlette.types import Receive, Scope, Send

from shortlist.log.base import Log
from shortlist.service.app import create_app
from shortlist.service.state import Options, Service

READY = "/readyz"


class Tenants(Starlette):
    """Hands each request to the application of the tenant whose key, or ticket, it brings.

    What has neither goes to the first: it refuses what it does not know, and has the same page as
    all.
    """

    def __init__(self, logs: Mapping[str, Log], options: Options) -> None:
        super().__init__(lifespan=self._running)
        # without a key nobody could tell whose a request is, on loopback either
        self._apps = [
            create_app(log, replace(options, tenant=tenant, is_loopback=False))
            for tenant, log in logs.items()
        ]

    @property
    def services(self) -> list[Service]:
        return [app.state.service for app in self._apps]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await super().__call__(scope, receive, send)
            return
        app = await self._app_of(HTTPConnection(scope))
        await app(scope, receive, send)

    async def _app_of(self, connection: HTTPConnection) -> FastAPI:
        for app in self._apps:
            service: Service = app.state.service
            if connection.scope["path"] == READY:
                is_right = not await asyncio.to_thread(service.is_ready)
            else:
                is_right = service.access.knows(connection)
            if is_right:
                return app
        return self._apps[0]

    @asynccontextmanager
    async def _running(self, _: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for app in self._apps:
                await stack.enter_async_context(app.router.lifespan_context(app))
            yield
