"""Send deliveries to webhooks: in order, signed, again until they are taken, and only to public
addresses, by names that lead there when it is sent.

Receivers are strangers' programs. Each attempt has a deadline and reads a bounded answer, on a
connection of its own; how many attempts go on at the same time is bounded by origin and in all, and
receivers that were slow or failed wait apart from those that answer promptly (`SendingTurns`).
"""

import asyncio
import ipaddress
import json
import logging
import os
import socket
import ssl
import time
from collections.abc import AsyncIterator, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpcore

from shortlist.client.keys import known_keys
from shortlist.client.openings import Openings
from shortlist.client.webhooks import (
    DEAD_LETTERS,
    Webhook,
    disable_webhooks,
    known_webhooks,
    signature,
    why_ended,
)
from shortlist.log.base import Entry, Log, LogUnavailable
from shortlist.log.json_register import Document, change_json
from shortlist.model.problem import ShortlistError
from shortlist.model.wording import shown

LOGGER = logging.getLogger("shortlist.webhooks")
# Attempts at the same time to one origin (scheme, host and port); a webhook has one at a time.
MAX_TO_ORIGIN = 8
# Attempts at the same time to receivers that answer promptly, and to all others. Together they stay
# well below the 1,024 files that a process may open unless it is told otherwise.
MAX_PROMPT, MAX_OTHERS = 128, 64
MOST_LETTERS = 2_000
PORTS = {"http": 80, "https": 443}


class ForbiddenTarget(ShortlistError):
    """An address that no webhook may be sent to."""


async def check_target(url: str, *, private: bool = False) -> None:
    """Raise `ForbiddenTarget` where a webhook may not be sent to.

    `private` allows addresses of this network, and plain HTTP.
    """
    schemes = ("http", "https") if private else ("https",)
    parts = None
    # httpcore takes printable ASCII alone, and `urlsplit` passes over tabs and line breaks
    if len(url) <= MOST_LETTERS and url.isascii() and url.isprintable():
        with suppress(ValueError):  # a bracket that is not closed
            parts = urlsplit(url)
    if parts is None or parts.scheme not in schemes or not parts.hostname:
        raise ForbiddenTarget(f"url: expected {schemes[-1]}://HOST/…, found {shown(url)}")
    if parts.username or parts.password or parts.fragment:
        raise ForbiddenTarget("url: expected neither a user nor a fragment in it, found one")
    try:
        port = parts.port or PORTS[parts.scheme]
    except ValueError:
        raise ForbiddenTarget(f"url: expected a port up to 65535, found {shown(url)}") from None
    try:
        async with asyncio.timeout(LOOKUP_SECONDS):
            await addresses(parts.hostname, port, private=private, threads=CHECKS)
    except TimeoutError:
        raise ForbiddenTarget(
            f"url: expected a host whose address is found within {LOOKUP_SECONDS:g} s, found"
            f" {shown(parts.hostname)}"
        ) from None


# Seconds that a caller waits for the address of a new webhook's host.
LOOKUP_SECONDS = 10.0
# Names are looked up in threads of their own: a name server that does not answer keeps a thread for
# half a minute, and the threads that read the log must not wait for it. Attempts have two for each
# turn, since one is given up after 15 s. Requests that make webhooks have other threads, so that no
# delivery waits for them.
LOOKUPS = ThreadPoolExecutor(2 * (MAX_PROMPT + MAX_OTHERS), thread_name_prefix="lookup")
CHECKS = ThreadPoolExecutor(16, thread_name_prefix="check")


