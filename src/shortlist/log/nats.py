"""A log on a NATS server with JetStream, for the processes of many machines."""

import asyncio
import json
import os
import re
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import repeat
from typing import NamedTuple, TypeVar
from urllib.parse import quote, unquote, urlsplit
from uuid import uuid4

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import DiscardPolicy, Header, StorageType
from nats.js.errors import (
    APIError,
    BucketNotFoundError,
    KeyNotFoundError,
    KeyWrongLastSequenceError,
    NotFoundError,
)

from shortlist.log import streams
from shortlist.log.base import Chunk, Entry, LogUnavailable, Moved, Register
from shortlist.log.nats_connection import PAUSE, NatsConnection
from shortlist.model.times import parse_time
from shortlist.model.wording import shown

DEPLOYMENT = re.compile(r"[A-Za-z0-9_-]+")
ANSWER_SECONDS = 1.0
"""Of silence, after which a question is asked again."""
T = TypeVar("T")
LONGEST_TOKEN = 512
"""A subject has to fit into the 4096 bytes of a line of the protocol."""


@dataclass(frozen=True, slots=True)
class NatsNames:
    """The parts of `nats://user:password@host:port/NAME`, and the names that follow from NAME.

    >>> names = NatsNames.of_url("nats://ann:secret@localhost:4222/city")
    >>> names.address, names.stream("input"), names.subject("input", "ann.b*")
    ('nats://localhost:4222', 'city-input', 'city.input.ann=2Eb=2A')
    """

    address: str
    deployment: str
    user: str | None = field(repr=False)
    password: str | None = field(repr=False)

    @classmethod
    def of_url(cls, url: str) -> "NatsNames":
        found = streams.shown_address(url)
        wrong = ValueError(f"expected nats://HOST:PORT/NAME, found {found}")
        try:
            parts = urlsplit(url)
        except ValueError:  # its words repeat the address
            raise wrong from None
        if parts.scheme != "nats" or not parts.hostname or parts.query or parts.fragment:
            raise wrong
        deployment = parts.path.removeprefix("/") or "shortlist"
        if DEPLOYMENT.fullmatch(deployment) is None:
            raise ValueError(
                "expected a name of letters, digits, - and _,"
                f" found {shown(deployment.rpartition('@')[2])}"
            )
        return cls(
            address=f"nats://{parts.netloc.rpartition('@')[2]}",
            deployment=deployment,
            user=parts.username and unquote(parts.username),
            password=parts.password and unquote(parts.password),
        )

    def stream(self, stream: str) -> str:
        return f"{self.deployment}-{streams.checked_stream(stream)}"

    def subject(self, stream: str, key: str | None = None) -> str:
        subject = f"{self.deployment}.{streams.checked_stream(stream)}"
        return subject if key is None else f"{subject}.{token(key)}"


def token(text: str) -> str:
    """Any text as one token of a subject, and as a key of a bucket; long ones as their digest.

    >>> [token(text) for text in ("s1", "", "a=b", "é")]
    ['s1', '=', 'a=3Db', '=C3=A9']
    """
    escaped = quote(text, safe="").replace(".", "%2E").replace("~", "%7E").replace("%", "=")
    if len(escaped) > LONGEST_TOKEN:
        return f"=={sha256(text.encode()).hexdigest()}"
    return escaped or "="


MOST_AT_ONCE = 1000
"""So many entries the server takes at once or not at all."""
MOST_BYTES_AT_ONCE = 32 * 2**20
HEADER_BYTES = 1024
"""Room for a message's headers, which count towards its size."""
END_OF_CHUNK, NOTHING_FOUND = "204", "404"
STREAMS_AT_ONCE = 256
"""So many a server lists in one answer."""
WRONG_END = 10071
REFUSED_FOR_NOW = (10167, 10176, 10210)
"""Too many requests; parts of a batch were dropped; too many batches. Nothing was stored."""


class Message(NamedTuple):
    subject: str
    content: bytes


