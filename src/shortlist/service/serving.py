"""Running the service until it is told to stop: of one log, or of several tenants at one place."""

import asyncio
import resource
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace

import uvicorn
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import HTTPConnection
from starlette.types import Receive, Scope, Send

from shortlist.client.keys import has_keys, known_keys
from shortlist.log.base import Log
from shortlist.model.problem import ShortlistError
from shortlist.model.wording import shown
from shortlist.service.access import LOOPBACK
from shortlist.service.app import Ended, create_app
from shortlist.service.requests import BoundedRequests
from shortlist.service.sockets import Socket
from shortlist.service.state import Options, Service

READY = "/readyz"


class Tenants(Starlette):
    """Hands each request to the application of the tenant whose key, or ticket, it brings.

    What has neither goes to the first: it refuses what it does not know, and has the same page as
    all.
    """

    def __init__(self, logs: Mapping[str | None, Log], options: Options) -> None:
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


GRACE_SECONDS = 1.0
"""For requests that are under way when it stops."""
PATIENCE_SECONDS = 5
"""For what is told to those that take longer."""
BACKLOG = 2048
"""Callers that may wait to be let in."""
# How long a request waits for the server of the log. A caller has an answer within two seconds; an
# append that a slow disk has not acknowledged by then is answered with 503, and may be sent again.
LOG_SECONDS = 1.5
MOST_HEARD = 1024
"""Bytes of a message on a WebSocket, where none is expected."""


class NoKeys(ShortlistError):
    """A service that everybody could reach, and that would let everybody in."""


def check_tenants(logs: Mapping[str, Log]) -> None:
    """Fails where a tenant has no key: nobody could call it."""
    for tenant, log in logs.items():
        if not known_keys(log):
            raise NoKeys(
                f"tenant {shown(tenant)}: expected keys, found none: make one in its log with"
                " `shortlist allow`"
            )


def check_keys(log: Log, host: str) -> bool:
    """Whether keys are asked for; `NoKeys` where they have to be and there are none."""
    if not known_keys(log) and host not in LOOPBACK:
        raise NoKeys(
            f"{host}: expected keys, found none: make one with `shortlist allow`, or serve on"
            " 127.0.0.1 to try it out"
        )
    return has_keys(log)


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket on an address, which callers reach from now on; port 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen(BACKLOG)
    except OSError:
        found.close()
        raise
    return found


class Server(uvicorn.Server):
    """Ends its streams before it waits for what else is under way; closes connections whose
    requests do not come to their end."""

    def __init__(self, config: uvicorn.Config, services: list[Service], options: Options) -> None:
        super().__init__(config)
        self.services = services
        self._options = options

    async def on_tick(self, counter: int) -> bool:
        """Do what uvicorn does ten times a second; once a second, look for slow requests."""
        if counter % 10 == 0:
            now, options = asyncio.get_running_loop().time(), self._options
            for connection in [*self.server_state.connections]:
                if isinstance(connection, BoundedRequests):
                    connection.check_pace(now, options.head_seconds, options.body_seconds)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for service in self.services:
            service.tail.stop()
        ending = asyncio.create_task(self._end_rest())
        await super().shutdown(sockets)
        ending.cancel()

    async def _end_rest(self) -> None:
        """Cuts off who reads nothing, and cancels what waits: a command whose verdict is not known,
        for one."""
        await asyncio.sleep(GRACE_SECONDS)
        for connection in [*self.server_state.connections]:
            if connection.transport.get_write_buffer_size():
                connection.transport.abort()
        await asyncio.sleep(0)
        for task in [*self.server_state.tasks]:
            task.cancel()


def raise_file_limit() -> None:
    """Raise the number of files that this process may have open, connections among them, to what it
    is allowed: it is 1,024 by default, fewer than there may be streams."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # where the system allows less than it says
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def make_server(log: Log | Mapping[str | None, Log], options: Options) -> Server:
    """A server that can be run on a socket, and stopped by `should_exit`; of one log, or of those
    of several tenants. The name of one that is alone may be None."""
    if isinstance(log, Mapping) and None in log:
        log = log[None]
    app: Starlette = Tenants(log, options) if isinstance(log, Mapping) else create_app(log, options)
    config = uvicorn.Config(
        Ended(app),
        log_level="warning",
        access_log=False,
        http=BoundedRequests,
        ws=Socket,
        ws_max_size=MOST_HEARD,
        ws_per_message_deflate=False,  # a context for each of thousands would fill memory
        timeout_graceful_shutdown=PATIENCE_SECONDS,
    )
    services = app.services if isinstance(app, Tenants) else [app.state.service]
    return Server(config, services, options)
