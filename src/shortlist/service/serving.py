"""Running the service until it is told to stop."""

import asyncio
import socket
from collections.abc import Mapping

import uvicorn
from starlette.applications import Starlette

from shortlist.client.keys import has_keys, known_keys
from shortlist.log.base import Log
from shortlist.model.problem import ShortlistError
from shortlist.model.wording import shown
from shortlist.service.access import LOOPBACK
from shortlist.service.app import create_app
from shortlist.service.middleware import Ended
from shortlist.service.sockets import Socket
from shortlist.service.state import Options, Service
from shortlist.service.tenants import Tenants

GRACE_SECONDS = 1.0
"""For requests that are under way when it stops."""
PATIENCE_SECONDS = 5
"""For what is told to those that take longer."""


BACKLOG = 2048
"""Callers that may wait to be let in."""


MOST_HEARD = 1024
"""Bytes of a message on a WebSocket, where none is expected."""


class NoKeys(ShortlistError):
    """A service that everybody could reach, and that would let everybody in."""


def is_loopback(host: str) -> bool:
    """
    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, False)
    """
    return host in LOOPBACK


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
    if not known_keys(log) and not is_loopback(host):
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
    """Ends its streams before it waits for what else is under way."""

    def __init__(self, config: uvicorn.Config, services: list[Service]) -> None:
        super().__init__(config)
        self.services = services

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


def make_server(log: Log | Mapping[str, Log], options: Options) -> Server:
    """A server that can be run on a socket, and stopped by `should_exit`; of one log, or of those
    of several tenants."""
    app: Starlette = Tenants(log, options) if isinstance(log, Mapping) else create_app(log, options)
    config = uvicorn.Config(
        Ended(app),
        log_level="warning",
        access_log=False,
        ws=Socket,
        ws_max_size=MOST_HEARD,
        ws_per_message_deflate=False,  # a context for each of thousands would fill memory
        timeout_graceful_shutdown=PATIENCE_SECONDS,
    )
    return Server(config, app.services if isinstance(app, Tenants) else [app.state.service])
