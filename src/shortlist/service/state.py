"""What the requests to one service share: what is published goes to the log together, for one."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Annotated, Any, NamedTuple, TypeVar, cast

from fastapi import Depends, Query, Request
from starlette.requests import HTTPConnection

from shortlist.client.commands import Order, Verdict, sent
from shortlist.client.deployment import Deployment, LiveRegistry, passed
from shortlist.client.keys import Holder
from shortlist.client.openings import Opening, Openings
from shortlist.client.sending import MOST_LINES
from shortlist.engine.explanation import Check
from shortlist.intake.lines import BadItem, ItemReader, parse_json
from shortlist.live.conditions import standstill
from shortlist.live.manifest import Manifest
from shortlist.live.registers import NoDeployment
from shortlist.log.base import INPUT, Entry, Log, LogUnavailable
from shortlist.model.settings import Limits, TimeBasis
from shortlist.model.times import format_time, now
from shortlist.model.vocabulary import Vocabulary
from shortlist.model.wording import shown
from shortlist.service.access import Access, check_shortlist
from shortlist.service.listening import Listeners
from shortlist.service.measuring import Measures
from shortlist.service.notifying import PAUSES, SECONDS, Notifier
from shortlist.service.problems import Refused
from shortlist.service.tail import Tail
from shortlist.service.turns import WORK_SECONDS, Turns


class _Waiting(NamedTuple):
    """Documents that nobody has acknowledged yet."""

    documents: Sequence[dict[str, Any]]
    stamps: bool
    acknowledged: asyncio.Future[range]


class Appender:
    """One task appends for all; whoever waits learns the offsets once they are durable."""

    def __init__(self, log: Log, most_waiting: int = 10_000) -> None:
        self._log = log
        self._most = most_waiting
        self._count = 0
        self._queue: asyncio.Queue[_Waiting] = asyncio.Queue()
        self._rest: _Waiting | None = None

    async def append(self, documents: Sequence[dict[str, Any]], *, stamps: bool) -> range:
        """The offsets of some documents, MOST_LINES at most; with `stamps`, those without a time
        get the present one when they are written, so that none is late because it waited here."""
        if self._count + len(documents) > self._most:
            raise LogUnavailable("the log does not keep up: too much waits for it already")
        waiting = _Waiting(documents, stamps, asyncio.get_running_loop().create_future())
        self._count += len(documents)
        try:
            self._queue.put_nowait(waiting)
            return await waiting.acknowledged
        finally:
            self._count -= len(documents)

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            together = await self._together()
            try:
                end = await asyncio.to_thread(self._write, together)
            except Exception as error:  # told to everybody who waits for it
                for each in together:
                    if not each.acknowledged.done():
                        each.acknowledged.set_exception(error)
                continue
            start = end - sum(len(each.documents) for each in together)
            for each in together:
                after = start + len(each.documents)
                if not each.acknowledged.done():
                    each.acknowledged.set_result(range(start + 1, after + 1))
                start = after

    async def _together(self) -> list[_Waiting]:
        """What waits, at least one and not more than a log takes at once."""
        first = self._rest or await self._queue.get()
        self._rest = None
        found, count = [first], len(first.documents)
        with suppress(asyncio.QueueEmpty):
            while True:
                following = self._queue.get_nowait()
                if count + len(following.documents) > MOST_LINES:
                    self._rest = following
                    break
                found.append(following)
                count += len(following.documents)
        return found

    def _write(self, together: Sequence[_Waiting]) -> int:
        present = format_time(now())
        documents = (
            document | {"time": present}
            if each.stamps and document.get("time") is None
            else document
            for each in together
            for document in each.documents
        )
        lines = [json.dumps(document, ensure_ascii=False).encode() for document in documents]
        return self._log.append(INPUT, lines)


Answer = TypeVar("Answer")

LIMITS = Limits(
    expression_length=8_192,
    expression_depth=24,
    predicates=128,
    audience_length=512,
    mentions=128,
    policies=16,
    held=10_000,
    diverse_k=64,
    diverse_attributes=8,
    elements=4_096,
    payload_bytes=256 * 1024,
)
"""What somebody may ask for who is not known: less than an operator may write to the log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a service is run."""

    # The tenant that this service is for, where one address serves several.
    tenant: str | None = None
    is_loopback: bool = True
    limits: Limits = LIMITS
    # Seconds that a command may take.
    patience: float = 30.0
    # Seconds of work that a preview or an explanation may take.
    work_seconds: float = WORK_SECONDS
    # Seconds of silence on a stream before a heartbeat is sent.
    heartbeat: float = 15.0
    most_streams: int = 2_000
    most_streams_of_key: int = 200
    # Requests of one caller in a second.
    per_second: float = 5_000.0
    # Whether webhooks may lead into this network, and over plain HTTP.
    private_webhooks: bool = False
    # Seconds before each further attempt to send a delivery.
    webhook_pauses: tuple[float, ...] = PAUSES
    # Seconds for a whole attempt.
    webhook_seconds: float = SECONDS
    # Seconds within which the head of a request has to be complete.
    head_seconds: float = 10.0
    # The same for its body; `service/requests.py` adds some for the bytes that have arrived.
    body_seconds: float = 20.0
    # By tenant, the URL of the metrics of the deployment that is run together with the service,
    # once the deployment has told it.
    deployment_metrics: dict[str | None, str] = field(default_factory=dict)


class Service:
    """A log and the deployment on it, and what is done once for all requests."""

    def __init__(self, log: Log, options: Options) -> None:
        self.log = log
        self.options = options
        self.deployment = Deployment(log)
        self.registry = LiveRegistry(self.deployment)
        self.publications = ItemReader(Vocabulary(), options.limits, commands=False)
        """Tells what can be published."""
        self.appender = Appender(log)
        self.tail = Tail(log)
        self.access = Access(log, is_loopback=options.is_loopback, per_second=options.per_second)
        self.measures = Measures(self.deployment)
        self.openings = Openings(log)
        self.notifier = Notifier(
            log,
            self.openings,
            options.private_webhooks,
            options.webhook_pauses,
            options.webhook_seconds,
        )
        self._turns = Turns(options.work_seconds)
        self.listeners = Listeners(
            self.access,
            self.openings,
            self.tail,
            options.most_streams,
            options.most_streams_of_key,
        )
        self._basis: TimeBasis | None = None
        self.measures.streams.set_function(lambda: len(self.listeners))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """What goes on beside requests."""
        parts = (self.appender, self.tail, self.access, self.notifier, self.listeners)
        tasks = [asyncio.create_task(part.run()) for part in parts]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def is_timed(self) -> bool:
        """Whether items are of the time that they say; once there is a deployment, that stays."""
        if self._basis is None:
            manifest = await asyncio.to_thread(lambda: self.deployment.manifest)
            self._basis = None if manifest is None else manifest.basis
        return self._basis == "event"

    def is_ready(self) -> bool:
        """Return whether `check_ready` finds nothing missing."""
        try:
            self.check_ready()
        except (NoDeployment, LogUnavailable):
            return False
        return True

    def check_ready(self) -> Manifest:
        """Return what the deployment has committed last; raise `NoDeployment`, which says what is
        missing, unless it runs and its last batches succeeded."""
        manifest = self.check_known()
        missing = standstill(self.log, manifest, now())
        if missing is not None:
            raise NoDeployment(missing)
        return manifest

    def check_known(self) -> Manifest:
        """Return what the deployment has committed last, whether it runs now or not; raise
        `NoDeployment` where there is none whose state can be read."""
        manifest = self.deployment.manifest
        if manifest is None:
            raise NoDeployment("no deployment works on this log yet: start one with `shortlist up`")
        if self.deployment.files is None:
            raise NoDeployment("expected a deployment whose state can be read here, found none")
        return manifest

    def opening(self, caller: Holder, shortlist: str) -> Opening:
        """The present opening of a live shortlist that the caller may see; fails for others."""
        live = self.registry.ask(lambda roster: check_shortlist(caller, roster, shortlist))
        return self.openings.present(self.deployment, live)

    def of_opening(
        self, caller: Holder, shortlist: str, answer: Callable[[Opening], Answer]
    ) -> Answer:
        """An answer about the present opening of a shortlist, which must not end meanwhile: what
        was found may be the next owner's then."""
        opening = self.opening(caller, shortlist)
        found = answer(opening)
        if self.openings.settled(self.deployment, shortlist).position != opening.position:
            raise Refused(409, f"the shortlist {shown(shortlist)} was closed meanwhile")
        return found

    async def run_in_turn(self, caller: Holder, work: Callable[[Check], Answer]) -> Answer:
        """Run long work beside the other requests, in rounds over the callers."""
        return await self._turns.run(caller.name, self.options.patience, work)

    async def carry_out(self, orders: Sequence[Order]) -> list[Verdict]:
        """Sends orders, and says what became of them once the deployment has come to them."""
        # as late as possible: meanwhile time goes on in the deployment, too
        done = await asyncio.to_thread(lambda: sent(self.log, orders, now()))
        manifest = await passed(self.deployment, done.awaited, self.options.patience)
        return await asyncio.to_thread(done.verdicts, self.log, manifest)


