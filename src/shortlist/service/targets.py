"""Where webhooks may be sent: to public addresses, by names that lead there when it is sent."""

import asyncio
import ipaddress
import socket
from typing import Any
from urllib.parse import urlsplit

import httpcore

from shortlist.model.problem import ShortlistError
from shortlist.model.wording import shown

MOST_LETTERS = 2_000
PORTS = {"http": 80, "https": 443}


class ForbiddenTarget(ShortlistError):
    """An address that nobody may have something sent to."""


async def check_target(url: str, *, private: bool = False) -> None:
    """Fails where a webhook may not be sent to; `private` allows addresses of this network, and
    plain HTTP."""
    parts = urlsplit(url) if len(url) <= MOST_LETTERS else None
    schemes = ("http", "https") if private else ("https",)
    if parts is None or parts.scheme not in schemes or not parts.hostname:
        raise ForbiddenTarget(f"url: expected {schemes[-1]}://HOST/…, found {shown(url)}")
    if parts.username or parts.password or parts.fragment:
        raise ForbiddenTarget("url: expected neither a user nor a fragment in it, found one")
    try:
        port = parts.port or PORTS[parts.scheme]
    except ValueError:
        raise ForbiddenTarget(f"url: expected a port up to 65535, found {shown(url)}") from None
    await addresses(parts.hostname, port, private=private)


async def addresses(host: str, port: int, *, private: bool) -> list[str]:
    """Where a name leads; fails if any of it is not to be sent to."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise ForbiddenTarget(f"url: expected a host that exists, found {shown(host)}") from None
    led = [str(each[4][0]) for each in found]
    for address in () if private else led:
        known = ipaddress.ip_address(address.partition("%")[0])
        mapped = getattr(known, "ipv4_mapped", None) or known
        if not mapped.is_global or mapped.is_multicast:
            raise ForbiddenTarget(
                f"url: expected a host with public addresses, found {shown(host)} with others"
            )
    return led


class CheckedNetwork(httpcore.AsyncNetworkBackend):
    """Connects to the very addresses that were checked: a name may lead elsewhere the next time."""

    def __init__(self, *, private: bool) -> None:
        self._private = private
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self, host: str, port: int, *arguments: Any, **more: Any
    ) -> httpcore.AsyncNetworkStream:
        led = await addresses(host, port, private=self._private)
        return await self._network.connect_tcp(led[0], port, *arguments, **more)

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)
