"""Routes for publishers: events in, acknowledged once they are durable."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from shortlist.client.commands import Order
from shortlist.intake.lines import BadItem, ItemReader
from shortlist.model.problem import Problem
from shortlist.model.vocabulary import Vocabulary
from shortlist.model.wording import shown
from shortlist.service.access import check_publisher
from shortlist.service.cloudevents import BATCH, SINGLE, documents_of
from shortlist.service.problems import Refused
from shortlist.service.state import Caller, Here

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


@router.post("/events", status_code=202, openapi_extra=BODIES)
async def publish(request: Request, service: Here, caller: Caller) -> dict[str, Any]:
    """Publish CloudEvents: single or in a batch, structured or binary.

    202 says that they are durable. To publish again is harmless: the deployment knows an event by
    its source and id, and takes it once.
    """
    limits = service.options.limits
    documents = documents_of(request.headers, await request.body(), limits)
    is_timed = await asyncio.to_thread(service.is_timed)
    reader = ItemReader(Vocabulary(), limits, commands=False)
    problems = []
    for number, document in enumerate(documents):
        says_time = isinstance(document, dict) and document.get("time") is not None
        try:
            # those that need a time and have none get one when they are written
            reader.document(document, position=0, time=None if is_timed and says_time else 0)
        except BadItem as error:
            problems.append(Problem(id=f"event #{number + 1}", message=str(error)))
    if problems:
        raise Refused(422, "; ".join(map(str, problems)), problems)
    for document in documents:
        check_publisher(caller, document["source"])
    offsets = await service.appender.append(documents, stamps=is_timed)
    service.measures.acknowledged.inc(len(offsets))
    return {"acknowledged": len(offsets), "first": offsets[0], "last": offsets[-1]}


@router.delete("/events")
async def retract(
    service: Here,
    caller: Caller,
    source: Annotated[str, Query(min_length=1, max_length=1000)],
    id: Annotated[str, Query(min_length=1, max_length=1000)],
) -> dict[str, Any]:
    """Take a publication back: it leaves all shortlists that hold it."""
    check_publisher(caller, source)
    order = Order(f"retract {shown(id)}", "retract", {"source": source, "id": id})
    sent = await asyncio.to_thread(service.send, [order])
    (verdict,) = await service.verdicts([order], sent)
    if verdict.rejected is not None:
        raise Refused(409, verdict.rejected, offset=verdict.offset)
    return verdict.document()
