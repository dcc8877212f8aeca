"""Routes for what comes to a shortlist while somebody listens: as events and by WebSocket."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Header, Query, WebSocket, WebSocketDisconnect
from fastapi.responses import StreamingResponse

from shortlist.client.following import Place
from shortlist.client.keys import Holder
from shortlist.log.base import DELIVERIES, LogUnavailable
from shortlist.service.access import TICKET_SECONDS, check_role
from shortlist.service.problems import Refused
from shortlist.service.registering import Name
from shortlist.service.sockets import FORBIDDEN, STOPPED, UNASKED, UNAVAILABLE
from shortlist.service.state import Caller, Here, Service

router = APIRouter(tags=["subscribers"])
After = Annotated[str | None, Query(description="Behind this place, such as 12.7.")]
LastEvent = Annotated[str | None, Header(alias="last-event-id")]
Ticket = Annotated[str | None, Query(description="In place of a key.")]


class Told(NamedTuple):
    """One event of a stream; without a kind nothing came for a while."""

    place: Place
    kind: str | None
    line: str
    """JSON."""

    def as_text(self) -> bytes:
        """As server-sent events have it."""
        if self.kind is None:
            return b": nothing came\n\n"
        return f"id: {self.place}\nevent: {self.kind}\ndata: {self.line}\n\n".encode()

    def as_message(self) -> str:
        """
        >>> Told(Place(2, 0), "delivery", '{"rank": 1}').as_message()
        '{"id": "2.0", "event": "delivery", "data": {"rank": 1}}'
        """
        return f'{{"id": "{self.place}", "event": "{self.kind or "silence"}", "data": {self.line}}}'


@router.get(
    "/shortlists/{name:path}/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def events(
    name: Name,
    service: Here,
    caller: Caller,
    after: After = None,
    last_event_id: LastEvent = None,
    ticket: Ticket = None,
) -> StreamingResponse:
    """What comes to a shortlist and what leaves it, as server-sent events.

    The id of an event is its place; whoever comes again with it as `Last-Event-ID` misses nothing.
    Without a place, it begins now.
    """
    told = await _opened(service, caller, name, last_event_id or after)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    texts = (each.as_text() async for each in told)
    return StreamingResponse(texts, headers=headers, media_type="text/event-stream")


@router.websocket("/shortlists/{name:path}/socket")
async def socket(
    websocket: WebSocket,
    name: Name,
    service: Here,
    caller: Caller,
    after: After = None,
    last_event_id: LastEvent = None,
) -> None:
    """The same events as messages, each with its id, for whoever prefers WebSockets."""
    told = await _opened(service, caller, name, last_event_id or after)
    await websocket.accept()
    sending = asyncio.create_task(_send(websocket, told))
    hearing = asyncio.create_task(_hear(websocket))
    await asyncio.wait((sending, hearing), return_when=asyncio.FIRST_COMPLETED)
    for task in (sending, hearing):
        task.cancel()
    sent, heard = await asyncio.gather(sending, hearing, return_exceptions=True)
    await told.aclose()
    ending = _ending(service, caller, sent, heard)
    if ending is not None:
        with suppress(WebSocketDisconnect):
            await websocket.close(*ending)


def _ending(
    service: Service, caller: Holder, sent: object, heard: object
) -> tuple[int, str] | None:
    """What a connection is closed with, if somebody is there to learn it."""
    if heard is True:
        return UNASKED, "expected no message, found one"
    if isinstance(sent, LogUnavailable):
        return UNAVAILABLE, "the log cannot be reached"
    if sent is not None:
        return None
    if service.access.is_still(caller):
        return STOPPED, "the service stops"
    return FORBIDDEN, "the key is not known any more"


async def _send(websocket: WebSocket, told: AsyncIterator[Told]) -> None:
    async for each in told:
        await websocket.send_text(each.as_message())


async def _hear(websocket: WebSocket) -> bool:
    """Whether somebody says something; False once they are gone."""
    message = await websocket.receive()
    return bool(message["type"] == "websocket.receive")


@router.post("/tickets")
def ticket(service: Here, caller: Caller) -> dict[str, Any]:
    """A ticket for whoever cannot send a key, such as a browser's `EventSource` or `WebSocket`: for
    a minute `?ticket=` lets it in to the events that the key could see."""
    check_role(caller, "subscriber")
    made = service.access.tickets.ticket(caller.name, time.time())
    return {"ticket": made, "seconds": TICKET_SECONDS}


async def _opened(
    service: Service, caller: Holder, shortlist: str, after: str | None
) -> AsyncGenerator[Told]:
    """A stream, for somebody who may have it; the first event tells where it begins."""
    await asyncio.to_thread(service.check_seen, caller, shortlist)
    place = _start(service, after)
    if service.streams >= service.options.most_streams:
        raise Refused(503, f"expected at most {service.options.most_streams} streams, found more")
    return _told(service, caller, shortlist, place)


def _start(service: Service, text: str | None) -> Place:
    """Where a stream begins."""
    end = service.tail.end
    if text is None:
        return end
    try:
        place = Place.of_text(text)
    except ValueError as error:
        raise Refused(400, str(error)) from None
    if place.departures is None:
        place = place._replace(departures=end.departures)
    latest = service.log.end(DELIVERIES)
    if place.deliveries > latest:
        raise Refused(409, f"expected a place up to {latest}, found {place}: is it of another log?")
    return place


async def _told(
    service: Service, caller: Holder, shortlist: str, place: Place
) -> AsyncGenerator[Told]:
    """Until the service stops, or the caller's key is not known any more."""
    told = service.measures.told
    service.streams += 1
    try:
        yield Told(place, "ready", f'{{"after": "{place}"}}')
        async for after, news in service.tail.follow(shortlist, place, service.options.heartbeat):
            if news is None:
                if not service.access.is_still(caller):
                    return
                yield Told(after, None, "null")
                continue
            told.inc()
            kind = "delivery" if news.stream == DELIVERIES else "departure"
            yield Told(after, kind, news.line)
    finally:
        service.streams -= 1