async def addresses(
    host: str, port: int, *, private: bool, threads: ThreadPoolExecutor = LOOKUPS
) -> list[str]:
    """The addresses of a host; fails if one of them is not to be sent to."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.run_in_executor(
            threads, lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        )
    except (OSError, UnicodeError):
        raise ForbiddenTarget(f"url: expected a host that exists, found {shown(host)}") from None
    listed = [str(each[4][0]) for each in found]
    for address in () if private else listed:
        if not is_public(address):
            raise ForbiddenTarget(
                f"url: expected a host with public addresses, found {shown(host)} with others"
            )
    return listed


Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# IPv6 networks that lead to the IPv4 address in the last 32 bits of an address: NAT64 (RFC 6052),
# IPv4-compatible and IPv4-translated addresses (RFC 4291, RFC 2765).
EMBEDDING = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "::/96", "::ffff:0:0:0/96")))
# IPv6 networks that are never public, whatever Python's tables say: NAT64 of a network's own
# (RFC 8215), which hides the IPv4 address in a place that only that network knows, and the
# site-local addresses of before (RFC 3879).
NEVER_PUBLIC = tuple(map(ipaddress.IPv6Network, ("64:ff9b:1::/48", "fec0::/10")))
# The 32 bits before the IPv4 address at the end of an ISATAP address (RFC 5214), but for the bit
# that says whether that address is unique.
ISATAP, UNIQUE = 0x00005EFE, 0x02000000


def is_public(text: str) -> bool:
    """Return whether an address, and every IPv4 address that it embeds, is public.

    >>> [is_public(each) for each in ("8.8.8.8", "10.0.0.1", "64:ff9b::8.8.8.8", "2002:a00:1::")]
    [True, False, True, False]
    """
    address = ipaddress.ip_address(text.partition("%")[0])
    return all(
        each.is_global and not each.is_multicast for each in (address, *_embedded(address))
    ) and not any(address in network for network in NEVER_PUBLIC)


def _embedded(address: Address) -> Iterable[ipaddress.IPv4Address]:
    """The IPv4 addresses that what is sent to an IPv6 address may go to."""
    if isinstance(address, ipaddress.IPv4Address):
        return
    last = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    is_isatap = (int(address) >> 32 & 0xFFFFFFFF) & ~UNIQUE == ISATAP
    if is_isatap or any(address in network for network in EMBEDDING):
        yield last
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    if address.sixtofour is not None:
        yield address.sixtofour


# Bytes that are read of an answer with its head: only its status counts, and a longer answer is cut
# off.
MAX_ANSWER_BYTES = 64 * 2**10


class BoundedStream(httpcore.AsyncNetworkStream):
    """A connection from which so many bytes are read, and no more."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self._left = MAX_ANSWER_BYTES

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        found = await self._stream.read(max_bytes, timeout)
        self._left -= len(found)
        if self._left < 0:
            raise httpcore.ReadError(f"expected at most {MAX_ANSWER_BYTES:,} bytes, found more")
        return found

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        return BoundedStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class CheckedNetwork(httpcore.AsyncNetworkBackend):
    """Connects to the very addresses that were checked: a name may lead elsewhere the next time."""

    def __init__(self, *, private: bool) -> None:
        self._private = private
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self, host: str, port: int, *arguments: Any, **more: Any
    ) -> httpcore.AsyncNetworkStream:
        listed = await addresses(host, port, private=self._private)
        return BoundedStream(await self._network.connect_tcp(listed[0], port, *arguments, **more))

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)


@cache
def _ssl_context() -> ssl.SSLContext:
    """One for all attempts: to read the certificates takes longer than most attempts."""
    return httpcore.default_ssl_context()


LEASE = "webhook-sender"
LEASE_SECONDS = 15.0
POLL_SECONDS = 0.5
MOST_AT_ONCE = 100
# Seconds before each further attempt; a delivery that fails after the last becomes a dead letter.
PAUSES = (1.0, 5.0, 30.0, 120.0, 600.0)
# Seconds for a whole attempt: from the lookup of its host to the head of the answer.
SECONDS = 15.0
GONE = 410
# Seconds within which a receiver takes a delivery that counts as prompt.
PROMPT_SECONDS = 2.0
# Seconds for which the names of keys are remembered.
KEY_SECONDS = 2.0