class NatsLog:
    """A stream of JetStream for each stream, and a bucket of its key-value store for registers.

    An append of up to 1,000 entries and 32 MiB is all or none. A larger one is several of these,
    one after the other; the error of one that fails says how many entries were acknowledged before.
    With `expected_end` no other writer's entries come between them. `end` may see the first entries
    of an append a moment before the rest; the rest will come even if the server is killed then.

    If no acknowledgement comes, `LogUnavailable` is raised, and the entries may be in the log or
    not, or come there yet. A caller that gave `expected_end`, and is the stream's only writer, can
    tell from the stream's end.
    """

    def __init__(self, url: str, patience: float = 30.0) -> None:
        """`nats://user:password@host:port/NAME`: NAME keeps deployments on one server apart, and is
        `shortlist` if left out.

        Connects with the first call; waits for the server, and for each answer, for `patience`
        seconds.
        """
        self._names = NatsNames.of_url(url)
        self._patience = patience
        # Threads and sockets do not survive a fork: hence the process's id. What belongs to the
        # parent stays here untouched.
        self._connections: dict[int, NatsConnection] = {}
        self._connecting = threading.Lock()
        self._streams: set[str] = set()

    def append(
        self,
        stream: str,
        contents: Sequence[bytes],
        *,
        keys: Sequence[str] | None = None,
        expected_end: int | None = None,
    ) -> int:
        named = zip(contents, repeat(None, len(contents)) if keys is None else keys, strict=True)
        messages = [Message(self._names.subject(stream, key), content) for content, key in named]
        if not messages:
            end = self.end(stream)
            if expected_end not in (None, end):
                raise streams.moved(stream, expected_end, end)
            return end
        self._connection.run(self._prepare, stream, contents)
        done = 0
        for batch in _batches(messages):
            try:
                end = self._connection.run(self._appended, stream, batch, expected_end)
            except (LogUnavailable, Moved) as error:
                if done == 0:
                    raise
                raise type(error)(
                    f"{error}; the first {done} of {len(messages)} entries were acknowledged"
                ) from error
            done += len(batch)
            expected_end = None if expected_end is None else end
        return end

    @property
    def longest(self) -> int | None:
        return self._connection.run(_longest)

    def end(self, stream: str) -> int:
        return self._connection.run(self._end, stream)

    def read(
        self, stream: str, after: int, until: int | None = None, *, key: str | None = None
    ) -> Iterator[Entry]:
        end = self.end(stream)
        last = end if until is None else min(until, end)
        return streams.read_in_chunks(
            lambda behind: self._connection.run(self._chunk, stream, behind, last, key),
            after,
            last,
            sparse=key is not None,
        )

    def chunks(self, stream: str, after: int, until: int | None = None) -> Iterator[Chunk]:
        return streams.in_chunks(self.read(stream, after, until))

    def register(self, name: str) -> Register | None:
        return self._connection.run(self._register, name)

    def put(self, name: str, content: bytes, revision: int) -> int:
        return self._connection.run(self._put, name, content, revision)

    def names_on_server(self) -> list[str]:
        """The NAMEs under which the server has something."""
        return self._connection.run(self._names_on_server)

    def close(self) -> None:
        connection = self._connections.pop(os.getpid(), None)
        if connection is not None:
            connection.close()

    @property
    def _connection(self) -> NatsConnection:
        process = os.getpid()
        with self._connecting:
            if process not in self._connections:
                self._connections[process] = NatsConnection(
                    self._names.address,
                    self._patience,
                    user=self._names.user,
                    password=self._names.password,
                )
            return self._connections[process]

    async def _prepare(self, client: Client, stream: str, contents: Sequence[bytes]) -> None:
        """Makes the stream, and sees to it that no entry is refused after others were taken."""
        _check_size(client, max(map(len, contents)))
        if stream not in self._streams:
            subject = self._names.subject(stream)
            await client.jetstream().add_stream(
                name=self._names.stream(stream),
                subjects=[subject, f"{subject}.*"],
                storage=StorageType.FILE,
                discard=DiscardPolicy.NEW,
                allow_atomic=True,
                allow_direct=True,
                deny_delete=True,
                deny_purge=True,
            )
            self._streams.add(stream)

    async def _appended(
        self, client: Client, stream: str, batch: Sequence[Message], expected_end: int | None
    ) -> int:
        while True:
            try:
                return await self._attempt(client, batch, expected_end)
            except APIError as error:
                if error.err_code == WRONG_END:
                    found = (error.description or "").rpartition(" ")[2]
                    raise streams.moved(stream, expected_end, found) from error
                if error.err_code not in REFUSED_FOR_NOW:
                    raise
                await asyncio.sleep(PAUSE)

    async def _attempt(
        self, client: Client, batch: Sequence[Message], expected_end: int | None
    ) -> int:
        """The offset of the last message; the server keeps the others back until it comes."""
        expected = (
            {} if expected_end is None else {"Nats-Expected-Last-Sequence": str(expected_end)}
        )
        batch_id = uuid4().hex
        headers = [
            {"Nats-Batch-Id": batch_id, "Nats-Batch-Sequence": str(number)}
            for number in range(1, len(batch) + 1)
        ]
        headers[-1] = headers[-1] | {"Nats-Batch-Commit": "1"} if len(batch) > 1 else {}
        headers[0] = headers[0] | expected
        for message, about in zip(batch[:-1], headers, strict=False):
            await client.publish(*message, headers=about)
        acknowledgement = await client.jetstream().publish(
            *batch[-1], headers=headers[-1] or None, timeout=self._patience
        )
        return acknowledgement.seq

    async def _chunk(
        self, client: Client, stream: str, after: int, until: int, key: str | None
    ) -> list[Entry]:
        """Some of the entries of (after, until], as the server sends them to one request."""
        request: dict[str, object] = {
            "seq": after + 1,
            "batch": min(until - after, streams.MOST_ENTRIES),
            "max_bytes": streams.MOST_BYTES,
        }
        if key is not None:
            request["next_by_subj"] = self._names.subject(stream, key)
        subject = f"$JS.API.DIRECT.GET.{self._names.stream(stream)}"
        asked = json.dumps(request).encode()
        *entries, last = await _ask_until_heard(lambda: self._answers(client, subject, asked))
        about_last = last.headers or {}
        if about_last[Header.STATUS] not in (END_OF_CHUNK, NOTHING_FOUND):
            raise LogUnavailable(f"the NATS server cannot read {stream}: {about_last}")
        return [entry for entry in map(_entry, entries) if entry.offset <= until]

    async def _answers(self, client: Client, subject: str, request: bytes) -> list[Msg]:
        """All that the server sends to a request, up to the message that has a status; raises
        `TimeoutError` where it falls silent."""
        answers: list[Msg] = []
        complete = asyncio.Event()

        async def take(message: Msg) -> None:
            answers.append(message)
            if Header.STATUS in (message.headers or {}):
                complete.set()

        inbox = client.new_inbox()
        # A callback takes four times as many messages in a second as asking for the next one.
        subscription = await client.subscribe(inbox, cb=take)
        try:
            await client.publish(subject, request, reply=inbox)
            heard = -1
            while not complete.is_set():
                if heard == len(answers):
                    raise TimeoutError
                heard = len(answers)
                with suppress(TimeoutError):
                    await asyncio.wait_for(complete.wait(), ANSWER_SECONDS)
        finally:
            await subscription.unsubscribe()
        return answers

    async def _end(self, client: Client, stream: str) -> int:
        jetstream, name = client.jetstream(timeout=ANSWER_SECONDS), self._names.stream(stream)
        try:
            found = await _ask_until_heard(lambda: jetstream.stream_info(name))
        except NotFoundError:
            return 0
        return found.state.last_seq

    async def _names_on_server(self, client: Client) -> list[str]:
        found: list[str] = []
        page = None
        while page is None or len(page) == STREAMS_AT_ONCE:
            page = await client.jetstream().streams_info(offset=len(found))
            found += [one.config.name or "" for one in page]
        inputs = (name.removesuffix("-input") for name in found if name.endswith("-input"))
        registers = (name.removeprefix("KV_") for name in found if name.startswith("KV_"))
        return sorted({*inputs, *registers})

    async def _register(self, client: Client, name: str) -> Register | None:
        jetstream = client.jetstream(timeout=ANSWER_SECONDS)
        try:
            bucket = await _ask_until_heard(lambda: jetstream.key_value(self._names.deployment))
            entry = await _ask_until_heard(lambda: bucket.get(token(name)))
        except (BucketNotFoundError, KeyNotFoundError):
            return None
        return Register(entry.revision or 0, entry.value or b"")

    async def _put(self, client: Client, name: str, content: bytes, revision: int) -> int:
        _check_size(client, len(content))
        jetstream, bucket = client.jetstream(), self._names.deployment
        try:
            registers = await jetstream.key_value(bucket)
        except BucketNotFoundError:
            registers = await jetstream.create_key_value(
                bucket=bucket, history=1, storage=StorageType.FILE
            )
        try:
            return await registers.update(token(name), content, last=revision)
        except KeyWrongLastSequenceError as error:
            raise Moved(f"expected revision {revision} of {name}, found another one") from error


async def _ask_until_heard(ask: Callable[[], Awaitable[T]]) -> T:
    """What the server answers to a question that changes nothing, asked again where it is silent:
    one that has just started may not have heard it. Whoever waits says for how long."""
    while True:
        with suppress(TimeoutError):  # NATS's own is one, too
            return await ask()


def _batches(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """Cut where a batch has as many messages, or as many bytes, as it may have."""
    first = size = 0
    for place, message in enumerate(messages):
        size += len(message.content)
        if place - first == MOST_AT_ONCE or (size > MOST_BYTES_AT_ONCE and place > first):
            yield messages[first:place]
            first, size = place, len(message.content)
    yield messages[first:]


def _entry(message: Msg) -> Entry:
    headers = message.headers or {}
    appended = parse_time(headers["Nats-Time-Stamp"])
    return Entry(int(headers["Nats-Sequence"]), appended, message.data)


async def _longest(client: Client) -> int:
    return client.max_payload - HEADER_BYTES


def _check_size(client: Client, size: int) -> None:
    most = client.max_payload - HEADER_BYTES
    if size > most:
        raise ValueError(f"expected at most {most} bytes at once, found {size}")
