"""Routes for publishers: CloudEvents in, acknowledged once they are durable."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, cast
from urllib.parse import unquote

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from shortlist.client.commands import Order
from shortlist.client.deployment import passed
from shortlist.client.fates import Ends, awaited, became
from shortlist.client.keys import Holder
from shortlist.client.sending import MOST_LINES
from shortlist.intake.lines import BadItem, parse_json
from shortlist.log.base import INPUT, Entry
from shortlist.model.problem import Problem
from shortlist.model.settings import Limits
from shortlist.model.wording import shown
from shortlist.service.access import check_publisher, check_role
from shortlist.service.problems import Refused
from shortlist.service.state import Caller, Here, Text, parsed, service_of

SINGLE = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"
PLAIN = "application/json"
PREFIX = "ce-"
NUMBERS = ("audience",)
"""Extensions that are numbers, which headers cannot tell from text."""


def documents_of(headers: Mapping[str, str], body: bytes, limits: Limits) -> list[Any]:
    """The events of a request, in order.

    >>> documents_of({"content-type": SINGLE}, b'{"id": "f1", "source": "ads"}', Limits())
    [{'id': 'f1', 'source': 'ads'}]
    >>> binary = {"content-type": "application/json", "ce-id": "f%C3%A9", "ce-source": "ads"}
    >>> documents_of(binary, b'{"rent": 900}', Limits())
    [{'id': 'fé', 'source': 'ads', 'data': {'rent': 900}}]
    """
    media = headers.get("content-type", "").partition(";")[0].strip().lower()
    if f"{PREFIX}id" in headers:
        if media not in (PLAIN, "") and not media.endswith("+json"):
            raise Refused(415, f"expected data that is {PLAIN}, found {media}")
        return [_binary(headers, body, limits)]
    if media not in (SINGLE, BATCH, PLAIN):
        expected = f"expected {SINGLE}, {BATCH}, {PLAIN} or headers such as {PREFIX}id"
        raise Refused(415, f"{expected}, found {media or 'no content type'}")
    found = _parsed(body, limits)
    if media == SINGLE or (media == PLAIN and not isinstance(found, list)):
        return [found]
    if not isinstance(found, list):
        raise Refused(400, "expected a list of events, found another value")
    if len(found) > MOST_LINES:
        raise Refused(413, f"expected at most {MOST_LINES} events, found {len(found)}")
    if not found:
        raise Refused(400, "expected at least one event, found none")
    return found


def _binary(headers: Mapping[str, str], body: bytes, limits: Limits) -> dict[str, Any]:
    document: dict[str, Any] = {
        name.removeprefix(PREFIX): unquote(value)
        for name, value in headers.items()
        if name.startswith(PREFIX)
    }
    for name in NUMBERS:
        if document.get(name, "").isdecimal():
            document[name] = int(document[name])
    if body.strip():
        document["data"] = _parsed(body, limits)
    return document


def _parsed(body: bytes, limits: Limits) -> object:
    try:
        return parse_json(body, limits)
    except BadItem as error:
        raise Refused(400, str(error)) from None


router = APIRouter(tags=["publishers"])

EVENT = {"type": "object", "required": ["id", "source"]}
BODIES = {
    "requestBody": {
        "required": True,
        "description": "One CloudEvent, or a list of at most 1,000; or only the data of one, with"
        " its context in headers such as ce-id.",
        "content": {
            SINGLE: {"schema": EVENT},
            BATCH: {"schema": {"type": "array", "items": EVENT}},
            "application/json": {"schema": {}},
        },
    }
}


Offset = Annotated[int, Query(ge=1, lt=2**62, description="Of the log's input.")]


@router.post("/events", status_code=202, openapi_extra=BODIES)
async def publish(request: Request) -> JSONResponse:
    """Publish CloudEvents: single or in a batch, structured or binary.

    202 says that they are durable. To publish again is harmless: the deployment knows an event by
    its source and id, and takes it once.
    """
    service = service_of(request)
    caller = service.access.holder(request)
    limits = service.options.limits
    documents = documents_of(request.headers, await request.body(), limits)
    is_timed = await service.is_timed()
    problems = []
    for number, document in enumerate(documents):
        says_time = isinstance(document, dict) and document.get("time") is not None
        # those that need a time and have none get one when they are written
        time = None if is_timed and says_time else 0
        try:
            service.publications.document(document, position=0, time=time)
        except BadItem as error:
            problems.append(Problem(id=f"event #{number + 1}", message=str(error)))
    if problems:
        raise Refused(422, "; ".join(map(str, problems)), problems)
    for document in documents:
        check_publisher(caller, document["source"])
    offsets = await service.appender.append(documents, stamps=is_timed)
    service.measures.acknowledged.inc(len(offsets))
    receipt = {"acknowledged": len(offsets), "first": offsets[0], "last": offsets[-1]}
    return JSONResponse(receipt, 202)


PUBLISH = cast(APIRoute, router.routes[-1])
"""The route that is called most often."""


@router.delete("/events")
async def retract(
    service: Here,
    caller: Caller,
    source: Text,
    id: Text,
) -> dict[str, Any]:
    """Take a publication back: it leaves all shortlists that hold it."""
    check_publisher(caller, source)
    order = Order(f"retract {shown(id)}", "retract", {"source": source, "id": id})
    (verdict,) = await service.carry_out([order])
    if verdict.rejected is not None:
        raise Refused(409, verdict.rejected, offset=verdict.offset)
    return verdict.document()


@router.get("/events/fates")
async def fates(
    service: Here,
    caller: Caller,
    first: Offset,
    last: Offset,
    wait: Annotated[float, Query(ge=0, le=30, description="Seconds until it has to be known.")] = 0,
) -> dict[str, Any]:
    """What became of the publications that were acknowledged at these offsets, 1,000 at most: why
    they were rejected, or how often they were delivered so far. 504 if that is not known yet."""
    check_role(caller, "publisher")
    if not first <= last < first + MOST_LINES:
        raise Refused(422, f"expected 1 to {MOST_LINES:,} offsets, found {first:,} to {last:,}")
    entries = await asyncio.to_thread(lambda: [*service.log.read(INPUT, first - 1, last)])
    if len(entries) < last + 1 - first:
        raise Refused(404, f"the input ends before {last:,}")
    published = {entry.offset: _published(caller, entry) for entry in entries}
    patience = min(wait, service.options.patience)
    manifest = await passed(service.deployment, awaited(published), patience)

    def found() -> list[dict[str, Any]]:
        before = Ends.at(service.log, entries[0].appended)
        return became(service.log, manifest, published, before)

    return {"items": await asyncio.to_thread(found)}


def _published(caller: Holder, entry: Entry) -> dict[str, Any]:
    """The publication that an entry is, if somebody may ask about it."""
    document = parsed(entry.content)
    if not isinstance(document, dict) or document.get("id") is None:
        raise Refused(404, f"there is no publication at {entry.offset:,}")
    check_publisher(caller, document.get("source"))
    return document