class SendingTurns:
    """Let attempts begin in the order of asking, so that a slow receiver delays only itself.

    A delivery that waits here has not been attempted, so it cannot fail by waiting. A receiver has
    to take a delivery promptly before it gets a place among the prompt ones, and loses that place
    with the first delivery that it does not take promptly. Receivers that never answer, however
    many there are, take turns among themselves.
    """

    def __init__(self) -> None:
        self._prompt = asyncio.Semaphore(MAX_PROMPT)
        self._others = asyncio.Semaphore(MAX_OTHERS)
        # By origin: its turns, and how many attempts wait for a turn or have it.
        self._origins: dict[tuple[str, str], tuple[asyncio.Semaphore, int]] = {}
        self._is_prompt: set[Webhook] = set()

    @asynccontextmanager
    async def turn(self, webhook: Webhook) -> AsyncIterator[None]:
        """Waits for a turn, which lasts as long as the context."""
        parts = urlsplit(webhook.url)
        origin = parts.scheme, parts.netloc.lower()
        turns, count = self._origins.get(origin, (asyncio.Semaphore(MAX_TO_ORIGIN), 0))
        self._origins[origin] = turns, count + 1
        try:
            # the origin's turn first: what waits for it keeps no other origin waiting
            async with turns, self._prompt if webhook in self._is_prompt else self._others:
                yield
        finally:
            turns, count = self._origins.pop(origin)
            if count > 1:
                self._origins[origin] = turns, count - 1

    def took(self, webhook: Webhook, *, promptly: bool) -> None:
        """An attempt was made."""
        (self._is_prompt.add if promptly else self._is_prompt.discard)(webhook)

    def forget(self, webhook: Webhook) -> None:
        self._is_prompt.discard(webhook)


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
    openings: Openings
    private: bool = False
    pauses: tuple[float, ...] = PAUSES
    # Seconds for a whole attempt.
    seconds: float = SECONDS
    # By id of a webhook: why the last attempt failed, while it is tried again.
    failures: dict[str, str] = field(default_factory=dict)
    _name: str = field(default_factory=lambda: os.urandom(8).hex())
    _senders: dict[Webhook, asyncio.Task[None]] = field(default_factory=dict)
    _turns: SendingTurns = field(default_factory=SendingTurns)
    # When the names of keys were read, and the names.
    _keys: tuple[float, frozenset[str]] = (-KEY_SECONDS, frozenset())

    async def run(self) -> None:
        """Until it is cancelled."""
        try:
            while True:
                with suppress(LogUnavailable):
                    await self._look()
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
        for letter in await asyncio.to_thread(read):
            delivery = json.loads(letter.content)["delivery"]
            body = json.dumps(delivery, ensure_ascii=False).encode()
            attempt = await self._attempt(webhook, delivery["id"], body)
            taken = {"number": letter.offset, "taken": attempt.is_taken}
            done.append(taken | {"reason": attempt.reason})
        if webhook not in self._senders:  # another service sends to it
            self._turns.forget(webhook)
        return done

    def why_ended(self, webhook: Webhook) -> str | None:
        """Why nothing more may be sent to a webhook, by what the log says now; None if it may."""
        self._read_keys()
        return why_ended(webhook, self.openings.last(webhook.shortlist), self._keys[1])

    async def _look(self) -> None:
        """Begins to send for those that came, and stops for those that went."""
        wanted = {*await asyncio.to_thread(self._wanted)}
        self._stop({*self._senders} - wanted)
        for webhook in wanted - {*self._senders}:
            self._senders[webhook] = asyncio.create_task(self._send_all(webhook))
        for webhook, task in [*self._senders.items()]:
            if task.done():
                del self._senders[webhook]
                error = None if task.cancelled() else task.exception()
                if error is not None:  # the next look starts a new sender
                    LOGGER.error("webhook %s: its sender failed", webhook.id, exc_info=error)

    def _wanted(self) -> list[Webhook]:
        """The webhooks that go on, if this service is the one that sends; those that have ended are
        disabled, with the reason."""
        known = known_webhooks(self.log) if self._leases() else {}
        going = [webhook for webhook in known.values() if webhook.disabled is None]
        # keys and openings are read behind the webhooks: a webhook's own are among them
        read, names = self._keys
        if time.monotonic() - read >= KEY_SECONDS or any(
            webhook.key is not None and webhook.key not in names for webhook in going
        ):
            self._read_keys()
        last = self.openings.last_of({webhook.shortlist for webhook in going})
        why = {each: why_ended(each, last[each.shortlist], self._keys[1]) for each in going}
        ended = {webhook: reason for webhook, reason in why.items() if reason is not None}
        if ended:
            disable_webhooks(self.log, ended)
        return [webhook for webhook in going if webhook not in ended]

    def _read_keys(self) -> None:
        names = frozenset(holder.name for holder in known_keys(self.log).values())
        self._keys = time.monotonic(), names

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
            self._turns.forget(webhook)
            self.failures.pop(webhook.id, None)

    async def _send_all(self, webhook: Webhook) -> None:
        consumer = webhook.consumer(self.log)

        def waiting() -> list[Entry] | None:
            entries = [*islice(consumer.entries(), MOST_AT_ONCE)]
            if not entries:  # thousands of idle webhooks would ask for openings twice a second
                return entries
            # the log has an opening before what came to it: if there is none by now, these are ours
            has_ended = self.openings.last(webhook.shortlist).position != webhook.opening
            return None if has_ended else entries

        while True:
            entries: list[Entry] | None = []
            with suppress(LogUnavailable):
                entries = await asyncio.to_thread(waiting)
            if entries is None:
                return  # the next look disables it
            for entry in entries:
                delivery = json.loads(entry.content)
                attempt = await self._sent(webhook, delivery["id"], entry.content)
                if attempt.status == GONE:
                    why = "it answered 410, and so asks for no more"
                    await asyncio.to_thread(disable_webhooks, self.log, {webhook: why})
                    return
                if not attempt.is_taken:
                    await asyncio.to_thread(self._give_up, webhook, entry, attempt)
                await asyncio.to_thread(consumer.seen, entry.offset)
            if not entries:
                await asyncio.sleep(POLL_SECONDS)

    async def _attempt(self, webhook: Webhook, id: str, body: bytes) -> Attempt:
        """One request, once it is its turn."""
        network = CheckedNetwork(private=self.private)
        async with self._turns.turn(webhook):
            begun = time.monotonic()
            attempt = await post(network, webhook, id, body, self.seconds)
            is_prompt = time.monotonic() - begun < PROMPT_SECONDS
            self._turns.took(webhook, promptly=attempt.is_taken and is_prompt)
            return attempt

    async def _sent(self, webhook: Webhook, id: str, body: bytes) -> Attempt:
        """The last attempt, which was taken unless all failed."""
        for pause in (*self.pauses, None):
            attempt = await self._attempt(webhook, id, body)
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
    network: CheckedNetwork, webhook: Webhook, id: str, body: bytes, seconds: float
) -> Attempt:
    """Make one request on a connection of its own.

    The deadline is for all of it: an answer that comes byte by byte is too late as well. Redirects
    are not followed, and of the answer only its head is read.
    """
    timestamp = int(time.time())
    headers: dict[bytes | str, bytes | str] = {
        "content-type": "application/json",
        "user-agent": "shortlist",
        "webhook-id": id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(webhook.secret, id, timestamp, body),
    }
    try:
        origin = httpcore.URL(webhook.url).origin
    except (TypeError, ValueError) as error:  # a register may have URLs that are refused now
        return Attempt(None, f"url: {error}")
    connection = httpcore.AsyncHTTPConnection(
        origin, ssl_context=_ssl_context(), network_backend=network
    )
    try:
        async with (
            asyncio.timeout(seconds),
            connection,
            connection.stream("POST", webhook.url, headers=headers, content=body) as response,
        ):
            return Attempt(response.status, f"it answered {response.status}")
    except TimeoutError:
        return Attempt(None, f"it took longer than {seconds:g} s")
    except ForbiddenTarget as error:
        return Attempt(None, str(error))
    except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
        return Attempt(None, f"{type(error).__name__}: {error}".rstrip(": "))
