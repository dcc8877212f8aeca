"""Sends deliveries to webhooks: in order, signed, again until they are taken, and only to public
addresses, by names that lead there when it is sent."""

import asyncio
import ipaddress
import json
import os
import socket
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpcore

from shortlist.client.webhooks import (
    DEAD_LETTERS,
    Webhook,
    disable_webhook,
    known_webhooks,
    signature,
)
from shortlist.log.base import Entry, Log, LogUnavailable
from shortlist.log.json_register import Document, change_json
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


LEASE = "webhook-sender"
LEASE_SECONDS = 15.0
POLL_SECONDS = 0.5
MOST_AT_ONCE = 100
TIMEOUT = {"connect": 5.0, "read": 15.0, "write": 15.0, "pool": 15.0}
PAUSES = (1.0, 5.0, 30.0, 120.0, 600.0)
"""Seconds before each further attempt; what fails after the last is a dead letter."""
GONE = 410


class Attempt(NamedTuple):
    """How one went: the status that was answered, or why there was none."""

    status: int | None
    reason: str

    @property
    def is_taken(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


@dataclass(slots=True)
class Notifier:
    """Follows the webhooks of a log; of several services that do, one sends at a time."""

    log: Log
    private: bool = False
    pauses: tuple[float, ...] = PAUSES
    failures: dict[str, str] = field(default_factory=dict)
    """By webhook: why the last attempt failed, while it is tried again."""
    _name: str = field(default_factory=lambda: os.urandom(8).hex())
    _senders: dict[Webhook, asyncio.Task[None]] = field(default_factory=dict)

    async def run(self) -> None:
        """Until it is cancelled."""
        try:
            async with self._pool() as pool:
                while True:
                    with suppress(LogUnavailable):
                        await self._look(pool)
                    await asyncio.sleep(POLL_SECONDS)
        finally:
            self._stop({*self._senders})
            with suppress(LogUnavailable):
                self._release()

    async def replay(self, webhook: Webhook, numbers: Collection[int]) -> list[dict[str, Any]]:
        """Sends dead letters once more, each one time."""

        def read() -> list[Entry]:
            last = max(numbers, default=0)
            letters = self.log.read(DEAD_LETTERS, 0, last, key=webhook.serial)
            return [letter for letter in letters if letter.offset in numbers]

        done = []
        async with self._pool() as pool:
            for letter in await asyncio.to_thread(read):
                delivery = json.loads(letter.content)["delivery"]
                body = json.dumps(delivery, ensure_ascii=False).encode()
                attempt = await post(pool, webhook, delivery["id"], body)
                taken = {"number": letter.offset, "taken": attempt.is_taken}
                done.append(taken | {"reason": attempt.reason})
        return done

    def _pool(self) -> httpcore.AsyncConnectionPool:
        network = CheckedNetwork(private=self.private)
        return httpcore.AsyncConnectionPool(network_backend=network)

    async def _look(self, pool: httpcore.AsyncConnectionPool) -> None:
        """Begins to send for those that came, and stops for those that went."""
        is_ours = await asyncio.to_thread(self._leases)
        known = await asyncio.to_thread(known_webhooks, self.log) if is_ours else {}
        wanted = {each for each in known.values() if each.disabled is None}
        self._stop({*self._senders} - wanted)
        for webhook in wanted - {*self._senders}:
            self._senders[webhook] = asyncio.create_task(self._send_all(webhook, pool))
        for webhook, task in [*self._senders.items()]:
            if task.done():
                del self._senders[webhook]

    def _leases(self) -> bool:
        """Whether nobody else sends; who has not said so for a while does not any more."""
        now = time.time()

        def leased(held: Document) -> Document:
            least = now + LEASE_SECONDS / 2 if held.get("by") == self._name else now
            if held.get("until", 0) > least:
                return held
            return {"by": self._name, "until": now + LEASE_SECONDS}

        return bool(change_json(self.log, LEASE, leased)["by"] == self._name)

    def _release(self) -> None:
        def released(held: Document) -> Document:
            return {**held, "until": 0} if held.get("by") == self._name else held

        change_json(self.log, LEASE, released)

    def _stop(self, some: set[Webhook]) -> None:
        for webhook in some:
            self._senders.pop(webhook).cancel()

    async def _send_all(self, webhook: Webhook, pool: httpcore.AsyncConnectionPool) -> None:
        consumer = webhook.consumer(self.log)

        def waiting() -> list[Entry]:
            return [*islice(consumer.entries(), MOST_AT_ONCE)]

        while True:
            entries = []
            with suppress(LogUnavailable):
                entries = await asyncio.to_thread(waiting)
            for entry in entries:
                delivery = json.loads(entry.content)
                attempt = await self._sent(webhook, delivery["id"], entry.content, pool)
                if attempt.status == GONE:
                    why = "it answered 410, and so asks for no more"
                    await asyncio.to_thread(disable_webhook, self.log, webhook, why)
                    return
                if not attempt.is_taken:
                    await asyncio.to_thread(self._give_up, webhook, entry, attempt)
                await asyncio.to_thread(consumer.seen, entry.offset)
            if not entries:
                await asyncio.sleep(POLL_SECONDS)

    async def _sent(
        self, webhook: Webhook, id: str, body: bytes, pool: httpcore.AsyncConnectionPool
    ) -> Attempt:
        """The last attempt, which was taken unless all failed."""
        for pause in (*self.pauses, None):
            attempt = await post(pool, webhook, id, body)
            if attempt.is_taken or attempt.status == GONE or pause is None:
                break
            self.failures[webhook.id] = attempt.reason
            await asyncio.sleep(pause)
        self.failures.pop(webhook.id, None)
        return attempt

    def _give_up(self, webhook: Webhook, entry: Entry, attempt: Attempt) -> None:
        letter = {
            "webhook": webhook.id,
            "offset": entry.offset,
            "reason": attempt.reason,
            "attempts": len(self.pauses) + 1,
            "delivery": json.loads(entry.content),
        }
        content = json.dumps(letter, ensure_ascii=False).encode()
        self.log.append(DEAD_LETTERS, [content], keys=[webhook.serial])


async def post(
    pool: httpcore.AsyncConnectionPool, webhook: Webhook, id: str, body: bytes
) -> Attempt:
    """One request; redirects are not followed, and nothing that is answered is read."""
    timestamp = int(time.time())
    headers: dict[bytes | str, bytes | str] = {
        "content-type": "application/json",
        "user-agent": "shortlist",
        "webhook-id": id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(webhook.secret, id, timestamp, body),
    }
    try:
        async with pool.stream(
            "POST", webhook.url, headers=headers, content=body, extensions={"timeout": TIMEOUT}
        ) as response:
            return Attempt(response.status, f"it answered {response.status}")
    except ForbiddenTarget as error:
        return Attempt(None, str(error))
    except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
        return Attempt(None, f"{type(error).__name__}: {error}".rstrip(": "))
