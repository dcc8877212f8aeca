"""Routes for what comes to a shortlist while somebody listens: as events and by WebSocket."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Annotated, Any, NamedTuple, cast

from fastapi import APIRouter, Header, Query, WebSocket, WebSocketDisconnect
from fastapi.responses import StreamingResponse

from shortlist.client.following import Place
from shortlist.client.keys import Holder
from shortlist.client.openings import Opening
from shortlist.log.base import DELIVERIES, LogUnavailable
from shortlist.service.access import TICKET_SECONDS, check_role
from shortlist.service.listening import CLOSED, Listener
from shortlist.service.problems import Refused
from shortlist.service.registering import Name
from shortlist.service.sockets import STOPPED, UNASKED, UNAVAILABLE
from shortlist.service.state import Caller, Here, Service
from shortlist.service.tail import max_of

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
    _, told = await _opened(service, caller, name, last_event_id or after)
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
    listener, told = await _opened(service, caller, name, last_event_id or after)
    await websocket.accept()
    sending = asyncio.create_task(_send(websocket, told))
    hearing = asyncio.create_task(_hear(websocket))
    await asyncio.wait((sending, hearing), return_when=asyncio.FIRST_COMPLETED)
    for task in (sending, hearing):
        task.cancel()
    sent, heard = await asyncio.gather(sending, hearing, return_exceptions=True)
    await told.aclose()
    ending = _ending(listener, sent, heard)
    if ending is not None:
        with suppress(WebSocketDisconnect):
            await websocket.close(*ending)


def _ending(listener: Listener, sent: object, heard: object) -> tuple[int, str] | None:
    """Return the code and reason of a close; None if the other end is gone."""
    if heard is True:
        return UNASKED, "expected no message, found one"
    if isinstance(sent, LogUnavailable):
        return UNAVAILABLE, "the log cannot be reached"
    if sent is not None:
        return None
    return listener.ending or (STOPPED, "the service stops")


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
) -> tuple[Listener, AsyncGenerator[Told]]:
    """A stream, for a caller that may have it; the first event tells where it begins."""
    opening = await asyncio.to_thread(service.opening, caller, shortlist)
    place = max_of(_start(service, after), opening.after)
    told = _told(service, caller, shortlist, opening, place)
    # it counts from here on, also if its connection breaks before anything is sent
    listener = await anext(told)
    assert isinstance(listener, Listener)
    return listener, cast(AsyncGenerator[Told], told)


def _start(service: Service, text: str | None) -> Place:
    """The place that a stream is asked to begin at; without one, now."""
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
    service: Service, caller: Holder, shortlist: str, opening: Opening, place: Place
) -> AsyncGenerator[Listener | Told]:
    """The listener, then its events, until the service, the caller's key or the opening ends."""
    told = service.measures.told
    with service.listeners.opened(caller, shortlist, opening) as listener:
        yield listener
        yield Told(place, "ready", f'{{"after": "{place}"}}')
        feed = service.tail.follow(
            shortlist, place, service.options.heartbeat, lambda: listener.ending is None
        )
        async for after, news in feed:
            if news is None:
                yield Told(after, None, "null")
                continue
            is_delivery = news.stream == DELIVERIES
            # the first delivery to the next owner may come before it is known that there is one
            if listener.ending is not None or (
                is_delivery and news.document["subscriber"] != opening.subscriber
            ):
                listener.ending = listener.ending or CLOSED
                return
            told.inc()
            yield Told(after, "delivery" if is_delivery else "departure", news.line)