def service_of(connection: HTTPConnection) -> Service:
    return cast(Service, connection.app.state.service)


# what is no coroutine would be run in a thread, for every request
async def service_here(connection: HTTPConnection) -> Service:
    return service_of(connection)


async def holder_of(connection: HTTPConnection) -> Holder:
    return service_of(connection).access.holder(connection)


Here = Annotated[Service, Depends(service_here)]
Caller = Annotated[Holder, Depends(holder_of)]


async def read_object(request: Request) -> dict[str, Any]:
    """The JSON object that a request brings."""
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json":
        raise Refused(415, f"expected application/json, found {media or 'no content type'}")
    try:
        found = parse_json(await request.body(), service_of(request).options.limits)
    except BadItem as error:
        raise Refused(400, str(error)) from None
    if not isinstance(found, dict):
        raise Refused(422, f"expected a JSON object, found {shown(found)}")
    return found


Body = Annotated[dict[str, Any], Depends(read_object)]


After = Annotated[int, Query(ge=0, lt=2**63, description="Behind this offset.")]
Most = Annotated[int, Query(ge=1, le=1000)]
Text = Annotated[str, Query(min_length=1, max_length=1000)]


def read_page(
    log: Log, stream: str, key: str, after: int, limit: int
) -> tuple[list[Entry], int | None]:
    """Entries of a key behind an offset, and where the following page begins, if there may be
    one."""
    entries = [*islice(log.read(stream, after, key=key), limit)]
    return entries, entries[-1].offset if len(entries) == limit else None


def body_schema(description: str) -> dict[str, Any]:
    """What the OpenAPI document says of such a body."""
    content = {"application/json": {"schema": {"type": "object"}}}
    return {"requestBody": {"required": True, "description": description, "content": content}}


def parsed(line: bytes) -> Any:
    return json.loads(line.decode("utf-8-sig"))
