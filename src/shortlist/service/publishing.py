"""Routes for publishers: events in, acknowledged once they are durable."""

import asyncio
from typing import Annotated, Any, cast

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from shortlist.client.commands import Order
from shortlist.client.deployment import passed
from shortlist.client.fates import Ends, awaited, became
from shortlist.client.keys import Holder
from shortlist.client.sending import MOST_LINES
from shortlist.intake.lines import BadItem
from shortlist.log.base import INPUT, Entry
from shortlist.model.problem import Problem
from shortlist.model.wording import shown
from shortlist.service.access import check_publisher, check_role
from shortlist.service.cloudevents import BATCH, SINGLE, documents_of
from shortlist.service.problems import Refused
from shortlist.service.state import Caller, Here, Text, parsed, service_of

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
