"""A NATS connection behind plain calls: a thread in the background runs its event loop."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Concatenate, ParamSpec, TypeVar

import nats
from nats.aio.client import Client
from nats.errors import Error

from shortlist.log.base import LogUnavailable

P = ParamSpec("P")
T = TypeVar("T")
OLDEST = (2, 12)
"""The first server that appends several entries at once, or none of them."""
PAUSE = 0.1


class NatsConnection:
    """Connects when it is first used, and again when the server is back.

    Calls wait for a server that is gone until it has been gone for `patience` seconds. From then on
    they fail at once, however many there are, until an attempt in the background has connected.

    The client does not reconnect by itself: it would then send what it still had to send, after the
    caller was told that the log is unavailable.
    """

    def __init__(self, address: str, patience: float, **credentials: str | None) -> None:
        self._address = address
        self._patience = patience
        self._credentials = credentials
        self._client: Client | None = None
        self._lost = asyncio.Event()
        # The attempt that all calls wait for, the closing of the connection before, the time since
        # which there is none (of the event loop's clock), and what went wrong last.
        self._attempt: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._gone_since = 0.0
        self._reason = "silence"
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=address, daemon=True)
        self._thread.start()

    def run(
        self,
        work: Callable[Concatenate[Client, P], Coroutine[Any, Any, T]],
        *arguments: P.args,
        **options: P.kwargs,
    ) -> T:
        """What `work` gives; waits at most `patience` seconds for the server, and for its answers.

        Raises `LogUnavailable` if that is not enough, or the connection is lost meanwhile: then
        nobody knows whether the server did what it was asked for.
        """
        result = self._result(lambda client: work(client, *arguments, **options))
        running = asyncio.run_coroutine_threadsafe(result, self._loop)
        try:
            return running.result()
        finally:
            running.cancel()  # if the caller was interrupted

    def close(self) -> None:
        with suppress(TimeoutError):  # a server that says nothing keeps nobody
            asyncio.run_coroutine_threadsafe(self._disconnect(), self._loop).result(self._patience)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _result(self, work: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
        client, lost = await self._reached()
        began, heard = self._loop.time(), client.stats["in_msgs"]
        working = asyncio.create_task(work(client))
        losing = asyncio.create_task(lost.wait())
        try:
            await asyncio.wait(
                (working, losing), timeout=self._patience, return_when=asyncio.FIRST_COMPLETED
            )
            if working.done() and not working.cancelled():
                return working.result()
        except Error as error:
            raise LogUnavailable(f"the NATS server at {self._address}: {error}") from error
        finally:
            working.cancel()
            losing.cancel()
        if lost.is_set():
            raise LogUnavailable(f"the connection to {self._address} was lost")
        if client.stats["in_msgs"] == heard:
            self._give_up(client, lost, began)
        raise LogUnavailable(f"{self._address} gave no answer within {self._patience:g} s")

    def _give_up(self, client: Client, lost: asyncio.Event, silent_since: float) -> None:
        """Leave a connection on which nothing comes any more: else each call would wait to find
        that out for itself."""
        if client is self._client:
            self._client, self._gone_since = None, silent_since
            self._attempt = asyncio.create_task(self._connect())
            self._closing = asyncio.create_task(client.close())
        lost.set()

    async def _reached(self) -> tuple[Client, asyncio.Event]:
        """The connection, and what is set when it is lost; raises `LogUnavailable` where the server
        has been gone for longer than calls wait for it."""
        if self._client is None or not self._client.is_connected:
            if self._attempt is None or self._attempt.done():
                self._gone_since = self._loop.time()
                self._attempt = asyncio.create_task(self._connect())
            left = self._gone_since + self._patience - self._loop.time()
            done, _ = await asyncio.wait((self._attempt,), timeout=max(left, 0.0))
            for attempt in done:
                attempt.result()  # raises what no other attempt would mend
        if self._client is None or not self._client.is_connected:
            raise LogUnavailable(
                f"no NATS server answers at {self._address} within {self._patience:g} s:"
                f" {self._reason}"
            )
        return self._client, self._lost

    async def _connect(self) -> None:
        """Try until the server answers, however long that takes."""
        lost = asyncio.Event()

        async def lose() -> None:
            lost.set()

        async def note(error: Exception) -> None:
            self._reason = str(error)

        self._reason = "silence"
        while True:
            try:
                client = await nats.connect(
                    self._address,
                    allow_reconnect=False,
                    max_reconnect_attempts=1,
                    reconnect_time_wait=PAUSE,
                    closed_cb=lose,
                    error_cb=note,
                    **self._credentials,
                )
                break
            except (OSError, Error) as error:
                if "Authorization" in str(error):
                    raise LogUnavailable(f"{self._address} does not let us in") from error
                await asyncio.sleep(PAUSE)
        version = client.connected_server_version
        if (version.major, version.minor) < OLDEST:
            await client.close()
            raise LogUnavailable(
                f"expected a NATS server of version 2.12 or later at {self._address},"
                f" found {version.major}.{version.minor}"
            )
        self._client, self._lost = client, lost

    async def _disconnect(self) -> None:
        if self._client is not None:
            await self._client.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        # it has a thread where a host's name was looked up
        await asyncio.get_running_loop().shutdown_default_executor()
